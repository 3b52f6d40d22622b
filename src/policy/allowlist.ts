import type { OriginPattern } from '../kernel/egress-rule.ts';
import { DEFAULT_PORT, matchOrigin } from '../kernel/origins.ts';

/** Tells whether a URL, as a card writes it, is on one of these origins. */
export function isListed(url: URL, patterns: readonly OriginPattern[]): boolean {
  const { protocol, hostname, port } = url;
  if (protocol !== 'https:' && protocol !== 'http:') return false;
  const scheme = protocol === 'https:' ? 'https' : 'http';
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return matchOrigin({ scheme, host, port: port === '' ? DEFAULT_PORT[scheme] : Number(port) }, patterns) !== undefined;
}
