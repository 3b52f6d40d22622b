import type { Ask } from '../kernel/ask.ts';
import type net from 'node:net';
import type { ListenerName } from '../kernel/ids.ts';
import { formatAddress } from '../kernel/listen-address.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { bodyOf, hasForbiddenContent } from './body.ts';
import { type Exchange, sinkOf } from './exchange.ts';
import { writeInterim } from './interim.ts';
import { type HostRule, checkHost, hostOf, isOwnAuthority, isOwnName } from './host.ts';
import type { FindPeer } from './peer.ts';
import { fieldsOf, readField, wrongFields } from './request-fields.ts';
import { type Target, readTarget } from './target.ts';

/** What a listener knows of itself when it reads a request. */
export interface AskContext extends HostRule {
  readonly listener: ListenerName;
  readonly scheme: 'http' | 'https';
  /** Longest names and values together, in bytes. */
  readonly headBytes: number;
  readonly peerOf: FindPeer;
  /** True where callers may use the listener as their HTTP proxy. */
  readonly isProxy: boolean;
}

/** Reads one request of either protocol, checked as HTTP and by its host, or says what is wrong with it. */
export function readAsk(exchange: Exchange, context: AskContext): Outcome<Ask> {
  const { request } = exchange;
  const fields = fieldsOf(exchange);
  const wrong = wrongMessage(exchange) ?? wrongFields(fields, context.headBytes);
  if (wrong !== undefined) return refused(wrong);
  const method = request.method ?? '';
  const target = readTarget(method, request.url ?? '');
  if (!target.ok) return target;
  const authority = authorityOf(exchange, target.value.authority, context);
  if (!authority.ok) return authority;
  const host = authority.value === '' ? '' : hostOf(authority.value);
  if (host === undefined) return refused(refuse('bad-request', 'The host that the request names is no host.'));
  const proxied = proxiedTo(exchange, target.value, host, context);
  const misdirected = proxied === null ? checkHost(host, request.socket.localAddress, context) : undefined;
  if (misdirected !== undefined) return refused(misdirected);
  const reached = proxied !== null || authority.value === '' ? addressOf(request.socket) : authority.value;
  return accepted({
    listener: context.listener,
    base: `${context.scheme}://${reached}`,
    ownsBase: () => isOwnAuthority(reached, request.socket.localPort, context),
    proxied,
    method,
    target: target.value.path,
    host,
    peer: context.peerOf(exchange),
    fields,
    field: (name) => readField(fields, name),
    body: bodyOf(exchange),
    interim: (interim) => writeInterim(exchange, interim),
    signal: lazily(() => abortsWithClient(exchange)),
  });
}

/** What can be wrong with the message around target and fields. */
function wrongMessage(exchange: Exchange): Refusal | undefined {
  const { request, expects } = exchange;
  if (expects === 'unknown') return refuse('bad-request', 'Expect may say 100-continue only.', { status: 417 });
  if (exchange.protocol === 'http/2') {
    const scheme = request.headers[':scheme'];
    if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
      return refuse('bad-request', ':scheme must be http or https.');
    }
  } else {
    const wrong = wrongFraming(request.httpVersion, request.headers['transfer-encoding']);
    if (wrong !== undefined) return wrong;
  }
  return hasForbiddenContent(exchange)
    ? refuse('bad-request', `A ${request.method} request has no content here.`)
    : undefined;
}

/** Node's parser reads bytes that call themselves HTTP/0.9 or HTTP/2.0, and codings that two readers can disagree about. */
function wrongFraming(version: string, coding: string | undefined): Refusal | undefined {
  if (version !== '1.1' && version !== '1.0') return refuse('bad-request', 'Only HTTP/1.1, 1.0 and 2 are spoken here.');
  if (coding === undefined) return undefined;
  // "A server … that receives an HTTP/1.0 message containing a Transfer-Encoding … MUST treat the message as if the framing is
  // faulty" — RFC 9112 §6.1.
  if (version === '1.0') return refuse('bad-request', 'HTTP/1.0 has no Transfer-Encoding.');
  return coding.toLowerCase() === 'chunked' ? undefined : refuse('bad-request', 'The only transfer coding is chunked.');
}

/** RFC 9112 §3.2.2 and RFC 9113 §8.3.1: the target's own authority counts, and where HTTP/2 has two they must be one. */
function authorityOf({ protocol, request }: Exchange, named: string | undefined, { over }: HostRule): Outcome<string> {
  const { host } = request.headers;
  const authority = protocol === 'http/2' ? request.headers[':authority'] : undefined;
  if (protocol === 'http/2' && named !== undefined) return refused(refuse('bad-request', ':path must be a path.'));
  if (authority !== undefined && host !== undefined && host !== authority) {
    return refused(refuse('bad-request', ':authority and Host name different hosts.'));
  }
  const said = protocol === 'http/2' ? (authority ?? host) : host;
  if (said !== undefined) return accepted(named ?? said);
  if (over === 'unix') return accepted(named ?? '');
  const missing = protocol === 'http/2' ? ':authority is missing.' : 'The Host field is missing.';
  return refused(refuse('bad-request', missing));
}

/** The address that a connection arrived on, for a request that does not say by which name it found this listener. */
function addressOf({ localAddress, localPort }: Pick<net.Socket, 'localAddress' | 'localPort'>): string {
  if (localAddress === undefined || localPort === undefined) return 'localhost';
  return formatAddress({ kind: 'tcp', host: localAddress.replace(/^::ffff:/, ''), port: localPort });
}

/**
 * Says where an absolute-form target leads if not here: "Absolute-form is judged by its target alone", so that neither Host nor the
 * name under which the proxy was found matters. A port of its own leads elsewhere even on this machine.
 */
function proxiedTo({ request }: Exchange, { authority }: Target, host: string, context: AskContext): string | null {
  if (!context.isProxy || authority === undefined) return null;
  const { localAddress, localPort } = request.socket;
  const [, port] = /:(\d+)$/.exec(authority) ?? [];
  const isHere = (port === undefined || Number(port) === localPort) && isOwnName(host, localAddress, context);
  return isHere ? null : authority;
}

function abortsWithClient(exchange: Exchange): AbortSignal {
  const controller = new AbortController();
  const sink = sinkOf(exchange);
  const abort = (): void => {
    if (!sink.writableFinished) controller.abort(new Error('the client left'));
  };
  if (sink.destroyed) abort();
  else sink.once('close', abort);
  return controller.signal;
}

/** Makes a value when it is first asked for: most requests are answered before anyone wants to know that they ended. */
function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
