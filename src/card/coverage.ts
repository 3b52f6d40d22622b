import { listsInterface, sameRequirements } from './agreement.ts';
import { allInterfaces, legacyInterfaces, supportedInterfaces } from './interfaces.ts';
import type { Json, JsonObject } from './json.ts';
import { isArray, isObject, objectOf, own, pointerTo, present } from './json.ts';
import type { Left } from './project.ts';
import { readMember } from './schema/member-value.ts';
import { readRequirement } from './schema/requirements.ts';

/** What of a card a signature vouches for. */
export type Coverage =
  /** All that means anything: it is served as it came. */
  | { readonly is: 'whole' }
  /** All but some members: without them it may be served as verified. */
  | { readonly is: 'partial'; readonly card: JsonObject; readonly dropped: readonly string[] }
  /** Too little: without the uncovered members callers could not reach the agent, or would not know what it requires. */
  | { readonly is: 'lacking'; readonly missing: readonly string[] };

/**
 * Decides what may be served of a card whose signature holds over a form that leaves members out. What is served as verified is what
 * was signed: anyone on the way can add what the signature does not cover.
 */
export function coverageOf(card: JsonObject, left: readonly Left[]): Coverage {
  if (left.length === 0) return { is: 'whole' };
  const context: Context = { card, left, covered: coveredSchemes(card, left), required: requiredSchemes(card) };
  const judged = left.map((one) => ({ pointer: one.pointer, fate: fateOf(one, context) }));
  const needed = judged.filter(({ fate }) => fate === 'needed').map(({ pointer }) => pointer);
  if (needed.length > 0) return { is: 'lacking', missing: needed };
  const dropped = outermost(judged.filter(({ fate }) => fate === 'dropped').map(({ pointer }) => pointer));
  if (dropped.length === 0) return { is: 'whole' };
  const rest = withoutPointers(card, new Set(dropped));
  return allInterfaces(rest).length === 0
    ? { is: 'lacking', missing: dropped }
    : { is: 'partial', card: rest, dropped };
}

interface Context {
  readonly card: JsonObject;
  readonly left: readonly Left[];
  /** Names of schemes that the signature covers. */
  readonly covered: ReadonlySet<string>;
  /** Names of schemes that some requirement names. */
  readonly required: ReadonlySet<string>;
}

/** Served although uncovered, dropped, or needed: then nothing may be called verified. */
type Fate = 'served' | 'dropped' | 'needed';

function fateOf(one: Left, context: Context): Fate {
  switch (one.why) {
    case 'member':
      return fateOfMember(one.pointer, context);
    case 'scheme':
      return context.required.has(one.scheme ?? '') ? 'needed' : 'dropped';
    case 'scopes':
      // The form cannot say that a scheme is required without scopes; the scheme itself is signed.
      return context.covered.has(one.scheme ?? '') ? 'served' : 'needed';
    case 'requirement':
      return 'needed';
    case 'anonymous':
      // Anyone could have added it; without it the card asks for more, not for less.
      return 'dropped';
  }
}

function fateOfMember(pointer: string, context: Context): Fate {
  if (follows(pointer, context)) return 'served';
  return isRequirement(pointer) && !isEmpty(valueAt(context.card, pointer)) ? 'needed' : 'dropped';
}

/** Members that tell a caller what to show: `security` and 0.2's `authentication`, at the root or in a skill. */
const isRequirement = (pointer: string): boolean =>
  /^(?:\/skills\/\d+)?\/(?:security|authentication|securityRequirements|security_requirements)(?:\/|$)/.test(pointer);

/** Tells whether a 0.x member only repeats what covered 1.0 members say: SDK servers add these after signing. */
function follows(pointer: string, { card, left }: Context): boolean {
  const isCovered = (name: string): boolean =>
    !left.some((one) => one.pointer === `/${name}` || one.pointer.startsWith(`/${name}/`));
  switch (pointer) {
    case '/url':
    case '/preferredTransport':
    case '/additionalInterfaces':
      return isCovered('supportedInterfaces') && repeatsInterfaces(card);
    case '/protocolVersion':
      return (
        isCovered('supportedInterfaces') && repeatsInterfaces(card) && isPlainVersion(own(card, 'protocolVersion'))
      );
    case '/supportsAuthenticatedExtendedCard':
      return isCovered('capabilities') && repeatsExtended(card);
    case '/security':
      return isCovered('securityRequirements') && repeatsSecurity(card);
    default:
      return false;
  }
}

