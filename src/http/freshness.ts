import type { CachePolicy } from '../kernel/cache-policy.ts';
import type { Lifetime } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import {
  between,
  type EpochMs,
  epochMs,
  later,
  type Ms,
  ms,
  type Seconds,
  seconds,
  secondsToMs,
} from '../kernel/units.ts';
import { clampSeconds, type Directives } from './cache-control.ts';
import { fieldLines } from './fields.ts';
import { parseHttpDate } from './http-date.ts';
import { isHeuristicallyCacheable } from './statuses.ts';
import { type Applied, responseDirectives } from './targeted.ts';

/** The only file that compares times: age and lifetime of responses (RFC 9111 §4.2), and what they allow. */

/** A response and the two instants that its age is reckoned from. */
export interface Received {
  readonly fields: Fields;
  readonly requestedAt: EpochMs;
  readonly receivedAt: EpochMs;
}

/** `corrected_initial_age` (RFC 9111 §4.2.3). Clocks that disagree never make it negative. */
export function initialAge({ fields, requestedAt, receivedAt }: Received): Ms {
  const date = dateOf(fields, receivedAt);
  // Date counts whole seconds, so it is held against the whole second of its arrival.
  const apparentAge = between(date, wholeSecond(receivedAt));
  const responseDelay = Math.max(0, between(requestedAt, receivedAt));
  return ms(Math.max(0, apparentAge, secondsToMs(parseAge(fields)) + responseDelay));
}

/** `current_age`. A clock that was set back does not make a response younger than it arrived. */
export const currentAge = (entry: { readonly initialAge: Ms; readonly receivedAt: EpochMs }, now: EpochMs): Ms =>
  ms(entry.initialAge + Math.max(0, between(entry.receivedAt, now)));

/** Says how long an entry stays fresh from now on; zero or negative = stale for so long. */
export const freshFor = (entry: Aged, now: EpochMs): Ms => ms(entry.lifetime.fresh - currentAge(entry, now));

/** What an entry's freshness depends on. */
export interface Aged {
  readonly initialAge: Ms;
  readonly receivedAt: EpochMs;
  readonly lifetime: Lifetime;
}

/** Seconds of freshness left as `Cache-Status` writes them, so that `ttl` is the lifetime less `Age`; negative when stale. */
export const ttlOf = (left: Ms): Seconds => seconds(Math.ceil(left / 1000) + 0);

/** A response whose lifetime is wanted. */
export interface Dated {
  readonly status: number;
  readonly fields: Fields;
  readonly receivedAt: EpochMs;
  /** True where the request carried credentials: then a lifetime that nobody stated is none. */
  readonly hadAuthorization?: boolean;
}

/** Works out how long a response may be used: what it says itself, else the defaults, under the ceilings of the policy. */
export function lifetimeOf(response: Dated, policy: CachePolicy): Lifetime {
  const applied = responseDirectives(response.fields);
  const { directives } = applied;
  const mustRevalidate = forbidsStale(directives) || response.status >= 400 || policy.maxStale <= 0;
  const windows = mustRevalidate ? NEVER_STALE : staleWindows(directives, policy);
  return {
    fresh: freshLifetime(response, applied, policy),
    ...windows,
    validateAlways: directives.noCache,
    mustRevalidate,
    immutable: directives.immutable,
  };
}

/** Says whether the response states a lifetime: then it may be stored whatever its status is. */
export const hasExplicitLifetime = (fields: Fields): boolean => statesLifetime(responseDirectives(fields), fields);

/** The same where its directives are read already. */
export const statesLifetime = ({ directives, targeted }: Applied, fields: Fields): boolean => {
  const stated = directives.sMaxage ?? directives.maxAge;
  return stated !== null || (!targeted && fieldLines(fields, 'expires').length > 0);
};

/** The Date of a response, else when it arrived (RFC 9110 §6.6.1). */
export const dateOf = (fields: Fields, receivedAt: EpochMs): EpochMs =>
  singleDate(fields, 'date', receivedAt) ?? receivedAt;

/**
 * Says whether Last-Modified is a strong validator (RFC 9110 §8.8.2.2): at least a second before Date, so that nothing can have
 * changed within the second that it names.
 */
export function isStrongDate(fields: Fields): boolean {
  const modified = singleDate(fields, 'last-modified', EPOCH);
  const date = singleDate(fields, 'date', EPOCH);
  return modified !== undefined && date !== undefined && between(modified, date) >= 1000;
}

/** Picks the most recent by Date, the one listed first among equals. */
export function mostRecent<Response extends { readonly fields: Fields; readonly receivedAt: EpochMs }>(
  responses: readonly Response[],
): Response | undefined {
  const [first, ...others] = responses;
  if (first === undefined || others.length === 0) return first;
  return others.reduce(
    (best, other) => (dateOf(other.fields, other.receivedAt) > dateOf(best.fields, best.receivedAt) ? other : best),
    first,
  );
}

