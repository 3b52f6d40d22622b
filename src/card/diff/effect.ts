import type { Json, JsonObject } from '../json.ts';
import { isArray, isObject, own } from '../json.ts';
import { readRequirement } from '../schema/requirements.ts';
import type { Effect } from './change.ts';
import { textOf } from './meaning.ts';

/** Widening and narrowing: whether a change opens, offers or asks for more than before. Null where it does neither, or both. */

/** Compares two collections as sets. */
export function setEffect(before: Iterable<string>, after: Iterable<string>): Effect | null {
  const [one, other] = [new Set(before), new Set(after)];
  const gains = [...other].some((item) => !one.has(item));
  const losses = [...one].some((item) => !other.has(item));
  if (gains === losses) return null;
  return gains ? 'widens' : 'narrows';
}

/** Media types, scopes, tags: more of them is wider. */
export const listEffect = (before: Json | undefined, after: Json | undefined): Effect | null =>
  setEffect(items(before).map(textOf), items(after).map(textOf));

/** Scopes with their descriptions: the names count. */
export const namesEffect = (before: Json | undefined, after: Json | undefined): Effect | null =>
  setEffect(names(before), names(after));

/** Something that may be on: on is wider, unless what it turns on is a demand. */
export function switchEffect(name: string, after: Json | undefined): Effect {
  const isOn = after === true;
  return isOn === DEMANDS.has(name) ? 'narrows' : 'widens';
}

/** Members by which the agent demands something of its callers. */
const DEMANDS: ReadonlySet<string> = new Set(['pkceRequired', 'required']);

/** Alternatives of what a caller must show: another way in, one that asks for less, or a scope more is wider. */
export function requirementsEffect(before: Json | undefined, after: Json | undefined): Effect | null {
  const [old, now] = [alternatives(before), alternatives(after)];
  const [wasOpen, isOpen] = [admitsAnyone(old), admitsAnyone(now)];
  if (wasOpen !== isOpen) return isOpen ? 'widens' : 'narrows';
  const ways = setEffect(old.map(schemesIn), now.map(schemesIn));
  const scopes = setEffect(old.flatMap(scopesIn), now.flatMap(scopesIn));
  if (ways === null && old.length === now.length && old.every((one) => now.some(asksSame(one)))) return scopes;
  return ways ?? demandEffect(old, now);
}

type Alternative = ReadonlyMap<string, readonly string[]>;

const alternatives = (value: Json | undefined): readonly Alternative[] =>
  items(value).flatMap((one) => readRequirement(one)?.schemes ?? []);

/** No alternative, or one without a scheme: callers may be anonymous. */
const admitsAnyone = (list: readonly Alternative[]): boolean =>
  list.length === 0 || list.some(({ size }) => size === 0);

const schemesIn = (one: Alternative): string => textOf([...one.keys()].toSorted());
const scopesIn = (one: Alternative): readonly string[] =>
  [...one].flatMap(([scheme, scopes]) => scopes.map((scope) => textOf([scheme, scope])));

/** Where each alternative asks for part of what an old one asked for, a requirement was dropped; the other way round one was added. */
function demandEffect(old: readonly Alternative[], now: readonly Alternative[]): Effect | null {
  if (now.every((one) => old.some(asksAll(one)))) return 'widens';
  return old.every((one) => now.some(asksAll(one))) ? 'narrows' : null;
}

const asksSame =
  (one: Alternative) =>
  (other: Alternative): boolean =>
    schemesIn(one) === schemesIn(other);

/** Tells whether another alternative asks for all that this one asks for, and maybe more. */
const asksAll =
  (one: Alternative) =>
  (other: Alternative): boolean =>
    [...one.keys()].every((scheme) => other.has(scheme));

/**
 * Compares two values of one keyword of something like a JSON Schema: fewer demands on what is given are wider. Null for what is no
 * such keyword.
 */
export function schemaEffect(keyword: string, before: Json | undefined, after: Json | undefined): Effect | null {
  if (keyword === 'enum' || keyword === 'type')
    return before === undefined || after === undefined ? lossEffect(after) : setEffect(words(before), words(after));
  if (keyword === 'required') return opposite(setEffect(words(before), words(after)));
  if (keyword === 'additionalProperties') return before === false ? 'widens' : after === false ? 'narrows' : null;
  if (keyword === 'pattern' || keyword === 'format' || keyword === 'const')
    return before === undefined || after === undefined ? lossEffect(after) : null;
  const bound = /^(exclusive)?(max|min)(imum|Length|Items|Properties)$/.exec(keyword)?.[2];
  return bound === undefined ? null : boundEffect(bound === 'max', before, after);
}

const lossEffect = (after: Json | undefined): Effect => (after === undefined ? 'widens' : 'narrows');

function boundEffect(isCeiling: boolean, before: Json | undefined, after: Json | undefined): Effect | null {
  if (before === undefined || after === undefined) return lossEffect(after);
  if (typeof before !== 'number' || typeof after !== 'number') return null;
  return after > before === isCeiling ? 'widens' : 'narrows';
}

function opposite(effect: Effect | null): Effect | null {
  switch (effect) {
    case 'widens':
      return 'narrows';
    case 'narrows':
      return 'widens';
    case null:
      return null;
  }
}

const items = (value: Json | undefined): readonly Json[] => (isArray(value) ? value : []);
const words = (value: Json | undefined): readonly string[] =>
  value === undefined ? [] : (isArray(value) ? value : [value]).map(textOf);
const names = (value: Json | undefined): readonly string[] => (isObject(value) ? Object.keys(value) : []);

/** Tells whether a value looks like a JSON Schema, so that its keywords mean what they say. */
export const looksLikeSchema = (value: JsonObject): boolean =>
  ['type', 'properties', 'enum', '$ref', 'anyOf', 'oneOf', 'items'].some(
    (keyword) => own(value, keyword) !== undefined,
  );
