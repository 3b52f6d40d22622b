import type { CanonicalCard, FormName } from './canonical.ts';
import { canonicalCard, FORM_NAMES } from './canonical.ts';
import type { JsonObject } from './json.ts';

/** How one form stands to the form that a signature is over. */
export interface FormComparison {
  readonly form: FormName;
  /** True where the signature holds over this form. */
  readonly holds: boolean;
  /** Length of the payload in bytes. */
  readonly bytes: number;
  /** Where the payload first differs from the signed one, as a byte offset, and what stands there in each. */
  readonly differs?: { readonly at: number; readonly here: string; readonly signed: string };
}

/** Characters of context on either side of the first difference: enough to see the member's name. */
const CONTEXT = 24;

/** Says for every form whether the signature holds over it and, where another form was signed, from which byte on they differ. */
export function compareForms(card: JsonObject, signed: CanonicalCard | undefined): readonly FormComparison[] {
  return FORM_NAMES.map((form) => compareForm(canonicalCard(card, form), signed));
}

function compareForm(canonical: CanonicalCard, signed: CanonicalCard | undefined): FormComparison {
  const { form, text } = canonical;
  const base = { form, holds: text === signed?.text, bytes: byteLength(text) };
  if (signed === undefined || base.holds) return base;
  const at = firstDifference(text, signed.text);
  const around = (one: string): string => one.slice(Math.max(0, at - CONTEXT), at + CONTEXT);
  return { ...base, differs: { at: byteLength(text.slice(0, at)), here: around(text), signed: around(signed.text) } };
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  return at;
}

const byteLength = (text: string): number => new TextEncoder().encode(text).byteLength;
