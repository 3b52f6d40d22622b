import { hash } from 'node:crypto';
import type { Lifetime } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import type { CacheDetail, ForwardWhy } from '../kernel/outcome.ts';
import { type Ms, ms, msToSeconds, type Seconds } from '../kernel/units.ts';
import { fieldValue, withField, withMember } from './fields.ts';
import { parseList, structuredString } from './structured.ts';

/** Our name in Cache-Status and Proxy-Status lists. */
const CACHE = 'cardea';

/** Serialises our `Cache-Status` member for an answer from the cache (RFC 9211 §2). */
export const cacheStatusHit = ({
  ttl,
  detail,
}: {
  readonly ttl: Seconds;
  readonly detail?: CacheDetail | undefined;
}): string => parameters('hit', `ttl=${ttl}`, detail && `detail=${detail}`);

/** What is known of a request that went on to the origin. */
export interface Forwarded {
  readonly why: ForwardWhy;
  /** What the origin answered, where it did. */
  readonly status?: number | null | undefined;
  readonly stored?: boolean | undefined;
  readonly ttl?: Seconds | undefined;
  /** True where the request waited for another's. */
  readonly collapsed?: boolean | undefined;
  readonly detail?: CacheDetail | undefined;
  readonly key?: string | undefined;
}

/** Serialises our `Cache-Status` member for an answer that the origin had a part in. */
export const cacheStatusForwarded = ({ why, status, stored, ttl, collapsed, detail, key }: Forwarded): string =>
  parameters(
    `fwd=${why}`,
    status != null && `fwd-status=${status}`,
    stored === true && 'stored',
    ttl !== undefined && `ttl=${ttl}`,
    collapsed === true && 'collapsed',
    detail && `detail=${detail}`,
    key !== undefined && `key=${structuredString(key)}`,
  );

const parameters = (...given: readonly (string | false | undefined)[]): string =>
  [CACHE, ...given.filter((parameter) => typeof parameter === 'string')].join('; ');

/** Adds our member after those of caches nearer to the origin; a list that does not parse is dropped, or ours would be lost with it. */
export const appendCacheStatus = (upstream: string | undefined, own: string): string =>
  upstream === undefined || (parseList(upstream)?.length ?? 0) === 0 ? own : `${upstream.trim()}, ${own}`;

/** Adds what a cache says of an answer that it hands on (RFC 9110 §7.6.3, RFC 9211). */
export const handedOn = (fields: Fields, own: string): Fields =>
  withField(
    withMember(fields, 'Via', '1.1 cardea'),
    'Cache-Status',
    appendCacheStatus(fieldValue(fields, 'cache-status'), own),
  );

/** Makes the strong entity tag of a body: the SHA-256 of its bytes, quoted. */
export const strongEtag = (body: Uint8Array): string => `"${hash('sha256', body, 'base64url')}"`;

/** Makes `Repr-Digest` of a body (RFC 9530 §3). */
export const reprDigest = (body: Uint8Array): string => `sha-256=:${hash('sha256', body, 'base64')}:`;

/** Makes the same from a tag by `strongEtag`, without hashing again: both are the SHA-256 of the bytes. */
export const reprDigestOf = (etag: string): string =>
  `sha-256=:${etag.slice(1, -1).replaceAll('-', '+').replaceAll('_', '/')}=:`;

/** What a local client's own caching depends on. */
export interface ClientLife {
  /** As the answer's Age field says; 0 where it has none. */
  readonly age: Seconds;
  readonly freshFor: Ms;
  readonly clientMaxAge: Ms;
  readonly lifetime: Lifetime;
  /** True where a newer card waits for review. */
  readonly held?: boolean | undefined;
  /** True for extended cards. */
  readonly private?: boolean | undefined;
}

/**
 * Makes the Cache-Control of our own that goes with a card: `max-age` counts from the origin, as Age does, so that a client keeps
 * it for the smaller of what is left and `clientMaxAge`; `no-cache` where it is stale, held, or the origin says so.
 */
export function clientCacheControl({
  age,
  freshFor,
  clientMaxAge,
  lifetime,
  held,
  private: isPrivate,
}: ClientLife): string {
  const left = msToSeconds(ms(Math.min(freshFor, clientMaxAge)));
  const life = lifetime.validateAlways || held === true || freshFor <= 0 ? 'no-cache' : `max-age=${age + left}`;
  return isPrivate === true ? `private, ${life}` : life;
}
