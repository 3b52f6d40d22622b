import { type FieldReader, fieldValue, withField, withoutFields } from '../http/fields.ts';
import { freshFor, initialAge, lifetimeOf, ttlOf } from '../http/freshness.ts';
import { invalidatedUrls } from '../http/invalidation.ts';
import { combineParts, type Held, heldBytes } from '../http/parts.ts';
import { storable } from '../http/storable.ts';
import { mergeNotModified, selectForUpdate, updateFromHead } from '../http/validation.ts';
import { variantKey, varyNames } from '../http/vary.ts';
import type { Entry } from '../kernel/entry.ts';
import type { ByteStream, Fields } from '../kernel/fields.ts';
import type { Generation } from '../kernel/ids.ts';
import type { EpochMs, Seconds } from '../kernel/units.ts';
import type { Limits } from '../policy/rules.ts';
import type { Clock, Fetcher, Ledger, Observer, Store, StreamedResponse } from '../ports.ts';
import { joinBytes } from './bytes.ts';
import { anyKey, originTags } from './key.ts';
import { isBodiless } from './origin-answer.ts';
import type { OriginRequest } from './origin-request.ts';
import type { Stops } from './stops.ts';

export interface OriginDoors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly observer: Observer;
  readonly limits: () => Limits;
  readonly stops: Stops;
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

/** What a 304 has confirmed, and whether it is stored. */
export interface Confirmed {
  readonly entry: Entry;
  readonly stored: boolean;
}

/**
 * A 304 for the stored responses that were asked about: those that it names are stored anew with what it says (RFC 9111 §4.3.4), and
 * the first is the answer. Undefined where it is of several and names none.
 */
export async function validate(
  doors: OriginDoors,
  exchange: OriginExchange,
  entries: readonly Entry[],
): Promise<Confirmed | undefined> {
  const { response } = exchange;
  const named = selectForUpdate(entries, response.fields);
  const [first = entries.length === 1 ? entries[0] : undefined, ...more] = named;
  if (first === undefined) return undefined;
  // A 304 that names another validator still says that the one response asked about can be reused, but nothing in it describes these
  // bytes (§4.3.3).
  const fields = named.length > 0 ? response.fields : withoutFields(response.fields, VALIDATORS);
  for (const entry of more)
    await keepNamed(doors, exchange, { before: entry, confirmed: merged(exchange, entry, fields) });
  return keepConfirmed(doors, exchange, first, merged(exchange, first, fields));
}

function merged({ request, requestedAt, receivedAt, generation }: OriginExchange, entry: Entry, fields: Fields): Entry {
  const parts = mergeNotModified(entry, { fields, requestedAt, receivedAt }, request.rule.cache);
  return { ...entry, ...parts, generation };
}

/** What else the 304 names stays the answer to the requests it was the answer to, unless it may not be kept any more. */
async function keepNamed(
  doors: OriginDoors,
  { request }: OriginExchange,
  pair: { before: Entry; confirmed: Entry },
): Promise<void> {
  const { before, confirmed } = pair;
  await (mayBeKept(request, confirmed, NO_FIELDS) ? doors.store.put(confirmed) : doors.store.drop(before));
}

/** Whether RFC 9111 §3 lets a confirmed response be stored, as the answer to a request with these fields. */
const mayBeKept = ({ rule }: OriginRequest, { status, fields }: Entry, requestFields: FieldReader): boolean =>
  storable({ method: 'GET', status, fields, policy: rule.cache, requestFields }).store;

/** It is this request's from now on, by whatever its Vary says now, unless it may not be kept any more. */
async function keepConfirmed(
  doors: OriginDoors,
  { request }: OriginExchange,
  before: Entry,
  confirmed: Entry,
): Promise<Confirmed> {
  const vary = varyNames(confirmed.fields);
  const entry = { ...confirmed, vary, variant: variantKey(vary, request.read) };
  if (!mayBeKept(request, entry, NO_FIELDS)) {
    await doors.store.drop(before);
    return { entry, stored: false };
  }
  // What only this caller forbids leaves the stored response as it was.
  if (!mayBeKept(request, entry, request.read)) return { entry, stored: false };
  // Confirmed for another request too, it is both requests' answer; under another Vary its old place is nobody's.
  if (vary.join() !== before.vary.join()) await doors.store.drop(before);
  else if (entry.variant !== before.variant) await doors.store.put(confirmed);
  return { entry, stored: await doors.store.put(entry) };
}

const NO_FIELDS = (): undefined => undefined;

const VALIDATORS: ReadonlySet<string> = new Set(['etag', 'last-modified']);

