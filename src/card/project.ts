import type { Json, JsonObject } from './json.ts';
import { isArray, isObject, objectOf, own, pointerTo } from './json.ts';
import { knownNames, openOneOf, writtenMember } from './schema/member-value.ts';
import { readRequirement } from './schema/requirements.ts';
import type { Scheme } from './schema/schemes.ts';
import { readScheme } from './schema/schemes.ts';
import type { Member, Message } from './schema/table.ts';

/** Something of the card that a form leaves out of what is signed, though it means something. */
export interface Left {
  /** Where it stands in the card. */
  readonly pointer: string;
  readonly why:
    | 'member' // the form does not know it, or loses it
    | 'scheme' // a security scheme
    | 'scopes' // a scheme of a requirement, without scopes
    | 'requirement' // a scheme of a requirement, with its scopes
    | 'anonymous'; // an alternative that requires nothing
  /** The scheme's name, where it is about one. */
  readonly scheme?: string;
}

/** What a form signs of a card, as a value. */
export interface Projection {
  readonly payload: JsonObject;
  readonly left: readonly Left[];
}

/** What the SDKs' signers do before they serialise. */
export interface CleanRule {
  readonly table: Message;
  /** How the signer writes schemes, wrapped (1.0) or typed (0.x), reading nothing of the other kind; or that it loses them all. */
  readonly schemes: 'wrapped' | 'typed' | 'lost';
  /** Whether `false` is left out where the member has no presence (protobuf), or kept (the 0.3 models). */
  readonly falsehood: 'left-out' | 'kept';
}

interface Walk {
  readonly rule: CleanRule;
  readonly left: Left[];
}

/**
 * Reads a card, given without its `signatures`, as an SDK's model does and drops what is empty, everywhere: unknown members, then `""`,
 * `null`, `[]` and `{}`, inside extension parameters too. An empty value of a known member is no loss: under this form it means the
 * same as absent.
 */
export function cleanCard(unsigned: JsonObject, rule: CleanRule): Projection {
  const walk: Walk = { rule, left: [] };
  const payload = cleanMessage(unsigned, rule.table, '', walk) ?? objectOf([]);
  return { payload, left: walk.left };
}

function cleanMessage(object: JsonObject, of: Message, at: string, walk: Walk): JsonObject | undefined {
  const opened = openOneOf(object, of);
  const place = (name: string): string => pointerTo(at, opened.path[0] ?? name);
  const chosen = of.oneOf === undefined ? of.members : firstSet(opened.object, of.members);
  const read = chosen.flatMap((member) => {
    const written = writtenMember(opened.object, member);
    return written === undefined ? [] : [{ member, written }];
  });
  const members = read.map(({ member, written }): [string, Json | undefined] => [
    member.name,
    cleanMember(written.value, member, place(written.name), walk),
  ]);
  const isRead = new Set(read.map(({ written }) => written.name));
  for (const name of unreadNames(opened.object, of, isRead)) leave(walk, { pointer: place(name), why: 'member' });
  if (opened.path.length > 0) leaveBeside(object, opened.path, at, walk);
  return members.some(([, value]) => value !== undefined) ? objectOf(members) : undefined;
}

/** Lists what a reader of this message passes over; a known member that is null says nothing, under whichever of its names. */
function unreadNames(object: JsonObject, of: Message, isRead: ReadonlySet<string>): readonly string[] {
  const known = knownNames(of);
  return Object.keys(object).filter((name) => !isRead.has(name) && !(known.has(name) && own(object, name) === null));
}

/** Leaves out what stands beside the way down to a oneof's content: readers pass over it. */
function leaveBeside(object: JsonObject, path: readonly string[], at: string, walk: Walk): void {
  const [step, ...rest] = path;
  if (step === undefined) return;
  const beside = Object.keys(object).filter((name) => name !== step && name !== '$case' && own(object, name) !== null);
  for (const name of beside) leave(walk, { pointer: pointerTo(at, name), why: 'member' });
  const inner = own(object, step);
  if (rest.length > 0 && isObject(inner)) leaveBeside(inner, rest, pointerTo(at, step), walk);
}

/** Of a oneof that is set twice every reader takes the first; the others are lost. */
function firstSet(object: JsonObject, members: readonly Member[]): readonly Member[] {
  const first = members.find((member) => (writtenMember(object, member)?.value ?? null) !== null);
  return first === undefined ? [] : [first];
}

function cleanMember(value: Json, member: Member, at: string, walk: Walk): Json | undefined {
  const { kind } = member;
  if (value === null) return undefined;
  switch (kind.is) {
    case 'string':
      return typeof value === 'string' ? cleanString(value, member, walk) : lose(walk, at);
    case 'boolean':
      return typeof value === 'boolean' ? cleanBoolean(value, member, walk) : lose(walk, at);
    case 'strings':
      return isArray(value) ? cleanItems(value, at, (item, place) => cleanText(item, place, walk)) : lose(walk, at);
    case 'texts':
      return isObject(value) ? cleanEntries(value, at, (item, place) => cleanText(item, place, walk)) : lose(walk, at);
    case 'struct':
      return isObject(value) ? cleanEntries(value, at, (item, place) => cleanAny(item, place, walk)) : lose(walk, at);
    case 'message':
      return isObject(value) ? cleanMessage(value, kind.of, at, walk) : lose(walk, at);
    case 'list':
      return isArray(value)
        ? cleanItems(value, at, (item, place) => cleanItem(item, kind.of, place, walk))
        : lose(walk, at);
    case 'schemes':
      return isObject(value) ? cleanSchemes(value, at, walk) : lose(walk, at);
    case 'requirements':
      return isArray(value)
        ? cleanItems(value, at, (item, place) => cleanRequirement(item, place, walk))
        : lose(walk, at);
  }
}

