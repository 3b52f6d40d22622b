import type { Entry } from '../kernel/entry.ts';
import { type EpochMs, type Ms, type Seconds, ms, secondsToMs } from '../kernel/units.ts';
import type { Directives } from './cache-control.ts';
import { type Aged, currentAge, freshFor, ttlOf } from './freshness.ts';

/** How a stored response may be used for a request; `ttl` is what `Cache-Status` says, negative when stale. */
export type Reuse =
  | { readonly use: 'fresh'; readonly ttl: Seconds }
  /** Stale, served while a refresh runs (RFC 5861 §3). */
  | { readonly use: 'stale-while-revalidate'; readonly ttl: Seconds }
  /** Stale, and the caller's `max-stale` takes it so (RFC 9111 §5.2.1.2). */
  | { readonly use: 'stale-as-asked'; readonly ttl: Seconds }
  /** Only after the origin confirmed it. */
  | { readonly use: 'validate'; readonly ttl: Seconds };

/** A stored response and a request that selects it. */
export interface Asked {
  readonly entry: Entry;
  /** The caller's directives; `NO_DIRECTIVES` where callers have no say. */
  readonly request: Directives;
  readonly now: EpochMs;
}

/** Decides whether a stored response may answer a request without asking the origin (RFC 9111 §4). */
export function decideReuse({ entry, request, now }: Asked): Reuse {
  const left = freshFor(entry, now);
  const ttl = ttlOf(left);
  if (entry.lifetime.validateAlways || request.noCache) return { use: 'validate', ttl };
  if (left > 0) return { use: suits(entry, request, now) ? 'fresh' : 'validate', ttl };
  return { use: staleUse(entry, request, -left), ttl };
}

/**
 * Decides whether a stored response may stand in for an answer that failed (RFC 5861 §4).
 * @param status what the origin answered; null where no answer came.
 */
export function mayServeOnError({
  entry,
  now,
  status,
}: {
  readonly entry: Aged;
  readonly now: EpochMs;
  readonly status: number | null;
}): boolean {
  const { lifetime } = entry;
  // A 401, 403, 404 or 410 is the origin's word about this resource, not a failure to give it.
  if (status !== null && (status < 500 || status > 599)) return false;
  if (lifetime.validateAlways) return false;
  const left = freshFor(entry, now);
  return left > 0 || (!lifetime.mustRevalidate && isWithin(-left, lifetime.staleIfError));
}

/** How long past its freshness a response may be used while its origin fails; 0 for never. */
export const mayBeStaleFor = ({ lifetime }: Aged): Ms =>
  lifetime.validateAlways || lifetime.mustRevalidate ? ms(0) : lifetime.staleIfError;

/** Whether a fresh response is as young, and stays fresh as long, as the caller wants (RFC 9111 §5.2.1.1, §5.2.1.3). */
function suits(entry: Entry, request: Directives, now: EpochMs): boolean {
  if (request.minFresh !== null && freshFor(entry, now) < secondsToMs(request.minFresh)) return false;
  // A reload sends max-age=0; an immutable response need not be asked about while it is fresh (RFC 8246 §2).
  if (request.maxAge === null || entry.lifetime.immutable) return true;
  return request.maxAge > 0 && currentAge(entry, now) <= secondsToMs(request.maxAge);
}

function staleUse(entry: Entry, request: Directives, staleFor: number): Exclude<Reuse['use'], 'fresh'> {
  const { lifetime } = entry;
  if (lifetime.mustRevalidate) return 'validate';
  if (request.maxStale !== null) {
    const within = isWithin(staleFor, Math.min(secondsToMs(request.maxStale), longestStale(entry)));
    if (within && agesWithin(entry, request, staleFor)) return 'stale-as-asked';
  }
  // "the client does not wish to receive a stale response" where it says how old or how fresh it may be — RFC 9111 §5.2.1.1
  if (request.maxAge !== null || request.minFresh !== null) return 'validate';
  return isWithin(staleFor, lifetime.staleWhileRevalidate) ? 'stale-while-revalidate' : 'validate';
}

/** A window of 0 is none, not even for the moment at which freshness ends. */
const isWithin = (staleFor: number, window: number): boolean => window > 0 && staleFor <= window;

/** No caller may stretch staleness beyond what the origin and the policy's ceiling left of either window. */
const longestStale = ({ lifetime }: Entry): Ms =>
  lifetime.staleIfError > lifetime.staleWhileRevalidate ? lifetime.staleIfError : lifetime.staleWhileRevalidate;

const agesWithin = (entry: Entry, request: Directives, staleFor: number): boolean =>
  request.minFresh === null &&
  (request.maxAge === null || entry.lifetime.fresh + staleFor <= secondsToMs(request.maxAge));
