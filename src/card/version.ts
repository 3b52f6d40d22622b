import type { CardRule } from '../kernel/card-rule.ts';
import { accepted, type Outcome, refuse, refused } from '../kernel/refusal.ts';
import type { JsonObject } from './json.ts';
import { isArray, isObject, present, quote } from './json.ts';
import { CARD_0_2, CARD_0_3, LEGACY_ROOT } from './schema/a2a-0.3.ts';
import { CARD_1_0 } from './schema/a2a-1.0.ts';
import { readMember } from './schema/member-value.ts';
import type { Message } from './schema/table.ts';
import { row } from './schema/table.ts';

/** The A2A versions whose cards are read here, oldest first. */
export const KNOWN_VERSIONS = ['0.2', '0.3', '1.0'] as const;
export type CardVersion = (typeof KNOWN_VERSIONS)[number];

/** A 1.0 card may carry the 0.x members besides, for older clients: then they must be well-formed, and none is required. */
const DUAL: Message = {
  ...CARD_1_0,
  members: [...CARD_1_0.members, ...LEGACY_ROOT.map(({ name, kind, change }) => row(name, kind, change))],
};

const TABLES: Readonly<Record<CardVersion, Message>> = { '0.2': CARD_0_2, '0.3': CARD_0_3, '1.0': DUAL };

/** The field table that a card of this version is read by. */
export const tableOf = (version: CardVersion): Message => TABLES[version];

/** Cuts a version to Major.Minor, compared as numbers (A2A 1.0 §3.6): `1.0.0`, `1.0` and `1` are one; undefined where it is none. */
export function majorMinor(version: string): string | undefined {
  if (isKnown(version)) return version;
  const parts = /^(\d{1,3})(?:\.(\d{1,3})(?:\.[0-9A-Za-z.+-]{1,32})?)?$/.exec(version);
  return parts === null ? undefined : `${Number(parts[1])}.${Number(parts[2] ?? 0)}`;
}

/** Says which version a card is written in: by what it states, else by its shape. */
export function recogniseVersion(card: JsonObject, rule: Pick<CardRule, 'versions'>): Outcome<CardVersion> {
  const interfaces = readMember(card, 'supportedInterfaces');
  if (isArray(interfaces)) return byInterfaces(card, interfaceVersions(interfaces), rule);
  const stated = readMember(card, 'protocolVersion');
  if (typeof stated !== 'string') return known(versionByShape(card), rule);
  return known(majorMinor(stated) ?? stated, rule);
}

/**
 * A 1.0 card speaks the versions that its interfaces state. One of them is enough; the others are of no use here and are left to
 * clients that know them. A card that also has 0.x members is read by these where only 0.x is accepted.
 */
function byInterfaces(
  card: JsonObject,
  versions: readonly string[],
  rule: Pick<CardRule, 'versions'>,
): Outcome<CardVersion> {
  const isUsable = (version: string): boolean => isKnown(version) && rule.versions.includes(version);
  if (rule.versions.includes('1.0') && (versions.length === 0 || versions.some(isUsable))) return accepted('1.0');
  if (typeof readMember(card, 'url') === 'string') {
    const stated = readMember(card, 'protocolVersion');
    const version = typeof stated === 'string' ? (majorMinor(stated) ?? stated) : versionByShape(card);
    if (version !== '1.0' && isUsable(version)) return known(version, rule);
  }
  return unsupported(versions.length === 0 ? ['1.0'] : versions, rule);
}

/** An interface without a version is of the card's own: 1.0. */
const interfaceVersions = (interfaces: readonly unknown[]): readonly string[] =>
  interfaces.flatMap((item) => {
    if (!isJsonObject(item)) return [];
    const stated = readMember(item, 'protocolVersion');
    return [typeof stated === 'string' && stated !== '' ? (majorMinor(stated) ?? stated) : '1.0'];
  });

const isJsonObject = (item: unknown): item is JsonObject =>
  typeof item === 'object' && item !== null && !Array.isArray(item);

/** Members that 0.3 brought; a card with none of them and no version is read as 0.2. */
const SINCE_0_3 = ['preferredTransport', 'additionalInterfaces', 'signatures'];

function versionByShape(card: JsonObject): CardVersion {
  const isLegacy = LEGACY_ROOT.some(({ name }) => readMember(card, name) !== undefined);
  if (!isLegacy) return '1.0';
  return SINCE_0_3.some((name) => readMember(card, name) !== undefined) ? '0.3' : '0.2';
}

const isKnown = (version: string): version is CardVersion => KNOWN.has(version);

const KNOWN: ReadonlySet<string> = new Set(KNOWN_VERSIONS);

function known(version: string, rule: Pick<CardRule, 'versions'>): Outcome<CardVersion> {
  return isKnown(version) && rule.versions.includes(version) ? accepted(version) : unsupported([version], rule);
}

function unsupported(found: readonly string[], rule: Pick<CardRule, 'versions'>) {
  const stated = [...new Set(found)].slice(0, 8).map(quote).join(', ');
  const taken = rule.versions.filter(isKnown).join(', ');
  return refused(refuse('unsupported-version', `The card is for A2A ${stated}; accepted here are ${taken}.`));
}

/** Names the member that holds a card inside another document, for the message about it. */
export function wrapperOf(document: JsonObject): string | undefined {
  const wraps = (name: string): boolean => {
    const inner = present(document, name);
    return (
      isObject(inner) &&
      present(inner, 'name') !== undefined &&
      ['url', 'supportedInterfaces', 'skills'].some((one) => present(inner, one) !== undefined)
    );
  };
  return ['agentCard', 'agent_card', 'card', 'agent', 'result', 'data'].find(wraps);
}
