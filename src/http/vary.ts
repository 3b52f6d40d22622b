import type { Entry } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import { type VariantKey, variantKey as variantKeyOf } from '../kernel/ids.ts';
import { type FieldReader, fieldLines } from './fields.ts';
import { mostRecent } from './freshness.ts';
import { cutList } from './lists.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const STAR: readonly string[] = ['*'];
const NOTHING: readonly string[] = [];

/** Lists the request fields that `Vary` names: lower-case, sorted, unique; `*` alone where it stands anywhere or a name is none. */
export function varyNames(fields: Fields): readonly string[] {
  const lines = fieldLines(fields, 'vary');
  if (lines.length === 0) return NOTHING;
  const names = lines.flatMap((line) => line.toLowerCase().split(',')).map((name) => name.trim());
  const unique = [...new Set(names.filter((name) => name !== ''))].toSorted();
  // What cannot be read may vary on anything.
  return unique.every((name) => name !== '*' && TOKEN.test(name)) ? unique : STAR;
}

/** The secondary key of a request (RFC 9111 §4.1): equal exactly where every selecting field is, in canonical form. */
export function variantKey(vary: readonly string[], reader: FieldReader): VariantKey {
  if (vary.length === 0) return NO_VARIANT;
  // JSON delimits itself and a field name holds no quote, so no two selections run into one another.
  return variantKeyOf(vary.map((name) => `${name}=${JSON.stringify(canonical(name, reader(name)) ?? null)}`).join(','));
}

const NO_VARIANT = variantKeyOf('');

/**
 * Picks the stored response that a request selects: the most recent by Date of those that match; `*` never does. "When a cache has
 * multiple stored responses for a target URI and one or more omits the Vary header field, the cache SHOULD choose the most recent
 * stored response with a valid Vary field value" — RFC 9111 §4.1: one that says nothing must not stand in for all variants.
 */
export function selectVariant(entries: readonly Entry[], reader: FieldReader): Entry | undefined {
  const [only] = entries;
  // Most origins vary on nothing: there is one response, and nothing to choose.
  if (entries.length === 1 && only?.vary.length === 0) return only.variant === NO_VARIANT ? only : undefined;
  const varying = entries.filter((entry) => entry.vary.length > 0);
  const candidates = varying.length > 0 ? varying : entries;
  return mostRecent(
    candidates.filter((entry) => entry.vary[0] !== '*' && entry.variant === variantKey(entry.vary, reader)),
  );
}

/** Fields whose value is no list: a comma in it is text. */
const OPAQUE: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'from',
  'host',
  'proxy-authorization',
  'referer',
  'user-agent',
]);
/** RFC 9110 §12.5: preferences weighed by `q` alone, so their order says nothing. */
const ORDER_FREE: ReadonlySet<string> = new Set(['accept', 'accept-charset', 'accept-encoding', 'accept-language']);
/** Of these the members are compared without regard to case (RFC 9110 §8.3.2, §8.4.1, §8.5.1). */
const CASE_FREE: ReadonlySet<string> = new Set(['accept-charset', 'accept-encoding', 'accept-language']);

/** Normalises only where the field's definition says that the meaning stays (RFC 9111 §4.1). */
function canonical(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const trimmed = value.trim();
  const { members, unclosed } = cutList(trimmed);
  if (OPAQUE.has(name) || unclosed !== null) return trimmed;
  if (!ORDER_FREE.has(name)) return members.join(',');
  const weighed = members.map((member) => canonicalWeight(CASE_FREE.has(name) ? member.toLowerCase() : member));
  return weighed.toSorted().join(',');
}

/** `; q=1.0` is the same as nothing, `;q=0.50` as `;q=0.5`; spaces around the semicolon are optional (RFC 9110 §12.4.2). */
function canonicalWeight(member: string): string {
  const found = /^([^";]*?)[ \t]*;[ \t]*[qQ]=([01](?:\.\d{0,3})?)$/.exec(member);
  if (found === null) return member;
  const weight = Number(found[2]);
  return weight === 1 ? (found[1] ?? '') : `${found[1]};q=${weight}`;
}
