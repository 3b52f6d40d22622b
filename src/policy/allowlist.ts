import type { OriginPattern } from '../kernel/egress-rule.ts';

/** Tells whether a URL is on one of these origins: scheme, port and host, or exactly one label below a wildcard's host. */
export const isListed = (url: URL, patterns: readonly OriginPattern[]): boolean =>
  patterns.some((pattern) => covers(pattern, url));

const DEFAULT_PORT: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

function covers({ scheme, host, wildcard, port }: OriginPattern, url: URL): boolean {
  if (url.protocol !== `${scheme}:`) return false;
  if (String(port) !== (url.port === '' ? DEFAULT_PORT[url.protocol] : url.port)) return false;
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (!wildcard) return name === host;
  const dot = name.indexOf('.');
  return dot > 0 && name.slice(dot + 1) === host;
}
