import type http2 from 'node:http2';
import type { Ask } from '../kernel/ask.ts';
import type { Fields } from '../kernel/fields.ts';
import type { ListenerName } from '../kernel/ids.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { Incoming, Outgoing } from './front.ts';
import { type HostRule, checkHost, hostOf } from './host.ts';

/** What a listener knows of itself when it reads a request. */
export interface AskContext extends HostRule {
  readonly listener: ListenerName;
  readonly scheme: 'http' | 'https';
}

/** Targets are short here; a longer one is an attack on somebody's memory. */
const LONGEST_TARGET = 8 * 1024;
/** Fields that may stand once only: two of them are two readings of one request. */
const SINGLE = ['host', 'authorization', 'proxy-authorization', 'content-length', 'content-type'] as const;

/** Reads one request of either protocol, checked as HTTP and by its Host, or says what is wrong with it. */
export function readAsk(request: Incoming, response: Outgoing, context: AskContext): Outcome<Ask> {
  const fields = fieldsOf(request);
  const target = request.url ?? '';
  const wrong = wrongTarget(request.method ?? '', target) ?? doubled(fields);
  if (wrong !== undefined) return refused(wrong);
  const authority = authorityOf(request);
  if (!authority.ok) return authority;
  const host = hostOf(authority.value);
  if (host === undefined) return refused(refuse('bad-request', 'The Host field is no host.'));
  const misdirected = checkHost(host, request.socket.localAddress, context);
  if (misdirected !== undefined) return refused(misdirected);
  return accepted(
    askOf(request, response, {
      fields,
      target,
      host,
      base: `${context.scheme}://${authority.value}`,
      listener: context.listener,
    }),
  );
}

type Read = Pick<Ask, 'fields' | 'target' | 'host' | 'base' | 'listener'>;

function askOf(request: Incoming, response: Outgoing, read: Read): Ask {
  const { headers } = request;
  let controller: AbortController | undefined;
  return {
    ...read,
    method: request.method ?? 'GET',
    field(name) {
      const value = headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body: hasBody(request) ? request : null,
    signal() {
      if (controller === undefined) controller = abortsWithClient(response);
      return controller.signal;
    },
  };
}

function abortsWithClient(response: Outgoing): AbortController {
  const controller = new AbortController();
  const abort = (): void => {
    if (!response.writableFinished) controller.abort(new Error('the client left'));
  };
  if (response.destroyed) abort();
  else response.once('close', abort);
  return controller;
}

/** RFC 9112 §6.3: a request has a body exactly when it says how long it is. HTTP/2 says by END_STREAM. */
function hasBody(request: Incoming): boolean {
  if (request.httpVersionMajor === 2) return !(request as http2.Http2ServerRequest).stream.endAfterHeaders;
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** All field lines but HTTP/2's pseudo-fields. */
function fieldsOf(request: Incoming): Fields {
  const raw = request.rawHeaders;
  if (request.httpVersionMajor < 2) return raw;
  const fields: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (!name.startsWith(':')) fields.push(name, raw[at + 1] ?? '');
  }
  return fields;
}

function authorityOf(request: Incoming): Outcome<string> {
  const host = request.headers.host;
  if (request.httpVersionMajor === 2) {
    const authority = (request as http2.Http2ServerRequest).authority || undefined;
    if (authority !== undefined && host !== undefined && host !== authority) {
      return refused(refuse('bad-request', ':authority and Host name different hosts.'));
    }
    const named = authority ?? host;
    return named === undefined ? refused(refuse('bad-request', ':authority is missing.')) : accepted(named);
  }
  return host === undefined ? refused(refuse('bad-request', 'The Host field is missing.')) : accepted(host);
}

/** Only origin-form is a target here; it is never decoded or resolved (RFC 9112 §3.2). */
function wrongTarget(method: string, target: string): Refusal | undefined {
  if (method === 'CONNECT')
    return refuse('method-not-allowed', 'Cardea is no tunnel: it must see what it serves.', {
      allow: ['GET', 'HEAD', 'POST'],
    });
  if (method === 'TRACE')
    return refuse('method-not-allowed', 'TRACE would show fields to whoever asks.', { allow: ['GET', 'HEAD', 'POST'] });
  if (target.length > LONGEST_TARGET)
    return refuse('request-too-large', `The target is longer than ${LONGEST_TARGET} bytes.`, { status: 414 });
  if (!target.startsWith('/')) return refuse('bad-request', 'The request-target must be a path that starts with "/".');
  // The fragment never travels, and other bytes than these are no part of a target (RFC 3986 §2).
  if (!/^[\x21\x22\x24-\x7e]+$/.test(target))
    return refuse('bad-request', 'The request-target has a character that a target cannot have.');
  return undefined;
}

function doubled(fields: Fields): Refusal | undefined {
  const seen = new Set<string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = (fields[at] ?? '').toLowerCase();
    if (!SINGLE.some((single) => single === name)) continue;
    if (seen.has(name)) return refuse('bad-request', `The field ${name} stands twice.`);
    seen.add(name);
  }
  return undefined;
}
