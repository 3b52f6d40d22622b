import { legacyInterfaces, supportedInterfaces } from './interfaces.ts';
import type { Json, JsonObject, Place } from './json.ts';
import { ROOT, below, isArray, isObject, objectOf, pointerOf } from './json.ts';
import { listsInterface } from './agreement.ts';
import { CARD_0_3, LEGACY_ROOT } from './schema/a2a-0.3.ts';
import { CARD_1_0, SCHEME_1_0 } from './schema/a2a-1.0.ts';
import { isKnownName, knownNames, openOneOf, readMember, writtenMember } from './schema/member-value.ts';
import { readRequirement } from './schema/requirements.ts';
import type { Scheme } from './schema/schemes.ts';
import { readScheme } from './schema/schemes.ts';
import type { Kind, Member, Message } from './schema/table.ts';
import type { CardVersion } from './version.ts';

/** What the 1.0 view says otherwise than the card does. */
export interface Note {
  readonly what:
    | 'renamed' // the same, under another name or in another shape
    | 'defaulted' // the card is silent; its version's default is written out
    | 'changed'; // 1.0 cannot say quite the same
  readonly from: string;
  readonly to: string;
}

/** Any accepted card as a 1.0 client would have it: one shape to compare, to list and to read. Unknown members are kept. */
export interface NormalisedCard {
  /** The version that the card was written in. */
  readonly version: CardVersion;
  readonly card: JsonObject;
  readonly notes: readonly Note[];
}

/** Gives the 1.0 view of an accepted card, with the list of what was renamed, defaulted or changed in meaning. */
export function normaliseCard(card: JsonObject, version: CardVersion): NormalisedCard {
  const notes: Note[] = [];
  const view = message(card, CARD_1_0, { ...START, notes });
  const lifted = liftLegacy(card, version, notes);
  const legacy = new Set(LEGACY_ROOT.flatMap((member) => [...knownNames({ name: '', members: [member] })]));
  const kept = Object.entries(view).filter(([name]) => !legacy.has(name));
  const capabilities = { ...asObject(view['capabilities']), ...asObject(lifted['capabilities']) };
  const names = new Map<string, Json | undefined>([...kept, ...Object.entries(lifted)]);
  if (Object.keys(capabilities).length > 0) names.set('capabilities', objectOf(Object.entries(capabilities)));
  return { version, card: objectOf(names), notes };
}

/** Where something stands in the card, and where in the view. */
interface Way {
  readonly from: Place;
  readonly to: Place;
  readonly notes: Note[];
}

const START = { from: ROOT, to: ROOT } as const;

const step = ({ from, to, notes }: Way, read: string | number, written: string | number = read): Way => ({
  from: below(from, read),
  to: below(to, written),
  notes,
});

const renamed = ({ from, to, notes }: Way): void =>
  void notes.push({ what: 'renamed', from: pointerOf(from), to: pointerOf(to) });

function message(object: JsonObject, of: Message, place: Way): JsonObject {
  const opened = openOneOf(object, of);
  if (opened.path.length > 0) renamed(place);
  const read = of.members.map((member): [string, Json | undefined] => [
    member.name,
    readValue(opened.object, member, place),
  ]);
  const unknown = Object.entries(opened.object).filter(([name]) => !isKnownName(of, name));
  return objectOf([...read, ...unknown]);
}

function readValue(object: JsonObject, member: Member, place: Way): Json | undefined {
  const written = writtenMember(object, member);
  if (written === undefined || written.value === null) return undefined;
  const at = step(place, written.name, member.name);
  if (written.name !== member.name) renamed(at);
  return value(written.value, member.kind, at);
}

/** A value of the wrong kind is kept as it is: this view judges nothing. */
function value(written: Json, kind: Kind, at: Way): Json {
  switch (kind.is) {
    case 'string':
    case 'boolean':
    case 'strings':
    case 'struct':
    case 'texts':
      return written;
    case 'message':
      return isObject(written) ? message(written, kind.of, at) : written;
    case 'list':
      return isArray(written)
        ? written.map((item, index) => (isObject(item) ? message(item, kind.of, step(at, index)) : item))
        : written;
    case 'schemes':
      return isObject(written) ? schemes(written, at) : written;
    case 'requirements':
      return isArray(written) ? requirements(written, at) : written;
  }
}

function schemes(written: JsonObject, at: Way): JsonObject {
  return objectOf(
    Object.entries(written).map(([name, one]) => {
      const reading = readScheme(one);
      return [name, reading.ok ? scheme(reading.scheme, step(at, name)) : one];
    }),
  );
}

function scheme(one: Scheme, at: Way): JsonObject {
  if (one.shape !== 'wrapped') renamed({ ...at, to: below(at.to, one.wrapper) });
  const body = one.shape === 'typed' ? modernBody(one.body) : one.body;
  const kind = SCHEME_1_0.members.find((member) => member.name === one.wrapper)?.kind;
  const read =
    kind?.is === 'message'
      ? message(body, kind.of, { ...at, from: one.path.reduce(below, at.from), to: below(at.to, one.wrapper) })
      : body;
  return objectOf([[one.wrapper, read]]);
}

