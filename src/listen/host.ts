import net from 'node:net';
import { type Refusal, refuse } from '../kernel/refusal.ts';

/** What the Host check compares with. */
export interface HostRule {
  /** Further names that the listener answers for, lower case. */
  readonly names: ReadonlySet<string>;
}

/**
 * Cuts a Host or `:authority` value down to what is compared: lower case, without port and trailing dot, IPv6 in brackets.
 * Undefined where it is no host at all.
 */
export function hostOf(authority: string): string | undefined {
  const found = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{0,5})?$/i.exec(authority);
  const host = found?.[1]?.toLowerCase();
  if (host === undefined) return undefined;
  return host.startsWith('[') || !host.endsWith('.') ? host : host.slice(0, -1);
}

/**
 * Refuses a request for a name that is none of ours, so that no web page reaches in by pointing its own name at this
 * address (DNS rebinding): only `localhost`, the address that the connection arrived on and configured names are ours.
 */
export function checkHost(host: string, localAddress: string | undefined, rule: HostRule): Refusal | undefined {
  if (host === 'localhost' || rule.names.has(host)) return undefined;
  if (localAddress !== undefined && sameAddress(host, localAddress)) return undefined;
  return refuse(
    'misdirected',
    `Host ${JSON.stringify(host)} is not served here; use localhost or the listener's address, or add it to listen.names.`,
  );
}

function sameAddress(host: string, local: string): boolean {
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  return net.isIP(literal) !== 0 && canonical(literal) === canonical(local);
}

/** One spelling per address; an IPv4 client of a dual-stack socket is seen as an IPv4-mapped address. */
function canonical(address: string): string {
  const unzoned = address.split('%', 1)[0] ?? '';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(unzoned)?.[1];
  if (mapped !== undefined) return mapped;
  return net.isIPv6(unzoned) ? new URL(`http://[${unzoned}]/`).hostname.slice(1, -1) : unzoned;
}
