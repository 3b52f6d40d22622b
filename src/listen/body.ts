import type { ByteStream } from '../kernel/fields.ts';
import { type Exchange, type Http1Exchange, isOver, sourceOf } from './exchange.ts';
import { readField } from './request-fields.ts';

/** Methods whose request has no content here: no meaning is defined for it, and hidden requests travel in it (RFC 9110 §9.3.1). */
const WITHOUT_CONTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'TRACE', 'CONNECT']);

/** Says whether a request that may have no content has some. HTTP/2 streams left open without a length carry none that is read. */
export function hasForbiddenContent({ protocol, request }: Exchange): boolean {
  if (!WITHOUT_CONTENT.has(request.method ?? '')) return false;
  const length = readField(request.rawHeaders, 'content-length');
  if (length !== undefined && length !== '0') return true;
  return protocol === 'http/1' && readField(request.rawHeaders, 'transfer-encoding') !== undefined;
}

/** Gives the request's body, or null where it has none. */
export function bodyOf(exchange: Exchange): ByteStream | null {
  if (WITHOUT_CONTENT.has(exchange.request.method ?? '') || !hasContent(exchange)) return null;
  return { [Symbol.asyncIterator]: () => readBody(exchange) };
}

/** RFC 9112 §6.3: a request has a body exactly when it says how long it is; on HTTP/2 END_STREAM says so. */
export function hasContent(exchange: Exchange): boolean {
  if (exchange.protocol === 'http/2') return !exchange.stream.endAfterHeaders;
  const { request } = exchange;
  const length = readField(request.rawHeaders, 'content-length');
  if (length !== undefined && length !== '0') return true;
  return readField(request.rawHeaders, 'transfer-encoding') !== undefined;
}

/** "100 (Continue)" is sent when someone wants the body, not before (RFC 9110 §10.1.1). */
function readBody(exchange: Exchange): AsyncIterator<Uint8Array> {
  if (exchange.expects === 'continue' && !isOver(exchange)) writeContinue(exchange);
  // Who stops reading still wants to answer: destroying the request would take the connection away.
  return sourceOf(exchange).iterator({ destroyOnReturn: false });
}

function writeContinue(exchange: Exchange): void {
  if (exchange.protocol === 'http/2') exchange.stream.additionalHeaders({ ':status': 100 });
  else exchange.response.writeContinue();
}

/**
 * Reads away what is left of a body that nobody wants, for a moment: a connection closed on unread bytes is reset, and the reset can
 * overtake the answer (RFC 9112 §9.6).
 * @param limit in ms.
 */
export function readAway({ request }: Http1Exchange, limit: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, limit).unref();
    request.once('end', done).once('close', done).resume();
  });
}