/** 0.x says `in` where 1.0 says `location`, and has `type` inside. */
const modernBody = (body: JsonObject): JsonObject =>
  objectOf(
    Object.entries(body)
      .filter(([name]) => name !== 'type')
      .map(([name, one]): [string, Json] => [name === 'in' ? 'location' : name, one]),
  );

function requirements(written: readonly Json[], at: Way): readonly Json[] {
  return written.map((one, index) => {
    const requirement = readRequirement(one);
    if (requirement === undefined) return one;
    if (requirement.shape !== 'wrapped') renamed(step(at, index));
    const lists = [...requirement.schemes].map(([name, scopes]): [string, Json] => [
      name,
      objectOf([['list', scopes]]),
    ]);
    return objectOf([['schemes', objectOf(lists)]]);
  });
}

/** Says in 1.0's words what the 0.x members at the root say, where the card has not said it so itself. */
function liftLegacy(card: JsonObject, version: CardVersion, notes: Note[]): JsonObject {
  const at: Way = { ...START, notes };
  return objectOf([
    ['supportedInterfaces', liftInterfaces(card, at)],
    ['capabilities', liftExtended(card, at)],
    ['securityRequirements', liftSecurity(card, at)],
    ['skills', liftSkills(card, at)],
    ...liftAuthentication(card, version, at),
  ]);
}

function liftInterfaces(card: JsonObject, at: Way): Json | undefined {
  if (supportedInterfaces(card).length > 0) return undefined;
  const legacy = legacyInterfaces(card);
  const distinct = legacy.filter((one, index) => !listsInterface(legacy.slice(0, index), one));
  if (readMember(card, 'url') !== undefined && readMember(card, 'preferredTransport') === undefined) {
    at.notes.push({ what: 'defaulted', from: '/preferredTransport', to: '/supportedInterfaces/0/protocolBinding' });
  }
  if (readMember(card, 'protocolVersion') === undefined && legacy.length > 0) {
    at.notes.push({ what: 'defaulted', from: '/protocolVersion', to: '/supportedInterfaces/0/protocolVersion' });
  }
  return distinct.map((one, index) => {
    at.notes.push({ what: 'renamed', from: one.pointer, to: `/supportedInterfaces/${index}/url` });
    return objectOf([
      ['url', one.url],
      ['protocolBinding', one.binding],
      ['protocolVersion', one.version],
    ]);
  });
}

function liftExtended(card: JsonObject, at: Way): Json | undefined {
  const legacy = readMember(card, 'supportsAuthenticatedExtendedCard');
  const capabilities = readMember(card, 'capabilities');
  const modern = isObject(capabilities) ? readMember(capabilities, 'extendedAgentCard') : undefined;
  if (typeof legacy !== 'boolean' || modern !== undefined) return undefined;
  const [from, to] = ['/supportsAuthenticatedExtendedCard', '/capabilities/extendedAgentCard'];
  at.notes.push({ what: 'renamed', from, to });
  return objectOf([['extendedAgentCard', legacy]]);
}

function liftSecurity(object: JsonObject, at: Way): Json | undefined {
  const legacy = readMember(object, 'security');
  if (!isArray(legacy) || readMember(object, 'securityRequirements') !== undefined) return undefined;
  const place = step(at, 'security', 'securityRequirements');
  renamed(place);
  return requirements(legacy, { ...place, notes: [] });
}

function liftSkills(card: JsonObject, at: Way): Json | undefined {
  const skills = readMember(card, 'skills');
  if (!isArray(skills) || !skills.some((skill) => isObject(skill) && readMember(skill, 'security') !== undefined))
    return undefined;
  const skillTable = CARD_0_3.members.find((member) => member.name === 'skills')?.kind;
  return skills.map((skill, index) => {
    if (!isObject(skill) || skillTable?.is !== 'list') return skill;
    const lifted = liftSecurity(skill, step(step(at, 'skills'), index));
    const view = message(skill, skillTable.of, { ...START, notes: [] });
    return objectOf([
      ...Object.entries(view).filter(([name]) => name !== 'security'),
      ['securityRequirements', lifted],
    ]);
  });
}

/** 0.2's `authentication` names schemes and no way to use them; 1.0 has nothing like it, so it stays where it is. */
function liftAuthentication(card: JsonObject, version: CardVersion, at: Way): readonly [string, Json][] {
  const authentication = readMember(card, 'authentication');
  if (version === '1.0' || authentication === undefined) return [];
  at.notes.push({ what: 'changed', from: '/authentication', to: '/authentication' });
  return [['authentication', authentication]];
}

const asObject = (one: Json | undefined): JsonObject => (isObject(one) ? one : {});
