import type { ChangeClass } from '../../kernel/change.ts';
import type { Json, JsonObject } from '../json.ts';
import { isArray, isObject, own, pointerTo, present, without } from '../json.ts';
import { CARD_1_0, SCHEME_1_0 } from '../schema/a2a-1.0.ts';
import { readText } from '../schema/member-value.ts';
import type { Kind, Member, Message } from '../schema/table.ts';
import { type CardChange, type Pair, changeOf } from './change.ts';
import { newCues, wordsIn } from './cues.ts';
import { listEffect, namesEffect, requirementsEffect, switchEffect } from './effect.ts';
import { itemClass, itemEffect, pairItems } from './items.ts';
import { meaningOf, sameMeaning, textOf } from './meaning.ts';
import { markResemblances } from './near-ids.ts';
import { diffUnknown } from './unknown.ts';

/**
 * Lists what a card says otherwise than the one before it. Both are in the 1.0 view, so that a card written for another version of
 * A2A is no change by itself. Empty exactly where the two mean the same. `signatures` are no part of it: see `diffSigners`.
 */
export function diffCards(before: JsonObject, after: JsonObject): readonly CardChange[] {
  const whole = {
    oldPointer: '',
    pointer: '',
    before: without(before, 'signatures'),
    after: without(after, 'signatures'),
  };
  return markResemblances(diffMessage(whole, CARD_1_0, ROOT), idsIn(own(before, 'skills')));
}

/** Where in a card a member stands. */
interface Surroundings {
  /** The class of a member that A2A does not know. */
  readonly classOf: (name: string, value: Json | undefined) => ChangeClass;
  /** What a model could read there before: a cue is new only beside it. */
  readonly said: string;
}

/** 0.2 said at the root what a caller must show; anything else that is unknown there extends the card. */
const ROOT: Surroundings = { classOf: (name) => (name === 'authentication' ? 'security' : 'extension'), said: '' };
const within = (change: ChangeClass): Surroundings => ({ classOf: () => change, said: '' });
/** In a skill, words are for a model and structures are what the skill takes and gives. */
const inSkill = (skill: Json | undefined): Surroundings => ({
  classOf: (_name, value) => (typeof value === 'string' ? 'skill-text' : 'skill-io'),
  said: wordsIn(skill),
});

function diffMessage(pair: Pair, of: Message, around: Surroundings): readonly CardChange[] {
  const names = new Set([...Object.keys(asObject(pair.before)), ...Object.keys(asObject(pair.after))]);
  for (const { name } of of.members) names.delete(name);
  return [
    ...of.members.flatMap((member) => {
      const inside = inMember(pair, member.name);
      return of.oneOf === undefined ? diffMember(inside, member, around) : diffChoice(inside, member);
    }),
    ...[...names].flatMap((name) => {
      const inside = inMember(pair, name);
      return diffUnknown(inside, name, around.classOf(name, inside.after ?? inside.before)).map((change) =>
        withCues(change, around.said),
      );
    }),
  ];
}

/** A member of a oneof says by being there what the object is, though there be nothing in it. */
function diffChoice(pair: Pair, { kind, change }: Member): readonly CardChange[] {
  if (kind.is === 'message' && isObject(pair.before) && isObject(pair.after))
    return diffMessage(pair, kind.of, within(change));
  return textOf(pair.before) === textOf(pair.after) ? [] : [changeOf(pair, change)];
}

function diffMember(pair: Pair, member: Member, around: Surroundings): readonly CardChange[] {
  const { kind, change } = member;
  if (sameMeaning(pair.before, pair.after, kind)) return [];
  const shown = withoutEmpty(pair, kind);
  const whole = (effect: CardChange['effect'] = null): readonly CardChange[] => [
    withCues(changeOf(shown, change, { effect }), around.said),
  ];
  switch (kind.is) {
    case 'string':
    case 'struct':
      return whole();
    case 'boolean':
      return whole(switchEffect(member.name, shown.after));
    case 'strings':
      return whole(change === 'skill-text' ? null : listEffect(shown.before, shown.after));
    case 'texts':
      return whole(namesEffect(shown.before, shown.after));
    case 'requirements':
      return whole(requirementsEffect(shown.before, shown.after));
    case 'message':
      return areObjects(shown) ? diffMessage(shown, kind.of, within(change)) : whole();
    case 'schemes':
      return areObjects(shown) ? diffSchemes(shown, change) : whole();
    case 'list':
      return areLists(shown) ? diffList(shown, kind.of, change) : whole();
  }
}

function diffSchemes(pair: Pair, change: ChangeClass): readonly CardChange[] {
  const names = new Set([...Object.keys(asObject(pair.before)), ...Object.keys(asObject(pair.after))]);
  return [...names].flatMap((name) => {
    const inside = inMember(pair, name);
    if (isObject(inside.before) && isObject(inside.after)) return diffMessage(inside, SCHEME_1_0, within(change));
    return textOf(inside.before) === textOf(inside.after) ? [] : [changeOf(inside, change)];
  });
}

function diffList(pair: Pair, of: Message, change: ChangeClass): readonly CardChange[] {
  return pairItems(pair, of).flatMap((item): readonly CardChange[] => {
    const { before, after } = item;
    const required =
      of.name === 'AgentExtension' && [before, after].some(isRequired) ? { required: true as const } : {};
    if (isObject(before) && isObject(after)) {
      const around = of.name === 'AgentSkill' ? inSkill(before) : within(change);
      return diffMessage(item, of, around).map((one) => ({ ...one, ...required }));
    }
    if (textOf(before) === textOf(after)) return [];
    const whole = changeOf(item, itemClass(item, of, pair) ?? change, { effect: itemEffect(item), ...required });
    return [withCues(whole, '')];
  });
}

/** Classes of what a model reads. */
const READ: ReadonlySet<ChangeClass> = new Set(['identity', 'extension', 'skill-added', 'skill-text', 'skill-io']);

function withCues(change: CardChange, said: string): CardChange {
  if (!READ.has(change.class) || change.after === undefined) return change;
  // An extension's URI is an address by nature, and names nothing that is to be followed.
  const after = change.class === 'extension' && isObject(change.after) ? without(change.after, 'uri') : change.after;
  return { ...change, cues: newCues(`${said}\n${wordsIn(change.before)}`, wordsIn(after)) };
}

const inMember = ({ oldPointer, pointer, before, after }: Pair, name: string): Pair => ({
  oldPointer: pointerTo(oldPointer, name),
  pointer: pointerTo(pointer, name),
  before: present(asObject(before), name),
  after: present(asObject(after), name),
});

/** Shows an empty value as absent: that is what it means. */
const withoutEmpty = (pair: Pair, kind: Kind): Pair => ({
  ...pair,
  before: meaningOf(pair.before, kind) === undefined ? undefined : pair.before,
  after: meaningOf(pair.after, kind) === undefined ? undefined : pair.after,
});

const asObject = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const areObjects = ({ before, after }: Pair): boolean =>
  [before, after].every((side) => side === undefined || isObject(side));
const areLists = ({ before, after }: Pair): boolean =>
  [before, after].every((side) => side === undefined || isArray(side));
const isRequired = (extension: Json | undefined): boolean => isObject(extension) && own(extension, 'required') === true;

const idsIn = (skills: Json | undefined): readonly string[] =>
  isArray(skills) ? skills.flatMap((skill) => (isObject(skill) ? (readText(skill, 'id') ?? []) : [])) : [];
