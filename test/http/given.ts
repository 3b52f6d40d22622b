import { entityTagOf } from '../../src/http/etag.ts';
import { readerOf } from '../../src/http/fields.ts';
import { initialAge, lifetimeOf } from '../../src/http/freshness.ts';
import { variantKey, varyNames } from '../../src/http/vary.ts';
import type { CachePolicy } from '../../src/kernel/cache-policy.ts';
import type { Entry } from '../../src/kernel/entry.ts';
import type { Fields } from '../../src/kernel/fields.ts';
import { type EntryKey, generation, urlId } from '../../src/kernel/ids.ts';
import { type EpochMs, epochMs, later, ms } from '../../src/kernel/units.ts';
import { formatHttpDate } from '../../src/http/http-date.ts';

/** The tests' present: a whole second. Fri, 15 Jan 2027 08:00:00 GMT. */
export const NOW = epochMs(1_800_000_000_000);

/** The instant so many seconds from the tests' present. */
export const at = (seconds: number): EpochMs => later(NOW, ms(seconds * 1000));
/** The same as an HTTP-date. */
export const dateAt = (seconds: number): string => formatHttpDate(at(seconds));

/** Field lines from an object or from pairs. */
export const fields = (given: Readonly<Record<string, string | readonly string[]>>): Fields =>
  Object.entries(given).flatMap(([name, value]) => [value].flat().flatMap((line) => [name, line]));

const SHARED_POLICY = {
  minTtl: ms(0),
  maxTtl: ms(365 * 86_400_000),
  maxStale: ms(86_400_000),
  negativeTtl: ms(10_000),
  clientMaxAge: ms(30_000),
};

/** `content: any` without a default lifetime: what the public caching suite is run against. */
export const ANY: CachePolicy = {
  ...SHARED_POLICY,
  content: 'any',
  defaultTtl: ms(0),
  staleWhileRevalidate: ms(0),
  staleIfError: ms(3_600_000),
};

/** Cards, as they are by default. */
export const CARD: CachePolicy = {
  ...SHARED_POLICY,
  content: 'card',
  defaultTtl: ms(300_000),
  maxTtl: ms(86_400_000),
  staleWhileRevalidate: ms(30_000),
  staleIfError: ms(3_600_000),
};

interface Response {
  readonly status?: number;
  readonly fields?: Fields;
  readonly body?: string;
  readonly receivedAt?: EpochMs;
  /** The request's fields, for Vary. */
  readonly request?: Fields;
  readonly policy?: CachePolicy;
}

/** An entry as the flow makes it of a response that took no time. */
export function entryOf(response: Response = {}): Entry {
  const { status = 200, fields: stored = [], body = '', receivedAt = NOW, request = [], policy = ANY } = response;
  const vary = varyNames(stored);
  return {
    key: 'key' as EntryKey,
    variant: variantKey(vary, readerOf(request)),
    vary,
    agent: null,
    url: urlId('https://origin.example/'),
    status,
    fields: stored,
    body: new TextEncoder().encode(body),
    etag: entityTagOf(stored) ?? null,
    requestedAt: receivedAt,
    receivedAt,
    initialAge: initialAge({ fields: stored, requestedAt: receivedAt, receivedAt }),
    lifetime: lifetimeOf({ status, fields: stored, receivedAt }, policy),
    admission: null,
    generation: generation(0),
    tags: [],
  };
}
