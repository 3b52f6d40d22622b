import { fieldValue } from '../http/fields.ts';
import { freshFor, initialAge, lifetimeOf, ttlOf } from '../http/freshness.ts';
import { invalidatedUrls } from '../http/invalidation.ts';
import { storable } from '../http/storable.ts';
import { mergeNotModified, selectForUpdate } from '../http/validation.ts';
import { variantKey, varyNames } from '../http/vary.ts';
import type { Entry } from '../kernel/entry.ts';
import type { ByteStream } from '../kernel/fields.ts';
import type { Generation } from '../kernel/ids.ts';
import type { EpochMs, Seconds } from '../kernel/units.ts';
import type { Limits } from '../policy/rules.ts';
import type { Clock, Fetcher, Observer, Store, StreamedResponse } from '../ports.ts';
import { anyKey, originTags } from './key.ts';
import type { OriginRequest } from './origin-request.ts';

export interface OriginDoors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly store: Store;
  readonly observer: Observer;
  readonly limits: () => Limits;
}

/** One answered request to an origin. */
export interface OriginExchange {
  readonly request: OriginRequest;
  readonly response: StreamedResponse;
  readonly generation: Generation;
  readonly requestedAt: EpochMs;
  readonly receivedAt: EpochMs;
}

/** Larger responses pass through without being kept: one of them would push out what many callers use. */
const LARGEST_STORED = 8 * 1024 * 1024;

/** A 304 for a stored response: it is stored anew with what the 304 says, or undefined where it validates something else (§4.3.4). */
export async function validate(doors: OriginDoors, exchange: OriginExchange, entry: Entry): Promise<Entry | undefined> {
  const { request, response, requestedAt, receivedAt, generation } = exchange;
  if (selectForUpdate([entry], response.fields).length === 0) return undefined;
  const merged = mergeNotModified(entry, { fields: response.fields, requestedAt, receivedAt }, request.rule.cache);
  const validated: Entry = { ...entry, ...merged, requestedAt, receivedAt, generation };
  await doors.store.put(validated);
  return validated;
}

/** Takes out what a successful unsafe request has changed (RFC 9111 §4.4). */
export async function invalidate(doors: OriginDoors, exchange: OriginExchange): Promise<void> {
  const { request, response } = exchange;
  for (const url of invalidatedUrls({
    method: request.method,
    url: request.url,
    status: response.status,
    fields: response.fields,
  })) {
    for (const entry of doors.store.peek(anyKey(request.rule.name, url))) await doors.store.drop(entry);
  }
}

/** Passes a response on and, where RFC 9111 §3 allows, keeps what passes; it is stored once it has arrived whole. */
export function keepPassing(
  doors: OriginDoors,
  exchange: OriginExchange,
): { readonly response: StreamedResponse; readonly stored: boolean; readonly ttl?: Seconds } {
  const { request, response } = exchange;
  const decision = storable({
    method: request.method,
    requestFields: request.read,
    status: response.status,
    fields: response.fields,
    policy: request.rule.cache,
  });
  if (!decision.store || request.method !== 'GET') return { response, stored: false };
  const draft = draftOf(exchange);
  const body = keep(response.body, (kept) => doors.store.put({ ...draft, body: kept }));
  return { response: { ...response, body }, stored: true, ttl: ttlOf(freshFor(draft, exchange.receivedAt)) };
}

function draftOf(exchange: OriginExchange): Omit<Entry, 'body'> {
  const { request, response, requestedAt, receivedAt, generation } = exchange;
  const { fields, status } = response;
  const vary = varyNames(fields);
  return {
    key: request.key,
    variant: variantKey(vary, request.read),
    vary,
    agent: null,
    url: request.url,
    status,
    fields,
    etag: fieldValue(fields, 'etag') ?? null,
    requestedAt,
    receivedAt,
    initialAge: initialAge({ fields, requestedAt, receivedAt }),
    lifetime: lifetimeOf({ status, fields, receivedAt }, request.rule.cache),
    admission: null,
    generation,
    tags: originTags(request.url),
  };
}

/** Hands every chunk on at once; what came whole and is not too large is given to `done`. A reader that stops early keeps nothing. */
async function* keep(body: ByteStream, done: (kept: Uint8Array) => Promise<unknown>): ByteStream {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length <= LARGEST_STORED) chunks.push(chunk);
    else chunks.length = 0;
    yield chunk;
  }
  if (length <= LARGEST_STORED) await done(join(chunks, length));
}

function join(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
