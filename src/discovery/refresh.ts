import { fieldValue, readerOf, withoutFields } from '../http/fields.ts';
import { initialAge, lifetimeOf } from '../http/freshness.ts';
import { parseRetryAfter } from '../http/retry-after.ts';
import { storable } from '../http/storable.ts';
import { strongEtag } from '../http/answer.ts';
import { conditionFields, mergeNotModified, selectForUpdate } from '../http/validation.ts';
import { variantKey, varyNames } from '../http/vary.ts';
import type { Admission, Entry } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import type { EntryKey, Generation, ReceiptId, Url } from '../kernel/ids.ts';
import type { FetchOutcome } from '../kernel/outcome.ts';
import { accepted, type Refusal, refuse } from '../kernel/refusal.ts';
import { type EpochMs, type Ms, between, ms } from '../kernel/units.ts';
import { refusedBy } from '../policy/kills.ts';
import type { AgentRule, Limits } from '../policy/rules.ts';
import type { Clock, FetchResult, Fetcher, KillBook, Ledger, Store, WholeResponse } from '../ports.ts';
import type { CardRequest } from './card-request.ts';
import { type IsInForce, outdated } from './in-force.ts';
import type { Judge } from './judge.ts';
import { judgeStored } from './judge-again.ts';
import { agentTags, cardTags, originTags } from './key.ts';
import { exchangeReceipt, unansweredBy } from './receipts.ts';
import type { Stops } from './stops.ts';
import type { Trust } from './trust.ts';
import type { WithCodings } from './with-codings.ts';

/** One card to bring up to date: for whom, by which request, and what is stored already. */
export interface CardTarget {
  readonly agent: AgentRule;
  readonly key: EntryKey;
  readonly request: CardRequest;
  /** The stored entry that the request selects, admitted under today's policy. */
  readonly stored: Entry | undefined;
  /** True where any card of this agent was accepted before, so that this is no first use. */
  readonly known: boolean;
}

/** How bringing a card up to date ended. */
export type Refreshed =
  | {
      readonly ok: true;
      readonly outcome: 'stored' | 'not_modified' | 'uncacheable';
      readonly entry: Entry;
      readonly status: number;
    }
  | {
      readonly ok: false;
      readonly outcome: Exclude<FetchOutcome, 'stored' | 'not_modified' | 'uncacheable'>;
      readonly refusal: Refusal;
      /** The status that speaks against serving stale; null where none arrived or the answer itself was no use. */
      readonly status: number | null;
      readonly retryAfter: Ms | null;
    };

/** Fetches, judges and stores one card. */
export type RefreshCard = (target: CardTarget, limits: Limits) => Promise<Refreshed>;

interface Doors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly trust: Trust;
  readonly judge: Judge;
  readonly kills: KillBook;
  readonly withCodings: WithCodings;
  /** Ends what is on its way when the daemon ends or a kill covers it. */
  readonly stops: Stops;
  readonly isInForce: IsInForce;
}

/** An attempt as it is known once the origin has answered or failed. */
interface Attempt {
  readonly target: CardTarget;
  readonly id: ReceiptId;
  readonly generation: Generation;
  readonly url: Url;
  readonly conditional: boolean;
  readonly requestedAt: EpochMs;
  readonly receivedAt: EpochMs;
  readonly result: FetchResult<WholeResponse>;
}

/** Makes the one way in which a card gets into the store. A caller that leaves does not end a fetch that others may wait for. */
export function createRefresh(doors: Doors): RefreshCard {
  return async (target, limits) => {
    let attempt = await attemptCards(doors, target, limits);
    // "the cache MUST NOT use the new response to update any stored responses" — RFC 9111 §4.3.4: then only a full answer helps.
    if (speaksOfAnother(attempt)) {
      doors.ledger.record(exchangeReceipt(attempt, unrelated(attempt), attempt.receivedAt));
      attempt = await attemptCards(doors, { ...target, stored: undefined }, limits);
    }
    const refreshed = await conclude(doors, attempt);
    doors.ledger.record(exchangeReceipt(attempt, refreshed, doors.clock.now()));
    return refreshed;
  };
}

/** True for a 304 whose validator is not the stored card's. */
const speaksOfAnother = ({ result, target, conditional }: Attempt): boolean =>
  result.ok &&
  result.response.status === 304 &&
  conditional &&
  target.stored !== undefined &&
  selectForUpdate([target.stored], result.response.fields).length === 0;

