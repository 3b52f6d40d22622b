import type { CardRule } from '../kernel/card-rule.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { type FormName, canonicalCard } from './canonical.ts';
import { type Interface, legacyInterfaces, supportedInterfaces } from './interfaces.ts';
import { type Json, type JsonObject, isArray, isObject, objectOf } from './json.ts';
import { type CarriedInterface, carried, carriedInterfaces } from './pick-interface.ts';
import { readText } from './schema/member-value.ts';
import { snakeName } from './schema/table.ts';
import { type CardVersion, majorMinor } from './version.ts';

/** Which interfaces stay in a card that is rewritten: those that can be carried, and, where it is said, that calls are sent on to. */
interface Kept extends Pick<CardRule, 'versions'> {
  readonly leads?: (one: CarriedInterface) => boolean;
}

function kept(one: Interface, rule: Kept): CarriedInterface | undefined {
  const read = carried(one, rule);
  return read !== undefined && (rule.leads?.(read) ?? true) ? read : undefined;
}

/** Refuses a card whose calls are to pass through Cardea, where it has no interface that Cardea can carry. */
export function refuseUncarried(card: JsonObject, rule: Pick<CardRule, 'versions' | 'route'>): Refusal | undefined {
  if (rule.route === 'direct' || carriedInterfaces(card, rule).length > 0) return undefined;
  return refuse(
    'interface-not-allowed',
    'The card names no JSONRPC or HTTP+JSON interface of an accepted version, which is what route: through can carry; write route: direct to serve it as it is.',
  );
}

/**
 * Makes the card that callers get where their calls pass through Cardea: every interface that can be carried has Cardea's own URL, the
 * others are left out, and so are the signatures, which are over other bytes. Everything else stays as the agent wrote it.
 * @param base where Cardea serves the agent, as the caller reaches it: `http://127.0.0.1:8642/agents/weather`.
 */
export function rewriteCard(card: JsonObject, base: string, rule: Kept): JsonObject {
  const legacy = legacyInterfaces(card).filter((one) => kept(one, rule) !== undefined);
  const members = Object.entries(card).map(([name, value]): [string, Json | undefined] => {
    switch (MEMBERS.get(name)) {
      case 'signatures':
        return [name, undefined];
      case 'supported':
        return [name, rewriteSupported(value, base, rule)];
      case 'url':
        return [name, legacy.length === 0 ? undefined : base];
      case 'transport':
        return [name, legacy[0]?.binding];
      case 'additional':
        return [name, rewriteAdditional(value, base, legacy)];
      case 'version':
        return [name, legacy.length > 0 || isSpoken(card, value, rule) ? value : undefined];
      case undefined:
        return [name, value];
    }
  });
  return objectOf([...members, ...missingTransport(card, legacy)]);
}

type Part = 'signatures' | 'supported' | 'url' | 'transport' | 'additional' | 'version';

/** Members that hold interfaces, under the names that JSON and protobuf give them. */
const MEMBERS: ReadonlyMap<string, Part> = new Map(
  (
    [
      ['signatures', 'signatures'],
      ['supportedInterfaces', 'supported'],
      ['url', 'url'],
      ['preferredTransport', 'transport'],
      ['additionalInterfaces', 'additional'],
      ['protocolVersion', 'version'],
    ] as const
  ).flatMap(([name, part]): [string, Part][] => [
    [name, part],
    [snakeName(name), part],
  ]),
);

/** A card that is silent means JSONRPC; where that is not what is carried, it must be said. */
function missingTransport(card: JsonObject, [main]: readonly Interface[]): readonly [string, Json][] {
  if (main === undefined || readText(card, 'preferredTransport') !== undefined || main.binding === 'JSONRPC') return [];
  return [['preferredTransport', main.binding]];
}

/** A version at the root speaks of the interfaces: once those of it are left out, it would contradict the ones that stay. */
function isSpoken(card: JsonObject, version: Json, rule: Kept): boolean {
  const declared = supportedInterfaces(card);
  const stays = (one: Interface): boolean => one.version === stated && kept(one, rule) !== undefined;
  const stated = typeof version === 'string' ? majorMinor(version) : undefined;
  return declared.length === 0 || declared.some(stays);
}

function rewriteSupported(value: Json, base: string, rule: Kept): Json | undefined {
  const listed = distinct(value, (item) => {
    const [read] = supportedInterfaces(objectOf([['supportedInterfaces', [item]]]));
    const one = read && kept(read, rule);
    return one && JSON.stringify([one.binding, one.version, one.tenant]);
  });
  return listed.length === 0 ? undefined : listed.map((item) => withUrl(item, base));
}

/**
 * "MUST NOT declare a different transport for the main URL" — 0.3 §5.6.3, unless the list names that one too: all of them have one URL
 * now, so the main one stands in the list where another does.
 */
function rewriteAdditional(value: Json, base: string, legacy: readonly Interface[]): Json | undefined {
  const [main, ...others] = legacy;
  if (main === undefined) return undefined;
  const wanted = new Set(legacy.map(({ binding }) => binding.toUpperCase()));
  const wantedItems = distinct(value, (item) => {
    const transport = readText(item, 'transport')?.toUpperCase();
    return transport !== undefined && wanted.has(transport) ? transport : undefined;
  });
  const isMain = (item: JsonObject): boolean =>
    readText(item, 'transport')?.toUpperCase() === main.binding.toUpperCase();
  const listed = wantedItems.map((item) => withUrl(item, base));
  if (others.length === 0 || listed.some(isMain)) return listed;
  return [
    objectOf([
      ['url', base],
      ['transport', main.binding],
    ]),
    ...listed,
  ];
}

/** Keeps the first object of each name; an object without a name is left out. */
function distinct(value: Json, nameOf: (item: JsonObject) => string | undefined): readonly JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const item of isArray(value) ? value : []) {
    const name = isObject(item) ? nameOf(item) : undefined;
    if (isObject(item) && name !== undefined && !found.has(name)) found.set(name, item);
  }
  return [...found.values()];
}

const withUrl = (item: JsonObject, base: string): JsonObject =>
  objectOf(Object.entries(item).map(([name, value]) => [name, name === 'url' ? base : value]));

/**
 * Chooses the forms that a rewritten card is signed in: the specification's, which covers most, and those of the SDKs that verify no
 * other; each text once.
 */
export function formsToSign(card: JsonObject, version: CardVersion): readonly FormName[] {
  const wanted: readonly FormName[] = version === '1.0' ? ['a2a-1.0', 'sdk-js'] : ['jcs', 'sdk-js', 'sdk-python-0.3'];
  const texts = new Map(wanted.map((form) => [canonicalCard(card, form).text, form] as const).toReversed());
  return wanted.filter((form) => texts.get(canonicalCard(card, form).text) === form);
}
