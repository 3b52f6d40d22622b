import type { JsonObject } from '../json.ts';
import { isObject } from '../json.ts';
import { readText } from '../schema/member-value.ts';
import type { CardChange, Resemblance } from './change.ts';

/** Marks skills that came or went and may be taken for another: renamed ones, and ids that read like one that is known. */
export function markResemblances(changes: readonly CardChange[], known: readonly string[]): readonly CardChange[] {
  const added = changes.filter(({ class: of }) => of === 'skill-added');
  const removed = changes.filter(({ class: of }) => of === 'skill-removed');
  return changes.map((change) => {
    const resembles = resemblanceOf(change, { added, removed, known });
    return resembles === undefined ? change : { ...change, resembles };
  });
}

interface Others {
  readonly added: readonly CardChange[];
  readonly removed: readonly CardChange[];
  /** The ids of every skill before. */
  readonly known: readonly string[];
}

function resemblanceOf(change: CardChange, { added, removed, known }: Others): Resemblance | undefined {
  const skill = skillOf(change);
  if (skill === undefined) return undefined;
  const isNew = change.class === 'skill-added';
  const twin = (isNew ? removed : added).map(skillOf).find((other) => other !== undefined && isSameSkill(skill, other));
  if (twin !== undefined) return { id: readText(twin, 'id') ?? '', why: 'renamed' };
  const id = readText(skill, 'id') ?? '';
  const near = isNew ? known.find((other) => other !== id && isNear(id, other)) : undefined;
  return near === undefined ? undefined : { id: near, why: 'near-id' };
}

function skillOf({ class: of, before, after }: CardChange): JsonObject | undefined {
  const skill = of === 'skill-added' ? after : of === 'skill-removed' ? before : undefined;
  return isObject(skill) ? skill : undefined;
}

/** What is said of it is what a skill is: the name and the description, or one of them where the other is missing. */
function isSameSkill(one: JsonObject, other: JsonObject): boolean {
  const same = (name: string): boolean =>
    readText(one, name) !== undefined && readText(one, name) === readText(other, name);
  return same('description') || same('name');
}

/** Characters that read as another; letters that no skill id in use needs. */
const ALIKE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аα',
    c: 'сϲ',
    e: 'еε',
    i: 'іı1l|',
    o: 'оο0',
    p: 'рρ',
    s: 'ѕ5',
    x: 'хχ',
    y: 'уγ',
    j: 'ј',
    h: 'һ',
    k: 'к',
    m: 'м',
    t: 'т',
    n: 'ո',
    v: 'ν',
    b: 'ь',
  }).flatMap(([latin, others]) => [...others].map((other): [string, string] => [other, latin])),
);

function skeleton(id: string): string {
  const plain = id
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '')
    .toLowerCase();
  return [...plain.replaceAll(/[-_.\s:/]/gu, '')].map((letter) => ALIKE.get(letter) ?? letter).join('');
}

/** Below this length nearly every id is one letter from another. */
const SHORTEST = 5;
/** Ids are words; what is longer is compared by its skeleton alone. */
const LONGEST = 128;

function isNear(one: string, other: string): boolean {
  const [a, b] = [skeleton(one), skeleton(other)];
  if (a === b) return true;
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  return short.length >= SHORTEST && long.length <= LONGEST && isOneEdit(short, long);
}

/** One letter added, left out, changed, or two swapped. */
function isOneEdit(short: string, long: string): boolean {
  if (long.length - short.length > 1) return false;
  let at = 0;
  while (at < short.length && short[at] === long[at]) at += 1;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  if (short.slice(at + 1) === long.slice(at + 1)) return true;
  return short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2);
}
