import type { ChangeClass } from '../../kernel/change.ts';
import type { Json } from '../json.ts';
import { isArray, isObject, own, pointerTo } from '../json.ts';
import type { Message } from '../schema/table.ts';
import type { CardChange, Pair } from './change.ts';
import { meaningOf, textOf } from './meaning.ts';

/**
 * Pairs the items of two lists: by what tells them apart where the table says so, else by their place, since clients pick the first
 * interface that they can speak (A2A 1.0 §5.3). What is in one list alone stands at `-` in the other (RFC 6901 §4).
 */
export function pairItems(pair: Pair, of: Message): readonly Pair[] {
  const [before, after] = [itemsOf(pair.before, of), itemsOf(pair.after, of)];
  return [...new Set([...before.keys(), ...after.keys()])].map((key) => {
    const [old, now] = [before.get(key), after.get(key)];
    return {
      oldPointer: pointerTo(pair.oldPointer, old?.index ?? '-'),
      pointer: pointerTo(pair.pointer, now?.index ?? '-'),
      before: old?.item,
      after: now?.item,
    };
  });
}

interface Item {
  readonly index: number;
  readonly item: Json;
}

/** Items by what tells them apart; several of one key are numbered in an order that does not depend on their places. */
function itemsOf(list: Json | undefined, of: Message): ReadonlyMap<string, Item> {
  const items = isArray(list) ? list.map((item, index): Item => ({ index, item })) : [];
  const { key } = of;
  if (key === undefined) return new Map(items.map((each) => [String(each.index), each]));
  const seen = new Map<string, number>();
  const meanings = new Map(items.map((each) => [each, textOf(meaningOf(each.item, { is: 'message', of }))]));
  const inOrder = items.toSorted((one, other) => compare(meanings.get(one) ?? '', meanings.get(other) ?? ''));
  return new Map(
    inOrder.map((each): [string, Item] => {
      const name = textOf(isObject(each.item) ? [own(each.item, key) ?? null] : each.item);
      const count = seen.get(name) ?? 0;
      seen.set(name, count + 1);
      return [`${count} ${name}`, each];
    }),
  );
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** The class of an item that came or went, where that is not the class of its list. */
export function itemClass({ before, after }: Pair, of: Message, lists: Pair): ChangeClass | undefined {
  switch (of.name) {
    case 'AgentSkill':
      return before === undefined ? 'skill-added' : after === undefined ? 'skill-removed' : undefined;
    case 'AgentInterface':
      return isReachedElsewhere(before ?? after, before === undefined ? lists.before : lists.after)
        ? 'protocol'
        : 'endpoint';
    default:
      return undefined;
  }
}

/** Another binding or version at a place that was, or still is, called anyway. */
function isReachedElsewhere(one: Json | undefined, list: Json | undefined): boolean {
  const place = placeOf(one);
  return isArray(list) && list.some((other) => placeOf(other) === place);
}

const placeOf = (one: Json | undefined): string =>
  isObject(one) ? textOf([own(one, 'url') ?? null, own(one, 'tenant') ?? '']) : '';

/** One more is wider, one less is narrower; what a client must honour is a demand and neither. */
export function itemEffect({ before, after }: Pair): CardChange['effect'] {
  const one = after ?? before;
  if (isObject(one) && own(one, 'required') === true) return null;
  return before === undefined ? 'widens' : after === undefined ? 'narrows' : null;
}
