import type { Json, JsonObject } from '../json.ts';
import { isObject, objectOf, own, present } from '../json.ts';
import { CARD_0_2 } from './a2a-0.3.ts';
import { CARD_1_0 } from './a2a-1.0.ts';
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
export function writtenMember(object: JsonObject, { name, snake }: Member): Written | undefined {
  const value = own(object, name);
  if (value !== undefined && value !== null) return { name, value };
  const other = snake === name ? undefined : own(object, snake);
  if (other !== undefined) return { name: snake, value: other };
  return value === null ? { name, value } : undefined;
}

/** Tells whether a member is set under both of its names. */
export const isWrittenTwice = (object: JsonObject, member: Member): boolean =>
  member.snake !== member.name &&
  present(object, member.snake) !== undefined &&
  present(object, member.name) !== undefined;

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
export function readMember(object: JsonObject, name: string): Exclude<Json, null> | undefined {
  const value = present(object, name);
  if (value !== undefined) return value;
  const snake = SNAKE.get(name) ?? snakeName(name);
  return snake === name ? undefined : present(object, snake);
}

/** The protobuf names of the tables' members: most cards have none of them, and are asked for many. */
const SNAKE: ReadonlyMap<string, string> = new Map([...snakesOf(CARD_1_0), ...snakesOf(CARD_0_2)]);

function snakesOf(of: Message): readonly (readonly [string, string])[] {
  return of.members.flatMap(({ name, snake, kind }) => [
    [name, snake],
    ...(kind.is === 'message' || kind.is === 'list' ? snakesOf(kind.of) : []),
  ]);
}

/** The same where it is text; anything else reads as absent. */
export function readText(object: JsonObject, name: string): string | undefined {
  const value = readMember(object, name);
  return typeof value === 'string' ? value : undefined;
}
