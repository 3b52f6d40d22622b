import type { Writable } from 'node:stream';
import type { Answer } from '../kernel/answer.ts';
import type { ByteStream } from '../kernel/fields.ts';
import { hasContent, readAway } from './body.ts';
import { cutOff } from './cut-off.ts';
import { type Exchange, type Http1Exchange, isOver, sinkOf } from './exchange.ts';
import { type Head, isBodiless } from './head.ts';
import { abandon, flushed, pump, slices } from './pump.ts';
import { AT_ONCE, isShort, type WireForm, type WireForms, writeHead } from './wire-forms.ts';

/** How one answer is written. */
export interface Manner {
  /** True where the connection ends after this answer, on HTTP/1. */
  readonly closes: boolean;
  /** Longest time that the client may take nothing, in ms. */
  readonly writeTimeout: number;
  /** How long an unread request body is read away, in ms. */
  readonly linger: number;
  readonly wireForms: WireForms;
}

/**
 * Writes one answer. A short one is handed over whole, and may still have to be taken; else the promise resolves when it is written or
 * the client is gone. A body that breaks off breaks the connection or stream off, so that half an answer never looks like a whole one.
 * Throws, with nothing sent, where a field cannot be written.
 */
export function reply(exchange: Exchange, answer: Answer, manner: Manner): Promise<void> | undefined {
  if (isOver(exchange)) {
    abandon(answer.body);
    return undefined;
  }
  const method = exchange.request.method ?? '';
  const body = method === 'HEAD' || isBodiless(answer.status) ? null : answer.body;
  if (body === null) abandon(answer.body);
  // Where the next request starts is only known once this one's body is read.
  const unread = isUnread(exchange);
  const closes = manner.closes || unread;
  const form = begin(exchange, answer, { closes, ends: body === null, wireForms: manner.wireForms });
  // RFC 9112 §9.6: after "close" no further request on the connection is processed, or it would act without an answer.
  if (closes && exchange.protocol === 'http/1') exchange.endConnection();
  if (unread && exchange.protocol === 'http/1') return finishUnread(exchange, body, form.head, manner);
  if (body === null || isShort(body)) {
    endShort(exchange, body, form);
    return undefined;
  }
  return finishStream(exchange, body, form.head, manner);
}

const isUnread = (exchange: Exchange): boolean =>
  exchange.protocol === 'http/1' && !exchange.request.complete && hasContent(exchange);

/**
 * Ends an answer whose body is there. Under HTTP/1 it goes out as text of one character per byte: Node joins that with the head
 * into one write, where bytes are a second one.
 */
function endShort(exchange: Exchange, body: Uint8Array | null, form: WireForm): void {
  if (body === null || body.byteLength === 0) sinkOf(exchange).end();
  else if (exchange.protocol === 'http/2') exchange.stream.end(form.buffer());
  else exchange.response.end(form.text(), 'latin1');
}

/** Writes the head, or lets go of the body that nobody will read then. */
function begin(
  exchange: Exchange,
  answer: Answer,
  more: Parameters<typeof writeHead>[2] & Pick<Manner, 'wireForms'>,
): WireForm {
  try {
    const form = more.wireForms.of(answer, exchange.request.method ?? '');
    writeHead(exchange, form, more);
    return form;
  } catch (error) {
    abandon(answer.body);
    throw error;
  }
}

async function finishStream(
  exchange: Exchange,
  body: Uint8Array | ByteStream,
  head: Head,
  { writeTimeout }: Manner,
): Promise<void> {
  const sink = sinkOf(exchange);
  // A source may be silent for long before its first piece: the client learns at once that it is answered.
  if (exchange.protocol === 'http/1') exchange.response.flushHeaders();
  const written = await pumpBody(sink, body, head.length, writeTimeout);
  if (!written) return cutOff(exchange);
  sink.end();
  await finish(exchange, writeTimeout);
}

/** Answers a request whose body nobody has read to its end: the answer is out whole before the rest is read away. */
async function finishUnread(
  exchange: Http1Exchange,
  body: Uint8Array | ByteStream | null,
  head: Head,
  { writeTimeout, linger }: Manner,
): Promise<void> {
  const sink = sinkOf(exchange);
  if (isShort(body)) sink.write(body);
  else if (body !== null && !(await pumpBody(sink, body, head.length, writeTimeout))) return cutOff(exchange);
  else exchange.response.flushHeaders();
  if (!exchange.request.complete) await readAway(exchange, linger);
  sink.end();
  await finish(exchange, writeTimeout);
}

/** Waits for the end of what is handed over; a client that takes nothing for too long is let go. */
async function finish(exchange: Exchange, writeTimeout: number): Promise<void> {
  if (!(await flushed(sinkOf(exchange), writeTimeout))) cutOff(exchange);
}

/** Writes a body; false where it broke off, is not as long as stated, or the client went. */
async function pumpBody(
  sink: Writable,
  body: Uint8Array | ByteStream,
  length: number | undefined,
  writeTimeout: number,
): Promise<boolean> {
  const source = body instanceof Uint8Array ? slices(body, AT_ONCE) : body;
  const written = await pump(source, sink, { length, writeTimeout });
  return written !== undefined && (length === undefined || written === length);
}
