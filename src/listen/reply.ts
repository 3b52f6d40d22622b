import type http2 from 'node:http2';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Answer } from '../kernel/answer.ts';
import type { Fields } from '../kernel/fields.ts';
import type { Incoming, Outgoing } from './front.ts';

/** Fields of one connection: never handed on, and errors on HTTP/2 (RFC 9113 §8.2.2). */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
]);

/**
 * Writes one answer. Resolves when it is written or the client is gone; a body that breaks off breaks the connection off, so that
 * half an answer never looks like a whole one.
 */
export async function reply(request: Incoming, response: Outgoing, answer: Answer, closing: boolean): Promise<void> {
  if (response.destroyed || response.headersSent) return;
  const { status, body } = answer;
  const bodiless = request.method === 'HEAD' || status === 204 || status === 304;
  writeHead(request, response, answer, closing);
  if (body === null || bodiless) {
    response.end();
    if (body !== null && !(body instanceof Uint8Array)) await stopReading(body);
    return;
  }
  if (body instanceof Uint8Array) {
    response.end(body);
    return;
  }
  try {
    await pipeline(body, response as Writable);
  } catch {
    cutOff(request, response);
  }
}

function writeHead(request: Incoming, response: Outgoing, answer: Answer, closing: boolean): void {
  const head: string[] = [];
  let hasDate = false;
  let hasLength = false;
  const { fields } = answer;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] ?? '';
    const lower = name.toLowerCase();
    if (OF_THE_CONNECTION.has(lower)) continue;
    if (lower === 'date') hasDate = true;
    if (lower === 'content-length') hasLength = true;
    head.push(name, fields[at + 1] ?? '');
  }
  response.sendDate = !hasDate;
  if (!hasLength && answer.body instanceof Uint8Array && answer.status !== 204 && answer.status !== 304) {
    head.push('Content-Length', String(answer.body.byteLength));
  } else if (!hasLength && answer.body === null && answer.status !== 204 && answer.status !== 304) {
    head.push('Content-Length', '0');
  }
  if (request.httpVersionMajor === 2) {
    (response as http2.Http2ServerResponse).writeHead(answer.status, asRecord(head));
    return;
  }
  if (closing) head.push('Connection', 'close');
  (response as import('node:http').ServerResponse).writeHead(answer.status, head);
}

/** HTTP/2's compatibility layer takes a record; repeated names become lists. */
function asRecord(fields: Fields): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = {};
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = (fields[at] ?? '').toLowerCase();
    const value = fields[at + 1] ?? '';
    const before = record[name];
    record[name] = before === undefined ? value : [before, value].flat();
  }
  return record;
}

async function stopReading(body: AsyncIterable<Uint8Array>): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

function cutOff(request: Incoming, response: Outgoing): void {
  if (request.httpVersionMajor === 2) {
    const { stream } = response as http2.Http2ServerResponse;
    // RST_STREAM with INTERNAL_ERROR: a clean END_STREAM would make half an answer a whole one.
    if (!stream.destroyed) stream.close(0x2);
    return;
  }
  response.destroy();
}
