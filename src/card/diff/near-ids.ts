import { isOneEdit } from '../../kernel/edit.ts';
import type { JsonObject } from '../json.ts';
import { isObject } from '../json.ts';
import { readText } from '../schema/member-value.ts';
import type { CardChange, Resemblance } from './change.ts';

/** Marks skills that came or went and may be taken for another: renamed ones, and ids that read like one that is known. */
export function markResemblances(changes: readonly CardChange[], known: readonly string[]): readonly CardChange[] {
  const added = changes.flatMap((change) => (change.class === 'skill-added' ? skillOf(change.after) : []));
  const removed = changes.flatMap((change) => (change.class === 'skill-removed' ? skillOf(change.before) : []));
  if (added.length === 0) return changes;
  const [came, went] = [byWhatIsSaid(added), byWhatIsSaid(removed)];
  const nearest = finder(known, added.length);
  const resemblanceOf = (change: CardChange): Resemblance | undefined => {
    if (change.class === 'skill-removed') return renamed(skillOf(change.before), came);
    if (change.class !== 'skill-added') return undefined;
    const skills = skillOf(change.after);
    return renamed(skills, went) ?? nearest(idOf(skills[0]));
  };
  return changes.map((change) => {
    const resembles = resemblanceOf(change);
    return resembles === undefined ? change : { ...change, resembles };
  });
}

const skillOf = (value: CardChange['before']): readonly JsonObject[] => (isObject(value) ? [value] : []);
const idOf = (skill: JsonObject | undefined): string => (skill === undefined ? '' : (readText(skill, 'id') ?? ''));

/** What is said of it is what a skill is: the description, or the name. */
const sayings = (skill: JsonObject): readonly string[] =>
  ['description', 'name'].flatMap((member) => {
    const text = readText(skill, member);
    return text === undefined || text === '' ? [] : [`${member} ${text}`];
  });

/** The ids of skills by what is said of them; the first of several counts. */
const byWhatIsSaid = (skills: readonly JsonObject[]): ReadonlyMap<string, string> =>
  new Map(skills.toReversed().flatMap((skill) => sayings(skill).map((text): [string, string] => [text, idOf(skill)])));

function renamed(skills: readonly JsonObject[], others: ReadonlyMap<string, string>): Resemblance | undefined {
  const id = skills.flatMap(sayings).flatMap((text) => others.get(text) ?? [])[0];
  return id === undefined ? undefined : { id, why: 'renamed' };
}

/** Ids are compared each with each only as far as that takes a few milliseconds: a card of thousands of skills must hold up nobody. */
const MOST_PAIRS = 100_000;

function finder(known: readonly string[], asked: number): (id: string) => Resemblance | undefined {
  const skeletons = known.map((id): [string, string] => [skeletonOf(id), id]);
  const bySkeleton = new Map(skeletons.toReversed());
  const comparable = known.length * asked <= MOST_PAIRS ? skeletons : [];
  return (id) => {
    const skeleton = skeletonOf(id);
    const near = bySkeleton.get(skeleton) ?? comparable.find(([other]) => areNear(skeleton, other))?.[1];
    return near === undefined || near === id ? undefined : { id: near, why: 'near-id' };
  };
}

/** Characters that read as another: letters that no skill id in use needs, and digits for letters. */
const ALIKE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аα',
    b: 'ь',
    c: 'сϲ',
    e: 'еε',
    h: 'һ',
    i: 'іı1l|',
    j: 'ј',
    k: 'к',
    m: 'м',
    n: 'ո',
    o: 'оο0',
    p: 'рρ',
    s: 'ѕ5',
    t: 'т',
    v: 'ν',
    x: 'хχ',
    y: 'уγ',
  }).flatMap(([latin, others]) => [...others].map((other): [string, string] => [other, latin])),
);

/** What an eye takes in of an id: no case, accents, separators or invisible characters, look-alikes folded. */
function skeletonOf(id: string): string {
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

const areNear = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= SHORTEST &&
  Math.max(one.length, other.length) <= LONGEST &&
  isOneEdit(one, other);
