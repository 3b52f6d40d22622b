import type { KeySet } from '../card/keys.ts';
import { MAX_KEY_DOCUMENT, parseKeySet } from '../card/keyset.ts';
import { fieldLines, withoutFields } from '../http/fields.ts';
import { currentAge, initialAge, lifetimeOf } from '../http/freshness.ts';
import { conditionFields, mayConfirm, updateFields } from '../http/validation.ts';
import type { CachePolicy } from '../kernel/cache-policy.ts';
import type { Fields } from '../kernel/fields.ts';
import type { ReceiptId } from '../kernel/ids.ts';
import type { FetchOutcome } from '../kernel/outcome.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { between, bytes, type EpochMs, type Ms, ms } from '../kernel/units.ts';
import type { KeySetRule, KeySource, Limits } from '../policy/rules.ts';
import { type Stopped, killOf } from '../policy/kills.ts';
import type { Clock, Fetcher, FetchResult, Ledger, Observer, WholeResponse } from '../ports.ts';
import { type KeyArchive, toArchive } from './archived-keys.ts';
import { originTags } from './key.ts';
import { deniedOrFailed, otherReceipt } from './receipts.ts';
import type { Stops } from './stops.ts';

/** A key set that is at a URL. */
export type RemoteRule = KeySetRule & { readonly source: Extract<KeySource, { from: 'url' }> };

/** Keys as they arrived, and how long they may be used before they are asked for again. */
export interface FetchedKeys {
  readonly set: KeySet;
  readonly fetchedAt: EpochMs;
  readonly freshFor: Ms;
  /** What was answered, so that the origin can be asked whether it still is; absent for what an earlier process had. */
  readonly response?: Answered;
}

type Answered = Pick<WholeResponse, 'fields' | 'body'>;

/** Fetches a key set and writes the exchange down; null where it could not be had, or the signal ended it. */
export type FetchKeys = (
  rule: RemoteRule,
  signal: AbortSignal,
  held: FetchedKeys | null,
) => Promise<FetchedKeys | null>;

interface Doors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly ledger: Ledger;
  readonly observer: Observer;
  readonly kills: Stopped;
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
  return async (rule, signal, held) => {
    const tags = originTags(rule.source.url);
    if (killOf(doors.kills.active(), tags) !== undefined) return null;
    const ends = AbortSignal.any([signal, doors.stops.signal(tags)]);
    let fetched = await exchange(doors, rule, { limits: limits(), ends, held: held?.response });
    // A confirmation of other keys than those asked about says nothing of either: then only the keys themselves help.
    if (fetched === 'unrelated') fetched = await exchange(doors, rule, { limits: limits(), ends, held: undefined });
    if (fetched === null || fetched === 'unrelated' || signal.aborted) return null;
    doors.archive?.saveKeySet(toArchive(rule, fetched.fetchedAt, fetched.response.body));
    return fetched;
  };
}

interface Asked {
  readonly limits: Limits;
  readonly ends: AbortSignal;
  /** What is asked about. */
  readonly held: Answered | undefined;
}

type Fetched = FetchedKeys & { readonly response: Answered };

async function exchange(doors: Doors, rule: RemoteRule, asked: Asked): Promise<Fetched | 'unrelated' | null> {
  const id = doors.ledger.issue();
  const requestedAt = doors.clock.now();
  const conditions = asked.held === undefined ? [] : conditionFields([asked.held]);
  const result = await askForKeys(doors, rule, asked, conditions);
  const receivedAt = doors.clock.now();
  const confirmed = conditions.length > 0 && result.ok && result.response.status === 304;
  const answered = confirmed ? confirm(asked.held, result) : result;
  const read = await readKeys(rule, answered, receivedAt);
  record(doors, { id, requestedAt, result, read, conditional: conditions.length > 0, confirmed });
  if (!read.ok) return confirmed ? 'unrelated' : null;
  for (const warning of read.warnings) {
    doors.observer.record({ kind: 'notice', level: 'warn', msg: warning, about: { keys: rule.name } });
  }
  const { response, set } = read;
  return { set, fetchedAt: receivedAt, freshFor: freshnessOf(response, requestedAt, receivedAt), response };
}

/** A 304 stands for the answer that it confirms, with its own fields in place of those (RFC 9111 §4.3.4). */
function confirm(
  held: Answered | undefined,
  result: Extract<FetchResult<WholeResponse>, { ok: true }>,
): FetchResult<WholeResponse> {
  const { fields } = result.response;
  if (held === undefined || !mayConfirm(held.fields, fields)) return result;
  const dated = fieldLines(fields, 'date').length > 0 ? held.fields : withoutFields(held.fields, DATED);
  return { ...result, response: { status: 200, fields: updateFields(dated, fields), body: held.body } };
}

/** Fields that are of one exchange: kept from the last one they would make what is confirmed now look old. */
const DATED: ReadonlySet<string> = new Set(['date', 'expires']);

/** No redirect is followed: what is configured is this URL, and an open redirect on its origin must not put in other keys. */
const askForKeys = (
  { fetcher }: Doors,
  { source }: RemoteRule,
  { limits: { connect, response }, ends }: Asked,
  conditions: Fields,
): Promise<FetchResult<WholeResponse>> =>
  fetcher.fetch({
    purpose: 'keys',
    agent: null,
    url: source.url,
    method: 'GET',
    fields: [...FIELDS, ...conditions],
    body: null,
    rule: source.egress,
    limits: { connect, total: response, idle: response, bytes: bytes(MAX_KEY_DOCUMENT), redirects: 0 },
    signal: ends,
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
  readonly conditional: boolean;
  readonly confirmed: boolean;
}

function record({ clock, ledger }: Doors, exchanged: Exchange): void {
  const { id, requestedAt, result, read, conditional, confirmed } = exchanged;
  const at = clock.now();
  const outcome = read.ok ? (confirmed ? 'not_modified' : 'stored') : read.outcome;
  const refusal = read.ok ? null : read.refusal;
  const took = between(requestedAt, at);
  const receipt = otherReceipt({ id, purpose: 'keys', at, result, outcome, refusal, took });
  ledger.record({ ...receipt, conditional, warnings: read.ok ? read.warnings : [] });
}
