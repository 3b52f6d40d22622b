import canonicalize from 'canonicalize';
import type { Json, JsonObject } from './json.ts';
import { without } from './json.ts';
import type { CleanRule, Left, Projection } from './project.ts';
import { cleanCard } from './project.ts';
import { pythonJson } from './python-json.ts';
import { CARD_0_3 } from './schema/a2a-0.3.ts';
import { CARD_1_0 } from './schema/a2a-1.0.ts';
import { servedCard } from './served.ts';
import type { CardVersion } from './version.ts';

/**
 * The rules by which cards are signed. The specification contradicts itself (A2A 1.0 §8.4.1 keeps REQUIRED members at their default,
 * §8.4.2 and §8.4.3 remove them) and every SDK does it its own way, so one honest card may be signed under any of these.
 */
export const FORM_NAMES = ['a2a-1.0', 'jcs', 'a2a-1.0-known', 'sdk-js', 'sdk-python-1.0', 'sdk-python-0.3'] as const;
export type FormName = (typeof FORM_NAMES)[number];

/** A card in one form: the text that a signature is over, and what of the card is not in it. */
export interface CanonicalCard {
  readonly form: FormName;
  readonly text: string;
  readonly left: readonly Left[];
  /** The text is RFC 8785 of all but `signatures`: what the card's digest is over. */
  readonly isPlain: boolean;
}

/** Writes a card, given without its `signatures`. */
type Form = (unsigned: JsonObject) => Omit<CanonicalCard, 'form'>;

/** RFC 8785. */
const jcs = (value: Json): string => canonicalize(value) ?? '';

const written = (projection: Projection, write: (value: Json) => string): Omit<CanonicalCard, 'form'> => ({
  text: write(projection.payload),
  left: projection.left,
  isPlain: false,
});

const plain = (unsigned: JsonObject): Omit<CanonicalCard, 'form'> => ({ text: jcs(unsigned), left: [], isPlain: true });

/** Most cards are signed as they are served: then the projection is the very object. */
function served(unsigned: JsonObject): Omit<CanonicalCard, 'form'> {
  const projection = servedCard(unsigned, 'kept');
  return projection.payload === unsigned ? plain(unsigned) : written(projection, jcs);
}

const SDK_1_0: CleanRule = { table: CARD_1_0, schemes: 'wrapped', falsehood: 'left-out' };
/** The JavaScript server signs its inner form, and its own reader finds no scheme in that: every scheme is outside the signature. */
const SDK_JS_SERVER: CleanRule = { ...SDK_1_0, schemes: 'lost' };
const SDK_0_3: CleanRule = { table: CARD_0_3, schemes: 'typed', falsehood: 'kept' };

/** Each form, as the variants that signers of its name come in, most covering first. */
const FORMS: Readonly<Record<FormName, readonly [Form, ...Form[]]>> = {
  /** The specification's form over the served JSON, unknown members kept. */
  'a2a-1.0': [served],
  /** The served JSON as it is, without `signatures`: the Go SDK's rule. */
  jcs: [plain],
  /** The specification's form without what it does not know. */
  'a2a-1.0-known': [(card) => written(servedCard(card, 'left-out'), jcs)],
  /** The JavaScript SDK, and the Python SDK from 1.2. */
  'sdk-js': [(card) => written(cleanCard(card, SDK_1_0), jcs), (card) => written(cleanCard(card, SDK_JS_SERVER), jcs)],
  /** The Python SDK 1.0 to 1.1: the same members, ASCII. */
  'sdk-python-1.0': [(card) => written(cleanCard(card, SDK_1_0), (value) => pythonJson(value, 'doubles'))],
  /** The Python SDK 0.3: its model without the model's defaults. */
  'sdk-python-0.3': [(card) => written(cleanCard(card, SDK_0_3), (value) => pythonJson(value, 'integers'))],
};

/** Gives a card in one form. Never throws on what the scanner accepts. */
export const canonicalCard = (card: JsonObject, form: FormName): CanonicalCard => ({
  form,
  ...FORMS[form][0](without(card, 'signatures')),
});

/**
 * Gives the forms that a card of this version may be signed under, from the one that covers most to the one that covers least. A form
 * whose text equals an earlier one's is left out: a signature over the text holds under the earlier name. Each is made when it is
 * asked for: most cards are signed under the first.
 */
export function* canonicalForms(card: JsonObject, version: CardVersion): Generator<CanonicalCard, void, undefined> {
  const unsigned = without(card, 'signatures');
  const seen: string[] = [];
  for (const form of formOrder(version))
    for (const variant of FORMS[form]) {
      const canonical = { form, ...variant(unsigned) };
      if (seen.includes(canonical.text)) continue;
      seen.push(canonical.text);
      yield canonical;
    }
}

/** The 1.0 forms know nothing of a 0.x card's own members, so the plain form names it better. */
const formOrder = (version: CardVersion): readonly FormName[] =>
  version === '1.0' ? FORM_NAMES : ['jcs', ...FORM_NAMES.filter((form) => form !== 'jcs')];
