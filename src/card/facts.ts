import type { CardFacts } from '../kernel/entry.ts';
import type { CardRule } from '../kernel/card-rule.ts';
import type { Interface } from './interfaces.ts';
import { interfaceUrl, supportedInterfaces } from './interfaces.ts';
import type { JsonObject } from './json.ts';
import { isObject } from './json.ts';
import { normaliseCard } from './normalise.ts';
import { readMember, readText } from './schema/member-value.ts';
import { type CardVersion, KNOWN_VERSIONS } from './version.ts';

/** Bindings that A2A's own clients speak; a client picks the first interface that it can speak (A2A 1.0 §5.3). */
const SPOKEN = new Set(['JSONRPC', 'GRPC', 'HTTP+JSON']);

/** Reads of an accepted card, in the words of its 1.0 view, what metrics, receipts and lists show of it. */
export function factsOf(card: JsonObject, version: CardVersion, rule: Pick<CardRule, 'versions'>): CardFacts {
  const isSpoken = (one: string): boolean =>
    KNOWN_VERSIONS.some((known) => known === one) && rule.versions.includes(one);
  const picked = modernInterfaces(card, version).find(
    (one) => SPOKEN.has(one.binding.toUpperCase()) && isSpoken(one.version),
  );
  const url = picked === undefined ? undefined : interfaceUrl(picked);
  return {
    name: readText(card, 'name') ?? '',
    version: readText(card, 'version') ?? '',
    protocolVersion: version,
    ...(url === undefined ? {} : { interfaceUrl: url.href }),
    extended: isExtended(card),
  };
}

/** What a card lists for 1.0 is the same in its view; what it says for 0.x alone is read as the view says it. */
function modernInterfaces(card: JsonObject, version: CardVersion): readonly Interface[] {
  const listed = supportedInterfaces(card);
  return listed.length > 0 ? listed : supportedInterfaces(normaliseCard(card, version).card);
}

/** The 1.0 member counts where both are set. */
function isExtended(card: JsonObject): boolean {
  const capabilities = readMember(card, 'capabilities');
  const modern = isObject(capabilities) ? readMember(capabilities, 'extendedAgentCard') : undefined;
  return (modern ?? readMember(card, 'supportsAuthenticatedExtendedCard')) === true;
}