function repeatsInterfaces(card: JsonObject): boolean {
  const supported = supportedInterfaces(card);
  const legacy = legacyInterfaces(card);
  const isRepeated = legacy.every(
    (one) => supported.some((other) => other.url === one.url) && listsInterface(supported, one),
  );
  const additional = own(card, 'additionalInterfaces') ?? [];
  // An item with a third member would smuggle that member in.
  const isPlain =
    isArray(additional) &&
    additional.every(
      (item) => isObject(item) && Object.keys(item).every((name) => name === 'url' || name === 'transport'),
    );
  return legacy.length > 0 && isRepeated && isPlain;
}

const isPlainVersion = (version: Json | undefined): boolean =>
  typeof version === 'string' && /^0\.\d{1,3}(?:\.\d{1,3})?$/.test(version);

function repeatsExtended(card: JsonObject): boolean {
  const capabilities = readMember(card, 'capabilities');
  const modern = isObject(capabilities) ? readMember(capabilities, 'extendedAgentCard') : undefined;
  return typeof modern === 'boolean' && modern === own(card, 'supportsAuthenticatedExtendedCard');
}

function repeatsSecurity(card: JsonObject): boolean {
  const [legacy, modern] = [own(card, 'security'), readMember(card, 'securityRequirements')];
  return isArray(legacy) && isArray(modern) && sameRequirements(legacy, modern);
}

function coveredSchemes(card: JsonObject, left: readonly Left[]): ReadonlySet<string> {
  const schemes = readMember(card, 'securitySchemes');
  const lost = new Set(left.filter((one) => one.why === 'scheme').map((one) => one.scheme));
  const isWhollyLost = left.some((one) => one.pointer === '/securitySchemes' || one.pointer === '/security_schemes');
  return new Set(isObject(schemes) && !isWhollyLost ? Object.keys(schemes).filter((name) => !lost.has(name)) : []);
}

function requiredSchemes(card: JsonObject): ReadonlySet<string> {
  const skills = readMember(card, 'skills');
  const holders = [card, ...(isArray(skills) ? skills.filter(isObject) : [])];
  return new Set(
    holders
      .flatMap((holder) => [readMember(holder, 'securityRequirements'), readMember(holder, 'security')])
      .flatMap((list) => (isArray(list) ? list : []))
      .flatMap((one) => [...(readRequirement(one)?.schemes.keys() ?? [])]),
  );
}

/** A dropped object takes its members along; naming them too would say it twice. */
function outermost(pointers: readonly string[]): readonly string[] {
  const all = new Set(pointers);
  return [...all].filter((pointer) => !ancestors(pointer).some((ancestor) => all.has(ancestor)));
}

function ancestors(pointer: string): readonly string[] {
  const names = pointer.split('/').slice(1, -1);
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}

/** Copies a card without the members and items at these places, in the order that it has. */
export const withoutPointers = (card: JsonObject, pointers: ReadonlySet<string>): JsonObject =>
  copyObject(card, '', pointers);

function copyObject(object: JsonObject, place: string, pointers: ReadonlySet<string>): JsonObject {
  const kept = Object.entries(object).filter(([name]) => !pointers.has(pointerTo(place, name)));
  return objectOf(kept.map(([name, item]) => [name, copy(item, pointerTo(place, name), pointers)]));
}

function copy(value: Json, place: string, pointers: ReadonlySet<string>): Json {
  if (isObject(value)) return copyObject(value, place, pointers);
  if (!isArray(value)) return value;
  return value.flatMap((item, index) => {
    const at = pointerTo(place, index);
    return pointers.has(at) ? [] : [copy(item, at, pointers)];
  });
}

/** Finds what a JSON Pointer names; undefined where there is nothing. */
function valueAt(card: JsonObject, pointer: string): Json | undefined {
  let value: Json | undefined = card;
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    value = isObject(value) ? present(value, name) : isArray(value) ? value[Number(name)] : undefined;
  }
  return value;
}

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === '' || (isArray(value) && value.length === 0);
