import canonicalize from 'canonicalize';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { Interface, Listing } from './interfaces.ts';
import { interfaceUrl, listingOf } from './interfaces.ts';
import type { Json, JsonObject } from './json.ts';
import { isArray, isObject } from './json.ts';
import { readMember } from './schema/member-value.ts';
import { readRequirement } from './schema/requirements.ts';
import { majorMinor } from './version.ts';

/** Two members that say the same thing with different values: clients of different versions would see different agents. */
interface Contradiction {
  readonly members: readonly [string, string];
  readonly what: string;
}

/** Refuses a card whose 0.x members and 1.0 members disagree; naming both. Agreeing dual-version cards are fine. */
export function refuseContradiction(card: JsonObject, listing = listingOf(card)): Refusal | undefined {
  const found = contradictionOf(card, listing);
  if (found === undefined) return undefined;
  return refuse('card-ambiguous', `${found.members[0]} and ${found.members[1]} disagree: ${found.what}.`);
}

function contradictionOf(card: JsonObject, listing: Listing): Contradiction | undefined {
  return endpoints(card, listing) ?? version(card, listing) ?? extended(card) ?? security(card) ?? transports(listing);
}

/** Tells whether one interface list has this URL under this binding, whatever the version. */
export const listsInterface = (list: readonly Interface[], one: Interface): boolean =>
  list.some((other) => sameUrl(other, one) && sameBinding(other.binding, one.binding));

/** `url` and `additionalInterfaces` must be among `supportedInterfaces`, with their bindings. */
function endpoints(card: JsonObject, { supported, legacy }: Listing): Contradiction | undefined {
  if (supported.length === 0) return undefined;
  for (const one of legacy) {
    const at = supported.filter((other) => sameUrl(other, one));
    if (at.length === 0) {
      return { members: [one.pointer, '/supportedInterfaces'], what: 'the URL of the first is none of the second' };
    }
    const isSilent = one.pointer === '/url' && readMember(card, 'preferredTransport') === undefined;
    if (!isSilent && !listsInterface(at, one)) {
      const member = one.pointer === '/url' ? '/preferredTransport' : one.pointer.replace(/url$/, 'transport');
      return { members: [member, at[0]?.pointer ?? '/supportedInterfaces'], what: 'one URL with two bindings' };
    }
  }
  return undefined;
}

/**
 * `protocolVersion` speaks of `url`. Servers write `0.3.0` there for 0.x clients beside interfaces that are all 1.0; that is no
 * contradiction. A version at the root that no interface has is one where the root has no `url`, or where the root says 1.x, or
 * where the interface at that URL states another 0.x.
 */
function version(card: JsonObject, { supported, legacy }: Listing): Contradiction | undefined {
  const stated = readMember(card, 'protocolVersion');
  if (typeof stated !== 'string' || supported.length === 0) return undefined;
  const root = majorMinor(stated) ?? stated;
  if (supported.some((one) => one.version === root)) return undefined;
  const main = legacy.find((one) => one.pointer === '/url');
  const isForOldClients =
    root.startsWith('0.') &&
    main !== undefined &&
    !supported.some((one) => sameUrl(one, main) && one.version.startsWith('0.'));
  if (isForOldClients) return undefined;
  return { members: ['/protocolVersion', '/supportedInterfaces'], what: 'no interface has the version of the first' };
}

function extended(card: JsonObject): Contradiction | undefined {
  const capabilities = readMember(card, 'capabilities');
  const modern = isObject(capabilities) ? readMember(capabilities, 'extendedAgentCard') : undefined;
  const legacy = readMember(card, 'supportsAuthenticatedExtendedCard');
  if (typeof modern !== 'boolean' || typeof legacy !== 'boolean' || modern === legacy) return undefined;
  return {
    members: ['/supportsAuthenticatedExtendedCard', '/capabilities/extendedAgentCard'],
    what: 'one says true, the other false',
  };
}

function security(card: JsonObject): Contradiction | undefined {
  const [legacy, modern] = [readMember(card, 'security'), readMember(card, 'securityRequirements')];
  if (!isArray(legacy) || !isArray(modern) || sameRequirements(legacy, modern)) return undefined;
  return { members: ['/security', '/securityRequirements'], what: 'they require different things' };
}

/** 0.3 §5.6.3: additional interfaces must not declare another transport for the main URL than `preferredTransport`. */
function transports({ legacy }: Listing): Contradiction | undefined {
  const [main, ...more] = legacy;
  if (main?.pointer !== '/url') return undefined;
  const same = more.filter((one) => sameUrl(one, main));
  if (same.length === 0 || listsInterface(same, main)) return undefined;
  return {
    members: ['/preferredTransport', same[0]?.pointer.replace(/url$/, 'transport') ?? ''],
    what: 'one URL with two transports',
  };
}

/** Compares alternatives in whatever shape they are written; their order carries no meaning. */
export function sameRequirements(one: readonly Json[], other: readonly Json[]): boolean {
  const words = (list: readonly Json[]): string => list.map(requirementWords).toSorted().join();
  return words(one) === words(other);
}

function requirementWords(value: Json): string {
  const requirement = readRequirement(value);
  const schemes = [...(requirement?.schemes ?? [])].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return canonicalize(schemes.map(([name, scopes]): readonly Json[] => [name, scopes.toSorted()])) ?? '';
}

const sameUrl = (one: Interface, other: Interface): boolean =>
  one.url === other.url || (interfaceUrl(one)?.href ?? one.url) === (interfaceUrl(other)?.href ?? other.url);

/** 0.3 says transport, 1.0 says binding; the words are the same. */
const sameBinding = (one: string, other: string): boolean => one.toUpperCase() === other.toUpperCase();
