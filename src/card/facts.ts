import type { CardFacts } from '../kernel/entry.ts';
import type { CardRule } from '../kernel/card-rule.ts';
import { interfaceUrl, supportedInterfaces } from './interfaces.ts';
import { isObject } from './json.ts';
import type { NormalisedCard } from './normalise.ts';
import { readMember, readText } from './schema/member-value.ts';
import { KNOWN_VERSIONS } from './version.ts';

/** Bindings that A2A's own clients speak; a client picks the first interface that it can speak (A2A 1.0 §5.3). */
const SPOKEN = new Set(['JSONRPC', 'GRPC', 'HTTP+JSON']);

/** Reads from the 1.0 view what metrics, receipts and lists show of a card. */
export function factsOf(view: NormalisedCard, rule: Pick<CardRule, 'versions'>): CardFacts {
  const { card, version } = view;
  const isSpoken = (one: string): boolean =>
    KNOWN_VERSIONS.some((known) => known === one) && rule.versions.includes(one);
  const picked = supportedInterfaces(card).find(
    (one) => SPOKEN.has(one.binding.toUpperCase()) && isSpoken(one.version),
  );
  const url = picked === undefined ? undefined : interfaceUrl(picked);
  const capabilities = readMember(card, 'capabilities');
  return {
    name: readText(card, 'name') ?? '',
    version: readText(card, 'version') ?? '',
    protocolVersion: version,
    ...(url === undefined ? {} : { interfaceUrl: url.href }),
    extended: isObject(capabilities) && readMember(capabilities, 'extendedAgentCard') === true,
  };
}
