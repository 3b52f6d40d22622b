import type { OutgoingHttpHeaders } from 'node:http2';
import type { Answer } from '../kernel/answer.ts';
import type { Fields } from '../kernel/fields.ts';
import { validateHeaderName, validateHeaderValue } from './node-http.ts';

/** Fields of one connection: never handed on, and errors on HTTP/2 (RFC 9113 §8.2.2). */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'te',
  'trailer',
]);
/** Fields of which Node writes one only on HTTP/2 and throws at a second; the first one counts, as most readers have it. */
const SINGLE_ON_HTTP2: ReadonlySet<string> = new Set(
  `access-control-allow-credentials access-control-max-age access-control-request-method age authorization content-encoding
  content-language content-length content-location content-md5 content-range content-type date dnt etag expires from host
  if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards
  proxy-authorization range referer retry-after tk upgrade-insecure-requests user-agent x-content-type-options`.split(
    /\s+/,
  ),
);
/** The largest status that HTTP/2 can carry in Node. */
const LARGEST_STATUS = 599;

/** What is written before the body. */
export interface Head {
  readonly status: number;
  /** Handed to Node as it is, which reads it alone. */
  readonly fields: string[];
  readonly hasDate: boolean;
  /** The length that is stated, where one is. */
  readonly length: number | undefined;
}

/** "A server MUST NOT send a Content-Length header field in any response with a status code of … 204" — RFC 9110 §8.6; 304 likewise here. */
const WITHOUT_LENGTH: ReadonlySet<number> = new Set([204, 304]);
/** RFC 9110 §15.3.6: 205 has no content either, and says so with a length. */
export const isBodiless = (status: number): boolean => WITHOUT_LENGTH.has(status) || status === 205;

/** Makes the head of an answer: its own fields without those of a connection, and the one length that is true. */
export function headOf({ status, fields, body }: Answer, method: string): Head {
  // An interim status is no answer: the client would take whatever comes next for it.
  if (!Number.isInteger(status) || status < 200 || status > 999) throw new RangeError('no final status');
  const kept: string[] = [];
  const said: string[] = [];
  let hasDate = false;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] ?? '';
    const value = fields[at + 1] ?? '';
    const lower = name.toLowerCase();
    if (OF_THE_CONNECTION.has(lower)) continue;
    if (lower === 'date') hasDate = true;
    if (lower === 'content-length') said.push(value);
    else kept.push(name, value);
  }
  const length = lengthOf(status, body, method, said);
  if (length !== undefined) kept.push('Content-Length', String(length));
  return { status, fields: kept, hasDate, length };
}

/** The fields without those that frame a message or belong to one connection: an interim response has no content. */
export function withoutFraming(fields: Fields): Fields {
  const kept: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] ?? '';
    const lower = name.toLowerCase();
    if (!OF_THE_CONNECTION.has(lower) && lower !== 'content-length') kept.push(name, fields[at + 1] ?? '');
  }
  return kept;
}

/** The body's own length where it is there, whatever its fields say; else what they say, if they say one thing. */
function lengthOf(status: number, body: Answer['body'], method: string, said: Fields): number | undefined {
  if (WITHOUT_LENGTH.has(status)) return undefined;
  if (status === 205) return 0;
  if (body instanceof Uint8Array) return body.byteLength;
  if (body === null && method !== 'HEAD') return 0;
  // A HEAD without a body says nothing of the length that GET would have.
  const [first] = said;
  if (first === undefined || !/^\d{1,15}$/.test(first) || said.some((each) => each !== first)) return undefined;
  return Number(first);
}

/**
 * Node's HTTP/2 takes fields as a record; names come from origins, so it has no prototype to hit. It lets line ends in values pass,
 * which become fields of their own where a gateway turns the answer into HTTP/1 (RFC 9113 §10.3).
 */
export function recordOf(status: number, fields: Fields): OutgoingHttpHeaders {
  const record: Record<string, string | string[] | number> = Object.create(null);
  record[':status'] = Math.min(status, LARGEST_STATUS);
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = (fields[at] ?? '').toLowerCase();
    const value = fields[at + 1] ?? '';
    validateHeaderName(name);
    validateHeaderValue(name, value);
    const before = record[name];
    if (before === undefined) record[name] = value;
    else if (Array.isArray(before)) before.push(value);
    else if (!SINGLE_ON_HTTP2.has(name)) record[name] = [String(before), value];
  }
  return record;
}

/** The same as names and values in turn. */
export function linesOf(status: number, fields: Fields): string[] {
  const lines = Object.entries(recordOf(status, fields));
  return lines.flatMap(([name, value]) => [value].flat().flatMap((each) => [name, String(each)]));
}