const NEVER_STALE = { staleWhileRevalidate: ms(0), staleIfError: ms(0) } as const;

/** RFC 9111 §4.2.4; `s-maxage` "incorporates the semantics of the proxy-revalidate response directive" — §5.2.2.10. */
const forbidsStale = (said: Directives): boolean =>
  said.mustRevalidate || said.proxyRevalidate || said.sMaxage !== null || said.noCache || said.noStore || said.private;

function staleWindows(said: Directives, policy: CachePolicy): Pick<Lifetime, 'staleWhileRevalidate' | 'staleIfError'> {
  const window = (stated: Seconds | null, otherwise: Ms): Ms =>
    ms(Math.min(stated === null ? otherwise : secondsToMs(stated), policy.maxStale));
  return {
    staleWhileRevalidate: window(said.staleWhileRevalidate, policy.staleWhileRevalidate),
    staleIfError: window(said.staleIfError, policy.staleIfError),
  };
}

function freshLifetime(response: Dated, applied: Applied, policy: CachePolicy): Ms {
  const { noStore, noCache, private: isPrivate } = applied.directives;
  const explicit = explicitLifetime(response, applied);
  if (explicit === null) return ms(Math.min(impliedLifetime(response, applied, policy), policy.maxTtl));
  const floor = noStore || noCache || isPrivate ? 0 : policy.minTtl;
  return ms(Math.min(Math.max(explicit, floor), policy.maxTtl));
}

/** RFC 9111 §4.2.1: `s-maxage`, else `max-age`, else `Expires` less `Date`; null where the origin says nothing. */
function explicitLifetime(response: Dated, { directives, targeted }: Applied): Ms | null {
  const stated = directives.sMaxage ?? directives.maxAge;
  if (stated !== null) return secondsToMs(stated);
  const lines = targeted ? [] : fieldLines(response.fields, 'expires');
  if (lines.length === 0) return null;
  const date = dateOf(response.fields, response.receivedAt);
  // "A cache recipient MUST interpret invalid date formats, especially the value "0", as representing a time in the past" — §5.3
  const lifetimes = lines.map((line) => between(date, parseHttpDate(line, response.receivedAt) ?? date));
  return secondsToMs(clampSeconds(Math.min(...lifetimes) / 1000));
}

/** The lifetime of a response that states none: the policy's, or on `content: any` a guess (RFC 9111 §4.2.2). */
function impliedLifetime(response: Dated, { directives }: Applied, policy: CachePolicy): Ms {
  if (response.hadAuthorization === true) return ms(0);
  if (!isHeuristicallyCacheable(response.status) && !directives.public) return ms(0);
  const implied =
    policy.defaultTtl > 0 ? policy.defaultTtl : policy.content === 'any' ? heuristicLifetime(response) : ms(0);
  return response.status >= 400 ? ms(Math.min(implied, policy.negativeTtl)) : implied;
}

/** "A typical setting of this fraction might be 10%" of the time since Last-Modified. */
const HEURISTIC_FRACTION = 0.1;
/** A guess holds for a day at most: RFC 9111 once asked for a warning beyond that. */
const HEURISTIC_CEILING = 86_400_000;

function heuristicLifetime(response: Dated): Ms {
  const modified = singleDate(response.fields, 'last-modified', response.receivedAt);
  if (modified === undefined) return ms(0);
  const unchangedFor = Math.max(0, between(modified, dateOf(response.fields, response.receivedAt)));
  return ms(Math.min(unchangedFor * HEURISTIC_FRACTION, HEURISTIC_CEILING));
}

/**
 * "A cache encountering a message with a list-based Age field value SHOULD use the first member of the field value, discarding
 * subsequent ones. If the field value is invalid, a cache SHOULD ignore the field." — RFC 9111 §5.1. Parameters are dropped, as in
 * any structured Integer, since ignoring `7200;x=1` would make an old response young.
 */
function parseAge(fields: Fields): Seconds {
  const members = fieldLines(fields, 'age').flatMap((line) => line.split(','));
  const first = members.map((member) => member.trim()).find((member) => member !== '');
  const digits = first === undefined ? undefined : /^(\d+)[ \t]*(?:;.*)?$/.exec(first)?.[1];
  return clampSeconds(Number(digits ?? 0));
}

/** A field that holds one date: none when it is malformed or stands twice. */
function singleDate(fields: Fields, name: string, now: EpochMs): EpochMs | undefined {
  const [line, ...others] = fieldLines(fields, name);
  return line === undefined || others.length > 0 ? undefined : parseHttpDate(line, now);
}

const EPOCH = epochMs(0);
const wholeSecond = (at: EpochMs): EpochMs => later(at, ms(-(at % 1000)));
