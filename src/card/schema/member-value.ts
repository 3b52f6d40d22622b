import type { Json, JsonObject } from '../json.ts';
import { isObject, objectOf, own, present } from '../json.ts';
import type { Member, Message } from './table.ts';
import { snakeName } from './table.ts';

/** A member as an object writes it. */
export interface Written {
  /** The name as it stands there. */
  readonly name: string;
  readonly value: Json;
}

/**
 * Finds a member by its JSON name, or by the protobuf name that every SDK reads too. Where both are set the JSON name counts, as in
 * the SDKs; `validate` refuses the two when they differ.
 */
export function writtenMember(object: JsonObject, member: Member): Written | undefined {
  const name = member.name;
  const value = present(object, name);
  if (value !== undefined) return { name, value };
  const other = own(object, member.snake);
  if (other !== undefined) return { name: member.snake, value: other };
  return own(object, name) === null ? { name, value: null } : undefined;
}

/** Tells whether a member is set under both of its names. */
export const isWrittenTwice = (object: JsonObject, member: Member): boolean =>
  member.snake !== member.name &&
  present(object, member.name) !== undefined &&
  present(object, member.snake) !== undefined;

/** Lists the names under which a message's members may stand. */
export const knownNames = (of: Message): ReadonlySet<string> =>
  new Set(of.members.flatMap((member) => [member.name, member.snake]));

/** The same for one name. Floor: a comparison for each name, where a set would be made for one look. */
export const isKnownName = (of: Message, name: string): boolean =>
  of.members.some((member) => member.name === name || member.snake === name);

/** A oneof's content and where it stands below the object. */
export interface OneOf {
  readonly object: JsonObject;
  readonly path: readonly string[];
}

/** Opens the JavaScript server's inner form of a oneof: `{ "flow": { "$case": "implicit", "value": {…} } }` is `{ "implicit": {…} }`. */
export function openOneOf(object: JsonObject, of: Message): OneOf {
  const inner = of.oneOf === undefined ? undefined : present(object, of.oneOf);
  if (!isObject(inner)) return { object, path: [] };
  const name = present(inner, '$case');
  const value = present(inner, 'value');
  if (typeof name !== 'string' || value === undefined) return { object, path: [] };
  return { object: objectOf([[name, value]]), path: [of.oneOf ?? '', 'value'] };
}

/** Reads a member under either of its names, null as absent. */
export const readMember = (object: JsonObject, name: string): Exclude<Json, null> | undefined =>
  present(object, name) ?? present(object, snakeName(name));

/** The same where it is text; anything else reads as absent. */
export function readText(object: JsonObject, name: string): string | undefined {
  const value = readMember(object, name);
  return typeof value === 'string' ? value : undefined;
}