/** A HEAD tells whether the stored GET response is still the one (RFC 9111 §4.3.5). */
export async function updateByHead(doors: OriginDoors, exchange: OriginExchange, entry: Entry): Promise<void> {
  const { request, response, requestedAt, receivedAt, generation } = exchange;
  const { status, fields } = response;
  const verdict = updateFromHead(entry, { status, fields, requestedAt, receivedAt }, request.rule.cache);
  if (verdict.stored === 'outdated') await doors.store.drop(entry);
  if (verdict.stored === 'updated') await doors.store.put({ ...entry, ...verdict.parts, generation });
}

/** Takes out what a successful unsafe request has changed (RFC 9111 §4.4). */
export async function invalidate(doors: OriginDoors, exchange: OriginExchange): Promise<void> {
  const { request, response } = exchange;
  const { method, url } = request;
  for (const changed of invalidatedUrls({ method, url, status: response.status, fields: response.fields })) {
    for (const entry of doors.store.peek(anyKey(request.rule, changed))) await doors.store.drop(entry);
  }
}

/** What passes, and whether it is kept while it does. */
export interface Passing {
  readonly passing: StreamedResponse;
  readonly stored: boolean;
  readonly ttl?: Seconds;
}

/**
 * Passes a response on and, where RFC 9111 §3 allows, keeps what passes; it is stored once it has arrived whole.
 * @param over called once: with true when it is stored, with false as soon as it is known that it will not be.
 */
export async function keepPassing(
  doors: OriginDoors,
  exchange: OriginExchange,
  over: (stored: boolean) => void,
): Promise<Passing> {
  const { request, response, receivedAt } = exchange;
  const { status, fields } = response;
  const { method, read, url } = request;
  const decision = storable({ method, requestFields: read, status, fields, policy: request.rule.cache, url });
  if (!decision.store) {
    over(false);
    return { passing: response, stored: false };
  }
  const draft = draftOf(exchange);
  const ttl = ttlOf(freshFor(draft, receivedAt));
  const store = async (body: Uint8Array): Promise<void> => {
    const entry = completed(doors, { ...draft, body });
    over(entry !== undefined && (await doors.store.put(entry)));
  };
  if (isBodiless(status)) {
    await store(new Uint8Array());
    return { passing: response, stored: true, ttl };
  }
  const keeping = { announced: announcedLength(fields), done: store, givenUp: () => over(false) };
  return { passing: { ...response, body: keep(response.body, keeping) }, stored: true, ttl };
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

/**
 * What is stored of an arrived response: a part joins the parts that are there (RFC 9111 §3.4), and never takes the place of a
 * whole that is still the same. Undefined where nothing is gained by storing it.
 */
function completed(doors: OriginDoors, arrived: Entry): Entry | undefined {
  if (arrived.status !== 206) return arrived;
  const held = heldBytes(arrived);
  const before = doors.store.peek(arrived.key).find((entry) => entry.variant === arrived.variant);
  if (held === undefined || before?.status === 200) return undefined;
  const earlier = before && heldBytes(before);
  const joined = earlier && combineParts({ fields: before.fields, held: earlier }, { fields: arrived.fields, held });
  return joined === undefined ? arrived : partOrWhole(arrived, joined);
}

function partOrWhole(arrived: Entry, { span, complete, body }: Held): Entry {
  const fields = withoutFields(arrived.fields, OF_THE_PART);
  if (span.first === 0 && complete === body.byteLength) return { ...arrived, status: 200, fields, body };
  const range = `bytes ${span.first}-${span.last}/${complete ?? '*'}`;
  return { ...arrived, fields: withField(fields, 'Content-Range', range), body };
}

const OF_THE_PART: ReadonlySet<string> = new Set(['content-range', 'content-length']);

interface Keeping {
  /** The length that the response announces: with its last byte it is stored, before a caller can ask for it again. */
  readonly announced: number | undefined;
  /** Takes what came whole. */
  done(kept: Uint8Array): Promise<void>;
  /** Hears that nothing will be kept: too large, broken off, or the reader left. */
  givenUp(): void;
}

/** Hands every chunk on at once and keeps what passes. */
async function* keep(body: ByteStream, { announced, done, givenUp }: Keeping): ByteStream {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let settled = false;
  const settle = async (whole: boolean): Promise<void> => {
    if (settled) return;
    settled = true;
    await (whole ? done(joinBytes(chunks, length)) : givenUp());
  };
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > LARGEST_STORED) {
        chunks.length = 0;
        await settle(false);
      } else chunks.push(chunk);
      if (length === announced) await settle(true);
      yield chunk;
    }
    await settle(true);
  } finally {
    await settle(false);
  }
}

const announcedLength = (fields: Fields): number | undefined => {
  const written = fieldValue(fields, 'content-length');
  return written === undefined ? undefined : Number(written);
};
