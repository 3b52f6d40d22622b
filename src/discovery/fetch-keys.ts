import type { KeySet } from '../card/keys.ts';
import { MAX_KEY_DOCUMENT, parseKeySet } from '../card/keyset.ts';
import { currentAge, initialAge, lifetimeOf } from '../http/freshness.ts';
import type { CachePolicy } from '../kernel/cache-policy.ts';
import type { ReceiptId } from '../kernel/ids.ts';
import type { FetchOutcome } from '../kernel/outcome.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { between, bytes, type EpochMs, type Ms, ms } from '../kernel/units.ts';
import type { KeySetRule, KeySource, Limits } from '../policy/rules.ts';
import { killOf } from '../policy/kills.ts';
import type { Clock, Fetcher, FetchResult, KillBook, Ledger, Observer, WholeResponse } from '../ports.ts';
import { type KeyArchive, toArchive } from './archived-keys.ts';
import { originTags } from './key.ts';
import { deniedOrFailed } from './receipts.ts';
import type { Stops } from './stops.ts';

/** A key set that is at a URL. */
export type RemoteRule = KeySetRule & { readonly source: Extract<KeySource, { from: 'url' }> };

/** Keys as they arrived, and how long they may be used before they are asked for again. */
export interface FetchedKeys {
  readonly set: KeySet;
  readonly fetchedAt: EpochMs;
  readonly freshFor: Ms;
}

/** Fetches a key set and writes the exchange down; null where it could not be had, or the signal ended it. */
export type FetchKeys = (rule: RemoteRule, signal: AbortSignal) => Promise<FetchedKeys | null>;

interface Doors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly ledger: Ledger;
  readonly observer: Observer;
  readonly kills: KillBook;
  readonly stops: Stops;
  /** Where keys outlive a restart; null for nowhere. */
  readonly archive: KeyArchive | null;
}

const FIELDS = ['Accept', 'application/jwk-set+json, application/json;q=0.9'] as const;

/** Nobody's keys change more often than this, whatever their origin's Cache-Control: a request each minute is what it may cost. */
const FLOOR = ms(60_000);
/** A revocation must be seen within this time, however long the origin lets its keys be kept. */
const CEILING = ms(3_600_000);

/** How long keys live where their origin says nothing. */
const FRESHNESS: CachePolicy = {
  content: 'card',
  defaultTtl: ms(300_000),
  minTtl: FLOOR,
  maxTtl: CEILING,
  staleWhileRevalidate: ms(0),
  staleIfError: ms(0),
  maxStale: ms(0),
  negativeTtl: FLOOR,
  clientMaxAge: ms(0),
};

export function createFetchKeys(doors: Doors, limits: () => Limits): FetchKeys {
  return async (rule, signal) => {
    const tags = originTags(rule.source.url);
    if (killOf(doors.kills.active(), tags) !== undefined) return null;
    const id = doors.ledger.issue();
    const requestedAt = doors.clock.now();
    const ends = AbortSignal.any([signal, doors.stops.signal(tags)]);
    const result = await askForKeys(doors, rule, limits(), ends);
    const receivedAt = doors.clock.now();
    const read = await readKeys(rule, result, receivedAt);
    record(doors, { id, requestedAt, result, read });
    if (!read.ok || signal.aborted) return null;
    for (const warning of read.warnings) {
      doors.observer.record({ kind: 'notice', level: 'warn', msg: warning, about: { keys: rule.name } });
    }
    doors.archive?.saveKeySet(toArchive(rule, receivedAt, read.response.body));
    return { set: read.set, fetchedAt: receivedAt, freshFor: freshnessOf(read.response, requestedAt, receivedAt) };
  };
}

/** No redirect is followed: what is configured is this URL, and an open redirect on its origin must not put in other keys. */
const askForKeys = (
  { fetcher }: Doors,
  { source }: RemoteRule,
  { connect, response }: Limits,
  signal: AbortSignal,
): Promise<FetchResult<WholeResponse>> =>
  fetcher.fetch({
    purpose: 'keys',
    agent: null,
    url: source.url,
    method: 'GET',
    fields: FIELDS,
    body: null,
    rule: source.egress,
    limits: { connect, total: response, idle: response, bytes: bytes(MAX_KEY_DOCUMENT), redirects: 0 },
    signal,
  });

type Read =
  | {
      readonly ok: true;
      readonly set: KeySet;
      readonly warnings: readonly string[];
      readonly response: WholeResponse;
    }
  | { readonly ok: false; readonly outcome: FetchOutcome; readonly refusal: Refusal };

async function readKeys(rule: RemoteRule, result: FetchResult<WholeResponse>, fetchedAt: EpochMs): Promise<Read> {
  if (!result.ok) return { ok: false, outcome: deniedOrFailed(result), refusal: result.refusal };
  const { response } = result;
  if (response.status !== 200) {
    const detail = `The origin answered ${response.status} at ${rule.source.url}, where keys should be.`;
    return { ok: false, outcome: 'status', refusal: refuse('keys-unavailable', detail) };
  }
  const { name, jku, revoked } = rule;
  const reading = await parseKeySet(response.body, { name, ...(jku === null ? {} : { jku }), revoked, fetchedAt });
  if (reading.ok) return { ...reading, response };
  const detail = `What ${rule.source.url} answers is no key set: ${reading.why}.`;
  return { ok: false, outcome: 'rejected', refusal: refuse('keys-unavailable', detail) };
}

function freshnessOf({ status, fields }: WholeResponse, requestedAt: EpochMs, receivedAt: EpochMs): Ms {
  const lifetime = lifetimeOf({ status, fields, receivedAt }, FRESHNESS);
  const aged = { initialAge: initialAge({ fields, requestedAt, receivedAt }), receivedAt };
  return ms(Math.min(Math.max(lifetime.fresh - currentAge(aged, receivedAt), FLOOR), CEILING));
}

interface Exchange {
  readonly id: ReceiptId;
  readonly requestedAt: EpochMs;
  readonly result: FetchResult<WholeResponse>;
  readonly read: Read;
}

function record({ clock, ledger }: Doors, { id, requestedAt, result, read }: Exchange): void {
  const at = clock.now();
  ledger.record({
    kind: 'exchange',
    id,
    at,
    purpose: 'keys',
    agent: null,
    variant: null,
    trail: result.trail,
    conditional: false,
    status: result.ok ? result.response.status : null,
    caching: {},
    digest: null,
    version: null,
    protocolVersion: null,
    interfaceUrl: null,
    verdict: null,
    review: null,
    warnings: read.ok ? read.warnings : [],
    outcome: read.ok ? 'stored' : read.outcome,
    code: read.ok ? null : read.refusal.code,
    why: read.ok ? null : read.refusal.detail,
    policy: null,
    took: between(requestedAt, at),
  });
}
