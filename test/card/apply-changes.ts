import type { CardChange } from '../../src/card/diff/change.ts';
import type { Json, JsonObject } from '../../src/card/json.ts';

/** In anything else `-` is a name. */
const LISTS = new Set(['supportedInterfaces', 'extensions', 'skills']);

type Loose = Record<string, unknown> | unknown[];

/** Makes of the card before what the changes say that it became: what a list of changes is worth. */
export function applyChanges(before: JsonObject, changes: readonly CardChange[]): JsonObject {
  const card = { whole: structuredClone(before) as unknown };
  const place = (change: CardChange) => partsOf(change.oldPointer);
  for (const change of changes) {
    if (change.after === undefined || isNewItem(change)) continue;
    set(card, ['whole', ...place(change)], change.after);
  }
  // From the back, so that what is still to go keeps its place.
  const gone = changes.filter(({ after }) => after === undefined);
  for (const change of gone.toSorted((one, other) => compare(place(other), place(one))))
    remove(card, ['whole', ...place(change)]);
  for (const change of changes.filter(isNewItem)) set(card, ['whole', ...place(change)], change.after);
  return card.whole as JsonObject;
}

const isNewItem = ({ oldPointer, before, after }: CardChange): boolean =>
  LISTS.has(oldPointer.split('/').at(-2) ?? '') &&
  oldPointer.endsWith('/-') &&
  before === undefined &&
  after !== undefined;

const partsOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

function compare(one: readonly string[], other: readonly string[]): number {
  for (let at = 0; at < Math.min(one.length, other.length); at += 1) {
    const [a, b] = [one[at] ?? '', other[at] ?? ''];
    if (a !== b) return /^\d+$/.test(a) && /^\d+$/.test(b) ? Number(a) - Number(b) : a < b ? -1 : 1;
  }
  return one.length - other.length;
}

function set(root: Loose, [first = '', ...rest]: readonly string[], value: Json | undefined): void {
  if (rest.length === 0) {
    if (Array.isArray(root)) root[first === '-' ? root.length : Number(first)] = value;
    else define(root, first, value);
    return;
  }
  const inside = Array.isArray(root) ? root[Number(first)] : own(root, first);
  if (typeof inside === 'object' && inside !== null) return set(inside as Loose, rest, value);
  const made: Loose = rest[0] === '-' && LISTS.has(first) ? [] : {};
  if (Array.isArray(root)) root[Number(first)] = made;
  else define(root, first, made);
  set(made, rest, value);
}

function remove(root: Loose, [first = '', ...rest]: readonly string[]): void {
  if (rest.length > 0) {
    const inside = Array.isArray(root) ? root[Number(first)] : own(root, first);
    if (typeof inside === 'object' && inside !== null) remove(inside as Loose, rest);
  } else if (Array.isArray(root)) root.splice(Number(first), 1);
  else delete root[first];
}

const own = (object: Record<string, unknown>, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** `__proto__` is a name like any other in JSON. */
const define = (object: Record<string, unknown>, name: string, value: unknown): void =>
  void Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