const unrelated = (attempt: Attempt): Refreshed =>
  failure(
    attempt,
    'status',
    refuse('origin-status', 'The origin confirmed another card than the one asked about.', { receivedStatus: 304 }),
  );

/** Tries the agent's URLs in order, the next one only after a 404, all under one deadline. */
async function attemptCards(doors: Doors, target: CardTarget, limits: Limits): Promise<Attempt> {
  const signal = doors.stops.signal(agentTags(target.agent));
  const generation = doors.store.generation();
  const startedAt = doors.clock.now();
  const attempt = async (url: Url): Promise<Attempt> => {
    const id = doors.ledger.issue();
    const conditions = target.stored?.url === url ? conditionFields([target.stored]) : [];
    const requestedAt = doors.clock.now();
    const result = await doors.fetcher.fetch({
      purpose: 'card',
      agent: target.agent.name,
      url,
      method: 'GET',
      fields: [...target.request.fields, ...conditions],
      body: null,
      rule: target.agent.egress,
      limits: {
        connect: limits.connect,
        total: ms(Math.max(1, limits.response - between(startedAt, requestedAt))),
        idle: limits.response,
        bytes: limits.cardBytes,
        redirects: limits.redirects,
      },
      refuseHop: (to) => refusedBy(doors.kills.active(), originTags(to), target.agent.name),
      signal,
    });
    const receivedAt = doors.clock.now();
    return { target, id, generation, url, conditional: conditions.length > 0, requestedAt, receivedAt, result };
  };
  const [first, ...others] = target.agent.cards;
  if (first === undefined) throw new Error(`agent ${target.agent.name} has no card URL`);
  let last = await attempt(first);
  for (const url of others) {
    if (!last.result.ok || last.result.response.status !== 404) break;
    const missing = failure(last, 'status', unexpectedStatus(last, last.result.response));
    doors.ledger.record(exchangeReceipt(last, missing, last.receivedAt));
    last = await attempt(url);
  }
  return last;
}

async function conclude(doors: Doors, attempt: Attempt): Promise<Refreshed> {
  const { result, target } = attempt;
  const stopped = refusedBy(doors.kills.active(), agentTags(target.agent), target.agent.name);
  if (stopped !== undefined) return failure(attempt, 'superseded', stopped);
  if (!doors.isInForce(target.agent)) return failure(attempt, 'superseded', outdated(target.agent));
  if (!result.ok) return failure(attempt, unansweredBy(result.refusal), result.refusal);
  const { status } = result.response;
  if (status === 304 && attempt.conditional && target.stored?.admission) {
    return validate(doors, attempt, result.response, target.stored);
  }
  if (status !== 200) return failure(attempt, 'status', unexpectedStatus(attempt, result.response));
  return admit(doors, attempt, result.response);
}

/** Judges a full answer before anything else sees it: only an admitted card may replace a stored one. */
async function admit(doors: Doors, attempt: Attempt, response: WholeResponse): Promise<Refreshed> {
  const { agent } = attempt.target;
  const contentType = fieldValue(response.fields, 'content-type');
  const { outcome, policy } = await doors.judge({ body: response.body, url: attempt.url, contentType }, agent);
  if (!outcome.ok) return failure(attempt, 'rejected', outcome.refusal);
  const { body, digest, facts, warnings, verdict: signature } = outcome.value;
  const admission: Admission = {
    digest,
    verdict: signature,
    review: attempt.target.known ? 'allowed' : 'first-use',
    facts,
    policy,
    receipt: attempt.id,
    at: attempt.receivedAt,
    warnings,
  };
  const entry = entryOf(attempt, response, body, admission);
  // Only now is it known who signed the card and who redirected to it.
  const stopped = refusedBy(doors.kills.active(), entry.tags, agent.name);
  if (stopped !== undefined) return failure(attempt, 'rejected', stopped);
  if (!mayStore(attempt, response.fields)) return { ok: true, outcome: 'uncacheable', entry, status: 200 };
  return put(doors, attempt, entry, 'stored');
}

async function put(
  doors: Doors,
  attempt: Attempt,
  plain: Entry,
  outcome: 'stored' | 'not_modified',
): Promise<Refreshed> {
  const { agent } = attempt.target;
  const status = outcome === 'stored' ? 200 : 304;
  const entry = await doors.withCodings(plain);
  if (!doors.isInForce(agent)) return failure(attempt, 'superseded', outdated(agent));
  if (await doors.store.put(entry)) return { ok: true, outcome, entry, status };
  if (doors.store.generation() === entry.generation) return { ok: true, outcome: 'uncacheable', entry, status };
  // What was taken away while this fetch was on its way must not come back with it.
  const refusal = refuse('origin-unreachable', 'The card was purged while it was being fetched; ask again.');
  return { ok: false, outcome: 'superseded', refusal, status: null, retryAfter: null };
}

