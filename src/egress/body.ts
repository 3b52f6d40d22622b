import { pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Fields } from '../kernel/fields.ts';
import type { ArrivingBody } from './arriving.ts';
import { RefusalError, refuse } from '../kernel/refusal.ts';
import type { Bytes } from '../kernel/units.ts';
import { tokensOf, valuesOf } from './message-fields.ts';

/** One answer's body, on the wire. */
export interface WireBody {
  readonly stream: ArrivingBody;
  readonly fields: Fields;
  readonly status: number;
  /** Whom it comes from, for messages. */
  readonly from: string;
  /** The largest decoded size; 0 for no bound. */
  readonly limit: Bytes;
  /** Hears that bytes have come. */
  readonly touch: () => void;
}

/** A body read whole; `complete` says that the connection may carry another exchange. */
export interface ReadBody {
  readonly bytes: Uint8Array;
  readonly complete: boolean;
}

// Gzip's worst case on data that does not compress is a few bytes per 32 KiB; beyond this the extra is padding that says nothing.
const CODING_SLACK = 65_536;

type Coding = 'identity' | 'gzip' | 'br';

/** Reads a body within its bound, coding undone while it flows, so that a bomb costs no more than the bound. */
export async function readBody(body: WireBody): Promise<ReadBody> {
  // An error's status matters more than its page: what does not fit or cannot be read is left out, not refused.
  const lenient = body.status < 200 || body.status > 299;
  const coding = codingOf(body.fields);
  if (coding === null) return lenient ? leave(body) : reject(body, unknownCoding(body));
  if (coding === 'identity' && declaresMore(body)) return lenient ? leave(body) : reject(body, tooLarge(body));
  return collect(body, coding, lenient);
}

function leave(body: WireBody): ReadBody {
  body.stream.destroy();
  return { bytes: new Uint8Array(), complete: false };
}

function reject(body: WireBody, error: RefusalError): never {
  leave(body);
  throw error;
}

/** "gzip" and "br" are what was asked for; two codings, or any other, are not undone (a stack multiplies what a bomb can do). */
function codingOf(fields: Fields): Coding | null {
  const codings = tokensOf(fields, 'content-encoding').filter((coding) => coding !== 'identity');
  const [first, ...more] = codings;
  if (more.length > 0) return null;
  switch (first) {
    case undefined:
      return 'identity';
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'br':
      return 'br';
    default:
      return null;
  }
}

const declaresMore = (body: WireBody): boolean =>
  body.limit > 0 && valuesOf(body.fields, 'content-length').some((length) => Number(length) > body.limit);

async function collect(body: WireBody, coding: Coding, lenient: boolean): Promise<ReadBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of coding === 'identity' ? wire(body) : decode(body, coding)) {
    size += chunk.length;
    if (body.limit > 0 && size > body.limit) {
      if (!lenient) reject(body, tooLarge(body));
      leave(body);
      return { bytes: joined(chunks), complete: false };
    }
    chunks.push(chunk);
  }
  return { bytes: joined(chunks), complete: true };
}

/** In memory of its own: `Buffer.concat` takes what is small from a pool, of which one card that is kept keeps all 64 KiB. */
function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

async function* wire(body: WireBody): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body.stream) {
    body.touch();
    size += chunk.length;
    if (body.limit > 0 && size > body.limit + CODING_SLACK) throw tooLarge(body);
    yield chunk;
  }
}

async function* decode(body: WireBody, coding: Exclude<Coding, 'identity'>): AsyncGenerator<Uint8Array> {
  const source = wire(body);
  const first = await source.next();
  // "Content-Encoding: gzip" on nothing at all is common (HEAD, 204, empty error pages) and means nothing.
  if (first.done) return;
  const decoder = coding === 'gzip' ? createGunzip() : createBrotliDecompress();
  const input = async function* (): AsyncGenerator<Uint8Array> {
    yield first.value;
    yield* source;
  };
  const failed = new Promise<Error | null>((resolve) => {
    pipeline(input, decoder, (error) => resolve(error ?? null));
  });
  try {
    yield* decoder as AsyncIterable<Uint8Array>;
  } catch (error) {
    const cause = (await failed) ?? error;
    throw isDecoderError(cause) ? undecodable(body, coding, cause) : cause;
  } finally {
    decoder.destroy();
  }
}

const isDecoderError = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  /^(Z_|ERR_(_?BROTLI|ZLIB)|ERR__)/.test(error.code);

const tooLarge = ({ from, limit }: WireBody): RefusalError =>
  new RefusalError(refuse('card-too-large', `The answer of ${from} is larger than ${limit} bytes (limits.cardBytes).`));

const unknownCoding = ({ from, fields }: WireBody): RefusalError =>
  new RefusalError(
    refuse(
      'card-content-type',
      `${from} codes its answer as "${tokensOf(fields, 'content-encoding').join(', ').slice(0, 64)}"; gzip or br was asked for.`,
    ),
  );

const undecodable = ({ from }: WireBody, coding: Coding, cause: unknown): RefusalError =>
  new RefusalError(
    refuse('origin-unreachable', `The ${coding} body of ${from} is damaged or cut short.`, {
      proxyError: 'http_protocol_error',
    }),
    cause,
  );
