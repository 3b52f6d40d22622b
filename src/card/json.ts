/** What strict JSON text means. Objects from the scanner have no prototype, so a name chosen by a stranger reaches nothing else. */
export type Json = null | boolean | number | string | JsonArray | JsonObject;
export type JsonArray = readonly Json[];
export interface JsonObject {
  readonly [name: string]: Json;
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isArray = (value: Json | undefined): value is JsonArray => Array.isArray(value);

/** Reads a member that is the object's own; a name such as `constructor` reads as absent. */
export const own = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** Reads a member, `null` as absent: ProtoJSON and several servers write the one for the other. */
export function present(object: JsonObject, name: string): Exclude<Json, null> | undefined {
  const value = own(object, name);
  return value === null ? undefined : value;
}

/** Builds an object without a prototype; members whose value is undefined are left out. */
export function objectOf(members: Iterable<readonly [string, Json | undefined]>): JsonObject {
  const object: Record<string, Json> = Object.create(null);
  for (const [name, value] of members) if (value !== undefined) object[name] = value;
  return object;
}

/** Leaves one member out. */
export function without(object: JsonObject, name: string): JsonObject {
  const rest: Record<string, Json | undefined> = Object.create(null);
  for (const member of Object.keys(object)) if (member !== name) rest[member] = object[member];
  return rest as JsonObject;
}

/** Puts a value in the place of each, undefined for none. Where all stay what they are, the object itself is given. */
export function replaceMembers(
  object: JsonObject,
  replace: (value: Json, name: string) => Json | undefined,
): JsonObject {
  const names = Object.keys(object);
  const values: (Json | undefined)[] = [];
  let isSame = true;
  for (const name of names) {
    const value = object[name] ?? null;
    const replaced = replace(value, name);
    isSame &&= replaced === value;
    values.push(replaced);
  }
  return isSame ? object : objectOf(names.map((name, index) => [name, values[index]]));
}

/** The same with the items of an array. */
export function replaceItems(items: JsonArray, replace: (item: Json, index: number) => Json): JsonArray {
  const replaced = items.map(replace);
  return replaced.every((item, index) => item === items[index]) ? items : replaced;
}

/** Extends a JSON Pointer by one name or index (RFC 6901). */
export const pointerTo = (parent: string, name: string | number): string =>
  `${parent}/${typeof name === 'number' || !/[~/]/.test(name) ? name : name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** A place in a document: written out as a pointer only where somebody is told of it. */
export interface Place {
  /** Null for the document itself. */
  readonly above: Place | null;
  readonly name: string | number;
}

export const ROOT: Place = { above: null, name: '' };

export const below = (above: Place, name: string | number): Place => ({ above, name });

export const pointerOf = ({ above, name }: Place): string => (above === null ? '' : pointerTo(pointerOf(above), name));

/** Names a value's kind for a message; never its content. */
export function kindOf(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}

/** 64 characters tell a name apart; a longer one would let a card fill the log. */
const QUOTED = 64;

/** A pointer into a real card has a few dozen characters. */
const SHOWN_POINTER = 128;

/** Shows a JSON Pointer in a message or a field: printable ASCII, cut. Its names are a stranger's. */
export function showPointer(pointer: string): string {
  const cut = pointer.length > SHOWN_POINTER ? `${pointer.slice(0, SHOWN_POINTER)}...` : pointer;
  return cut.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Quotes a stranger's word for a message: escaped and cut. */
export const quote = (word: string): string =>
  JSON.stringify(word.length > QUOTED ? `${word.slice(0, QUOTED)}…` : word);