function entryOf(attempt: Attempt, response: WholeResponse, body: Uint8Array, admission: Admission): Entry {
  const { target, requestedAt, receivedAt, url, generation } = attempt;
  const vary = varyNames(response.fields);
  const fields = withoutFields(response.fields, CODING);
  return {
    key: target.key,
    variant: variantKey(vary, target.request.read),
    vary,
    agent: target.agent.name,
    url,
    status: 200,
    fields,
    body,
    etag: strongEtag(body),
    requestedAt,
    receivedAt,
    initialAge: initialAge({ fields, requestedAt, receivedAt }),
    lifetime: lifetimeOf({ status: 200, fields, receivedAt }, target.agent.cache),
    admission,
    generation,
    tags: cardTags(target.agent.name, urlsOf(attempt), admission.verdict.kid),
  };
}

/** Every place that had a part in an answer, redirects included: a kill of any of them is a kill of the card. */
const urlsOf = ({ url, result: { trail } }: Attempt): readonly Url[] => [url, ...trail.redirects, trail.finalUrl];

/** The Fetcher undid the coding, so the stored fields must not claim one. */
const CODING: ReadonlySet<string> = new Set(['content-encoding', 'content-length']);

/** A validated card is stored anew, unless the 304 says that it may not be stored any more. */
async function confirm(doors: Doors, attempt: Attempt, entry: Entry): Promise<Refreshed> {
  if (mayStore(attempt, entry.fields)) return put(doors, attempt, entry, 'not_modified');
  if (attempt.target.stored !== undefined) await doors.store.drop(attempt.target.stored);
  return { ok: true, outcome: 'uncacheable', entry, status: 304 };
}

const mayStore = (attempt: Attempt, fields: Fields): boolean =>
  storable({
    method: 'GET',
    requestFields: attempt.target.request.read,
    status: 200,
    fields,
    policy: attempt.target.agent.cache,
  }).store;

/** A 304: the bytes stay, and their verdict where keys have not changed meanwhile. */
async function validate(doors: Doors, attempt: Attempt, response: WholeResponse, stored: Entry): Promise<Refreshed> {
  const { agent } = attempt.target;
  const isCurrent = stored.admission?.policy === doors.trust.basis(agent).policy;
  const judged = isCurrent ? accepted(stored) : await judgeStored(doors.judge, stored, agent);
  if (!judged.ok) return failure(attempt, 'rejected', judged.refusal);
  return confirm(doors, attempt, validated(attempt, response, judged.value));
}

/** Times and fields move on (RFC 9111 §3.2, §4.3.4). */
function validated(attempt: Attempt, response: WholeResponse, stored: Entry): Entry {
  const { requestedAt, receivedAt, generation, target } = attempt;
  const merged = mergeNotModified(stored, { fields: response.fields, requestedAt, receivedAt }, target.agent.cache);
  const vary = varyNames(merged.fields);
  const variant = variantKey(vary, target.request.read);
  const admission = stored.admission === null ? null : { ...stored.admission, review: 'allowed' as const };
  return { ...stored, ...merged, vary, variant, generation, admission };
}

function unexpectedStatus(attempt: Attempt, response: WholeResponse): Refusal {
  const challenge = fieldValue(response.fields, 'www-authenticate');
  const asked = challenge === undefined ? '' : ` It asks for credentials: ${challenge.slice(0, 200)}.`;
  const where = attempt.target.agent.cards.join(' or ');
  return refuse('origin-status', `The origin answered ${response.status} at ${where}.${asked}`, {
    receivedStatus: response.status,
  });
}

function failure(
  attempt: Attempt,
  outcome: Exclude<FetchOutcome, 'stored' | 'not_modified' | 'uncacheable'>,
  refusal: Refusal,
): Refreshed {
  const { result, target, id } = attempt;
  return {
    ok: false,
    outcome,
    refusal: { ...refusal, agent: target.agent.name, receipt: id },
    status: outcome === 'status' && result.ok ? result.response.status : null,
    retryAfter: result.ok ? parseRetryAfter(readerOf(result.response.fields)('retry-after'), attempt.receivedAt) : null,
  };
}
