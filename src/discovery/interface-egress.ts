import type { EgressRule, OriginPattern } from '../kernel/egress-rule.ts';
import type { FaultCode } from '../kernel/faults.ts';
import type { Url } from '../kernel/ids.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import { isListed } from '../policy/allowlist.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';

/** Failures of one interface that say nothing about the next one. */
export const OF_ONE_INTERFACE: ReadonlySet<FaultCode> = new Set([
  'address-forbidden',
  'origin-not-allowed',
  'lookalike-origin',
  'dns-failed',
  'tls-failed',
  'origin-unreachable',
  'origin-timeout',
]);

/**
 * Derives the permission to dial an interface of an accepted card: exactly its origin, under the agent's address, cleartext and TLS
 * rules. A card that may name any host does not thereby open any host: there an origin that nobody wrote down is not dialled.
 */
export function interfaceEgress(
  agent: AgentRule,
  interfaceUrl: Url,
  rules: Pick<Rules, 'allowlist'>,
): Outcome<EgressRule> {
  const url = new URL(interfaceUrl);
  const { egress, card } = agent;
  if (card.interfaces === 'any' && !isListed(url, [...egress.allowed, ...rules.allowlist])) {
    return refused(
      refuse(
        'origin-not-allowed',
        `The card's interface is on ${url.origin}, which no agent and no rule names. To let calls go there, add { match: "${url.origin}", content: any } to origins.`,
      ),
    );
  }
  return accepted({ ...egress, allowed: [patternOf(url)] });
}

function patternOf({ protocol, hostname, port }: URL): OriginPattern {
  const scheme = protocol === 'http:' ? 'http' : 'https';
  const standard = scheme === 'http' ? 80 : 443;
  return {
    scheme,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    wildcard: false,
    port: port === '' ? standard : Number(port),
  };
}
