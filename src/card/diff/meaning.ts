import canonicalize from 'canonicalize';
import type { Json, JsonObject } from '../json.ts';
import { isArray, isObject, objectOf, own } from '../json.ts';
import { readRequirement } from '../schema/requirements.ts';
import { SCHEME_1_0 } from '../schema/a2a-1.0.ts';
import type { Kind, Message } from '../schema/table.ts';

/**
 * Gives what of a value carries meaning: empty members count as absent (ProtoJSON leaves them out or in), and lists whose order says
 * nothing are sorted, each item once. Undefined for what is empty. Two cards are equal where their meanings are.
 */
export function meaningOf(value: Json | undefined, kind: Kind): Json | undefined {
  if (value === undefined || value === null) return undefined;
  switch (kind.is) {
    case 'string':
      return value === '' ? undefined : value;
    case 'boolean':
      return value === false ? undefined : value;
    case 'strings':
      return isArray(value) ? listOrNothing(distinct(value)) : value;
    case 'struct':
    case 'texts':
      return isObject(value) && Object.keys(value).length === 0 ? undefined : value;
    case 'message':
      return isObject(value) ? objectOrNothing(messageMeaning(value, kind.of)) : value;
    case 'list':
      return isArray(value) ? listOrNothing(listMeaning(value, kind.of)) : value;
    case 'schemes':
      return isObject(value) ? objectOrNothing(schemesMeaning(value)) : value;
    case 'requirements':
      return isArray(value) ? listOrNothing(distinct(value.map(requirementMeaning))) : value;
  }
}

/** Writes a value in the one way in which equal values are equal texts (RFC 8785). */
export const textOf = (value: Json | undefined): string => (value === undefined ? '' : (canonicalize(value) ?? ''));

/** Tells whether two values of one kind mean the same. */
export const sameMeaning = (one: Json | undefined, other: Json | undefined, kind: Kind): boolean =>
  textOf(meaningOf(one, kind)) === textOf(meaningOf(other, kind));

const listOrNothing = (list: readonly Json[]): Json | undefined => (list.length === 0 ? undefined : list);
const objectOrNothing = (object: JsonObject): Json | undefined =>
  Object.keys(object).length === 0 ? undefined : object;

function messageMeaning(object: JsonObject, of: Message): JsonObject {
  const read = of.members.map((member): [string, Json | undefined] => {
    const value = own(object, member.name);
    const meaning = meaningOf(value, member.kind);
    // Which member of a oneof is set says what the object is, though there be nothing in it.
    const isChosen = of.oneOf !== undefined && value !== undefined && value !== null;
    return [member.name, meaning ?? (isChosen ? {} : undefined)];
  });
  const known = new Set(of.members.map(({ name }) => name));
  const unknown = Object.entries(object).filter(([name, value]) => !known.has(name) && value !== null);
  return objectOf([...read, ...unknown]);
}

function listMeaning(items: readonly Json[], of: Message): readonly Json[] {
  const meanings = items.map((item) => (isObject(item) ? messageMeaning(item, of) : item));
  return of.key === undefined ? meanings : sorted(meanings);
}

const schemesMeaning = (schemes: JsonObject): JsonObject =>
  objectOf(
    Object.entries(schemes).map(([name, one]) => [
      name,
      isObject(one) ? messageMeaning(one, SCHEME_1_0) : (one ?? undefined),
    ]),
  );

function requirementMeaning(one: Json): Json {
  const requirement = readRequirement(one);
  if (requirement === undefined) return one;
  return objectOf([...requirement.schemes].map(([name, scopes]) => [name, distinct(scopes)]));
}

const distinct = (items: readonly Json[]): readonly Json[] =>
  sorted([...new Map(items.map((item) => [textOf(item), item])).values()]);

const sorted = (items: readonly Json[]): readonly Json[] =>
  items
    .map((item) => [textOf(item), item] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0))
    .map(([, item]) => item);
