import { formatAddress } from '../kernel/listen-address.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { Connection } from './connection.ts';
import type { Exchange } from './exchange.ts';
import { type HostRule, checkHost, hostOf, isOwnName } from './host.ts';
import type { Target } from './target.ts';

/** What a listener knows of itself when it reads whom a request is for. */
export interface AuthorityContext extends HostRule {
  readonly scheme: 'http' | 'https';
  /** True where callers may use the listener as their HTTP proxy. */
  readonly isProxy: boolean;
}

/** The authorities that a request has besides its target. */
export interface Said {
  readonly host: string | undefined;
  /** HTTP/2's `:authority`. */
  readonly authority: string | undefined;
}

/** Whom a request is for, checked. */
export interface Addressed {
  readonly host: string;
  readonly proxied: string | null;
  /** Host and port by which the caller reached this listener. */
  readonly reached: string;
  readonly base: string;
}

/** What a connection's latest request with a path as its target said, and what came of it. */
export interface KnownAuthority {
  readonly said: Said;
  readonly context: AuthorityContext;
  readonly outcome: Outcome<Addressed>;
}

/** Reads whom a request is for; what the connection's latest request came to holds for one that says the same. */
export function readAuthority(
  exchange: Exchange,
  target: Target,
  said: Said,
  context: AuthorityContext,
): Outcome<Addressed> {
  if (target.authority !== undefined) return address(exchange, target, said, context);
  const { connection } = exchange;
  const known = connection.authority;
  if (known !== undefined && known.context === context && isSame(known.said, said)) return known.outcome;
  const outcome = address(exchange, target, said, context);
  connection.authority = { said, context, outcome };
  return outcome;
}

const isSame = (one: Said, other: Said): boolean => one.host === other.host && one.authority === other.authority;

function address(exchange: Exchange, target: Target, said: Said, context: AuthorityContext): Outcome<Addressed> {
  const { connection } = exchange;
  const authority = authorityOf(exchange, target.authority, said, context);
  if (!authority.ok) return authority;
  const host = authority.value === '' ? '' : hostOf(authority.value);
  if (host === undefined) return refused(refuse('bad-request', 'The host that the request names is no host.'));
  const proxied = proxiedTo(connection, target, host, context);
  const misdirected = proxied === null ? checkHost(host, connection.localAddress, context) : undefined;
  if (misdirected !== undefined) return refused(misdirected);
  const reached = proxied !== null || authority.value === '' ? addressOf(connection) : authority.value;
  return accepted({ host, proxied, reached, base: `${context.scheme}://${reached}` });
}

/** RFC 9112 §3.2.2 and RFC 9113 §8.3.1: the target's own authority counts, and where HTTP/2 has two they must be one. */
function authorityOf(
  { protocol }: Exchange,
  named: string | undefined,
  { host, authority }: Said,
  { over }: HostRule,
): Outcome<string> {
  if (protocol === 'http/2' && named !== undefined) return refused(refuse('bad-request', ':path must be a path.'));
  if (authority !== undefined && host !== undefined && host !== authority) {
    return refused(refuse('bad-request', ':authority and Host name different hosts.'));
  }
  const said = authority ?? host;
  if (said !== undefined) return accepted(named ?? said);
  if (over === 'unix') return accepted(named ?? '');
  const missing = protocol === 'http/2' ? ':authority is missing.' : 'The Host field is missing.';
  return refused(refuse('bad-request', missing));
}

type Local = Pick<Connection, 'localAddress' | 'localPort'>;

/** The address that a connection arrived on, for a request that does not say by which name it found this listener. */
function addressOf({ localAddress, localPort }: Local): string {
  if (localAddress === undefined || localPort === undefined) return 'localhost';
  return formatAddress({ kind: 'tcp', host: localAddress.replace(/^::ffff:/, ''), port: localPort });
}

/**
 * Says where an absolute-form target leads if not here: "Absolute-form is judged by its target alone", so that neither Host nor the
 * name under which the proxy was found matters. A port of its own leads elsewhere even on this machine.
 */
function proxiedTo(
  { localAddress, localPort }: Local,
  { authority }: Target,
  host: string,
  context: AuthorityContext,
): string | null {
  if (!context.isProxy || authority === undefined) return null;
  const [, port] = /:(\d+)$/.exec(authority) ?? [];
  const isHere = (port === undefined || Number(port) === localPort) && isOwnName(host, localAddress, context);
  return isHere ? null : authority;
}