/** The 0.3 models leave a default out; `absent` names it, so nothing is lost. */
function cleanString(value: string, member: Member, { rule }: Walk): string | undefined {
  const isDefault = rule.falsehood === 'kept' && value === member.absent;
  return value === '' || isDefault ? undefined : value;
}

const cleanBoolean = (value: boolean, member: Member, { rule }: Walk): boolean | undefined =>
  value || member.presence === true || rule.falsehood === 'kept' ? value : undefined;

/** An empty item means something where it stands: it is one item more. */
const cleanText = (item: Json, at: string, walk: Walk): Json | undefined =>
  typeof item === 'string' && item !== '' ? item : lose(walk, at);

function cleanItem(item: Json, of: Message, at: string, walk: Walk): Json | undefined {
  return isObject(item) ? (cleanMessage(item, of, at, walk) ?? lose(walk, at)) : lose(walk, at);
}

/** Names inside a Struct are a stranger's: even an empty value under one says something. */
function cleanAny(value: Json, at: string, walk: Walk): Json | undefined {
  const inner = (item: Json, place: string): Json | undefined => cleanAny(item, place, walk);
  const cleaned = isArray(value)
    ? cleanItems(value, at, inner)
    : isObject(value)
      ? cleanEntries(value, at, inner)
      : value;
  return cleaned === undefined || cleaned === '' || cleaned === null ? lose(walk, at) : cleaned;
}

function cleanItems(
  items: readonly Json[],
  at: string,
  clean: (item: Json, at: string) => Json | undefined,
): Json | undefined {
  const kept = items.map((item, index) => clean(item, pointerTo(at, index))).filter((item) => item !== undefined);
  return kept.length === 0 ? undefined : kept;
}

function cleanEntries(
  object: JsonObject,
  at: string,
  clean: (item: Json, at: string) => Json | undefined,
): JsonObject | undefined {
  const kept = Object.entries(object).map(([name, item]): [string, Json | undefined] => [
    name,
    clean(item, pointerTo(at, name)),
  ]);
  return kept.some(([, item]) => item !== undefined) ? objectOf(kept) : undefined;
}

function cleanSchemes(schemes: JsonObject, at: string, walk: Walk): JsonObject | undefined {
  return cleanEntries(schemes, at, (value, place) => {
    const reading = readScheme(value);
    const shape = reading.ok && reading.scheme.shape === 'typed' ? 'typed' : 'wrapped';
    const cleaned = reading.ok && shape === walk.rule.schemes ? cleanScheme(reading.scheme, place, walk) : undefined;
    if (cleaned === undefined) leave(walk, { pointer: place, why: 'scheme', scheme: lastName(place) });
    return cleaned;
  });
}

function cleanScheme(scheme: Scheme, at: string, walk: Walk): JsonObject | undefined {
  const body = cleanMessage(scheme.body, scheme.message, scheme.path.reduce(pointerTo, at), walk);
  leaveBeside(scheme.whole, scheme.path, at, walk);
  if (scheme.shape !== 'typed') return body === undefined ? undefined : objectOf([[scheme.wrapper, body]]);
  return tagStandsFor(scheme) ? body : objectOf([...Object.entries(body ?? {}), ['type', scheme.type]]);
}

/**
 * The 0.3 models leave `type` out as the default of the kind that the other members prove. Where these do not prove it, the tag stays,
 * so that nobody can change the kind of a signed scheme that says little more.
 */
const tagStandsFor = (scheme: Scheme): boolean =>
  scheme.message.members.every((member) => member.required !== true || (own(scheme.body, member.name) ?? '') !== '');

function cleanRequirement(value: Json, at: string, walk: Walk): JsonObject | undefined {
  const requirement = readRequirement(value);
  if (requirement === undefined) return lose(walk, at);
  if (requirement.schemes.size === 0) return leave(walk, { pointer: at, why: 'anonymous' });
  const isWrapped = requirement.shape !== 'plain';
  const isRead = requirement.shape === (walk.rule.schemes === 'typed' ? 'plain' : 'wrapped');
  const kept = [...requirement.schemes].map(([scheme, scopes]): [string, Json | undefined] => {
    const pointer = pointerTo(isWrapped ? pointerTo(at, 'schemes') : at, scheme);
    if (!isRead) return [scheme, leave(walk, { pointer, why: 'requirement', scheme })];
    const words = cleanScopes(scopes, { pointer, scheme, isWrapped }, walk);
    return [scheme, words === undefined || !isWrapped ? words : objectOf([['list', words]])];
  });
  if (kept.every(([, scopes]) => scopes === undefined)) return undefined;
  return isWrapped ? objectOf([['schemes', objectOf(kept)]]) : objectOf(kept);
}

interface ScopesPlace {
  readonly pointer: string;
  readonly scheme: string;
  readonly isWrapped: boolean;
}

function cleanScopes(scopes: readonly string[], place: ScopesPlace, walk: Walk): readonly string[] | undefined {
  const { pointer, scheme, isWrapped } = place;
  if (scopes.length === 0) return leave(walk, { pointer, why: 'scopes', scheme });
  const words = scopes.filter((scope) => scope !== '');
  if (words.length === 0) return leave(walk, { pointer, why: 'requirement', scheme });
  const list = isWrapped ? pointerTo(pointer, 'list') : pointer;
  for (const [index, scope] of scopes.entries()) if (scope === '') lose(walk, pointerTo(list, index));
  return words;
}

function lose(walk: Walk, pointer: string): undefined {
  return leave(walk, { pointer, why: 'member' });
}

function leave(walk: Walk, left: Left): undefined {
  walk.left.push(left);
  return undefined;
}

const lastName = (pointer: string): string =>
  (pointer.split('/').at(-1) ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
