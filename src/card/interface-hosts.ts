import type { CardRule } from '../kernel/card-rule.ts';
import { suffixed } from '../kernel/public-suffix.ts';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import type { Interface } from './interfaces.ts';
import { interfaceUrl } from './interfaces.ts';
import { quote } from './json.ts';

/** Where a card came from, and what its agent's rules allow it to point at. */
export interface Neighbourhood {
  readonly cardUrl: URL;
  readonly rule: Pick<CardRule, 'interfaces' | 'cleartext'>;
  /** Tells whether a URL is on the allowlist. */
  readonly isAllowed: (url: URL) => boolean;
}

/** Three bindings of four versions for a few tenants; each is compared with each other, so a list of thousands would cost minutes. */
const MAX_INTERFACES = 64;

/** Refuses a card with more interfaces than an agent has, before anything looks at them in pairs. */
export function refuseCrowd(interfaces: readonly Interface[]): Refusal | undefined {
  if (interfaces.length <= MAX_INTERFACES) return undefined;
  return refuse('card-invalid', `The card names ${interfaces.length} interfaces; at most ${MAX_INTERFACES} are read.`);
}

/**
 * Refuses a card that sends callers elsewhere than its agent may be. A card that names a stranger's host is an attack on the
 * caller's token: the caller sends it there, over a connection that verifies.
 */
export function refuseInterfaces(interfaces: readonly Interface[], where: Neighbourhood): Refusal | undefined {
  for (const one of interfaces) {
    const refusal = refuseInterface(one, where);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function refuseInterface(one: Interface, where: Neighbourhood): Refusal | undefined {
  const url = interfaceUrl(one);
  if (url === undefined) {
    return refuse(
      'card-invalid',
      `${one.pointer}: an interface needs an absolute https URL without user and password; found ${quote(one.url)}.`,
    );
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refuse('card-invalid', `${one.pointer}: an interface is https; found ${quote(url.protocol)}.`);
  }
  if (url.protocol === 'http:' && !where.rule.cleartext) {
    return refuse(
      'interface-not-allowed',
      `${one.pointer}: the interface is http; serve it by https, or set unsafeCleartext for the agent.`,
    );
  }
  if (fits(url, where)) return undefined;
  const { interfaces } = where.rule;
  return refuse(
    'interface-not-allowed',
    `${one.pointer}: ${quote(url.host)} does not fit interfaces: ${interfaces} for a card of ${quote(where.cardUrl.host)}.`,
  );
}

function fits(url: URL, { cardUrl, rule, isAllowed }: Neighbourhood): boolean {
  switch (rule.interfaces) {
    case 'any':
      return true;
    case 'same-origin':
      return url.origin === cardUrl.origin;
    case 'allowed':
      return url.origin === cardUrl.origin || isAllowed(url);
    case 'same-site':
      return isSameSite(url.hostname, cardUrl.hostname) || isAllowed(url);
  }
}

/**
 * The same host, or the same registrable domain by the Public Suffix List with its private section. A name under no listed suffix
 * (`weather.ns1.svc.cluster.local`, a single label, an address) has no site: there the next name may be anyone's.
 */
export function isSameSite(one: string, other: string): boolean {
  const [a, b] = [withoutDot(one), withoutDot(other)];
  if (a === b) return true;
  const { site } = suffixed(a);
  return site !== null && site === suffixed(b).site;
}

const withoutDot = (host: string): string => (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase();
