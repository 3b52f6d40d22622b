import net from 'node:net';
import { type Refusal, refuse } from '../kernel/refusal.ts';

/** What the Host check compares with. */
export interface HostRule {
  /** No web page can dial a socket in the file system, so there every host is taken, and none must be named. */
  readonly over: 'tcp' | 'unix';
  /** Further names that the listener answers for, lower case. */
  readonly names: ReadonlySet<string>;
}

const HIGHEST_PORT = 65_535;

/**
 * Cuts a Host or `:authority` value down to what is compared: lower case, without port and trailing dot, IPv6 in brackets.
 * Undefined where it is no host at all.
 */
export function hostOf(authority: string): string | undefined {
  const found = /^(?:(\[[0-9a-f:.]+)(?:%[\w.~%-]+)?\]|([a-z0-9._-]+))(?::(\d{0,5}))?$/i.exec(authority);
  if (found === null) return undefined;
  const [, literal, name, port = ''] = found;
  if (Number(port) > HIGHEST_PORT) return undefined;
  // A zone names an interface of the client's machine: it says nothing here (RFC 6874 §1).
  if (literal !== undefined) return `${literal.toLowerCase()}]`;
  const host = name?.toLowerCase() ?? '';
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

/**
 * Refuses a request for a name that is none of ours, so that no web page reaches in by pointing its own name at this
 * address (DNS rebinding): only `localhost`, the address that the connection arrived on and configured names are ours.
 */
export function checkHost(host: string, localAddress: string | undefined, rule: HostRule): Refusal | undefined {
  if (rule.over === 'unix' || isOwnName(host, localAddress, rule)) return undefined;
  return refuse(
    'misdirected',
    `Host ${JSON.stringify(host)} is not served here; use localhost or the listener's address, or add it to listen.names.`,
  );
}

/** Tells whether an authority that passed the check leads to this listener and to nothing else. */
export function isOwnAuthority(
  authority: string,
  localPort: number | undefined,
  { over, scheme }: HostRule & { readonly scheme: 'http' | 'https' },
): boolean {
  if (over === 'unix') return authority === '' || authority === 'localhost';
  const written = /:(\d+)$/.exec(authority)?.[1];
  return Number(written ?? (scheme === 'https' ? 443 : 80)) === localPort;
}

/** Tells whether a name means this listener. */
export const isOwnName = (
  host: string,
  localAddress: string | undefined,
  { names }: Pick<HostRule, 'names'>,
): boolean =>
  host === 'localhost' || names.has(host) || (localAddress !== undefined && sameAddress(host, localAddress));

function sameAddress(host: string, local: string): boolean {
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  // Spelled alike, as nearly always, there is nothing to take apart: what the system calls an address is one.
  if (literal === local) return true;
  return net.isIP(literal) !== 0 && canonical(literal) === canonical(local);
}

/** One spelling per address; an IPv4 client of a dual-stack socket is seen as an IPv4-mapped address. */
function canonical(address: string): string {
  const unzoned = address.split('%', 1)[0] ?? '';
  if (!net.isIPv6(unzoned)) return unzoned;
  const shortest = new URL(`http://[${unzoned}]/`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(shortest);
  if (mapped === null) return shortest;
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
