import { admittedView } from '../card/admit.ts';
import type { JsonObject } from '../card/json.ts';
import { viewOfBody } from '../card/view.ts';
import { strongEtag } from '../http/answer.ts';
import { fieldValue, readerOf } from '../http/fields.ts';
import { initialAge, lifetimeOf } from '../http/freshness.ts';
import { parseRetryAfter } from '../http/retry-after.ts';
import { storable } from '../http/storable.ts';
import { mergeNotModified } from '../http/validation.ts';
import { variantKey, varyNames } from '../http/vary.ts';
import type { Admission, Entry } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import type { FetchOutcome } from '../kernel/outcome.ts';
import { accepted, type Refusal, refuse } from '../kernel/refusal.ts';
import type { Ms } from '../kernel/units.ts';
import { type Stopped, killed, refusedBy } from '../policy/kills.ts';
import type { Limits } from '../policy/rules.ts';
import type { Clock, Fetcher, Ledger, Store, WholeResponse } from '../ports.ts';
import { type Attempt, type CardTarget, attemptCards, speaksOfAnother, unexpectedStatus, urlsOf } from './attempt.ts';
import type { Candidate, Gate, Passed, Reviewed } from './gate.ts';
import { type IsInForce, outdated } from './in-force.ts';
import type { OwnCredentials } from './own-credentials.ts';
import type { Judge } from './judge.ts';
import { judgeStored } from './judge-again.ts';
import { keptFields } from './kept-fields.ts';
import { cardTags } from './key.ts';
import { exchangeReceipt, unansweredBy } from './receipts.ts';
import { stopOfAgent } from './stopped.ts';
import type { Stops } from './stops.ts';
import type { Trust } from './trust.ts';
import type { Codings } from './with-codings.ts';

/** How bringing a card up to date ended. */
export type Refreshed =
  | {
      readonly ok: true;
      /** `held`: another card came and waits; the entry is the one in force. */
      readonly outcome: 'stored' | 'not_modified' | 'uncacheable' | 'held';
      readonly entry: Entry;
      readonly status: number;
      readonly reviewed: Reviewed;
    }
  | {
      readonly ok: false;
      readonly outcome: Exclude<FetchOutcome, 'stored' | 'not_modified' | 'uncacheable'>;
      readonly refusal: Refusal;
      /** The status that speaks against serving stale; null where none arrived or the answer itself was no use. */
      readonly status: number | null;
      readonly retryAfter: Ms | null;
      /** Set where a card came and was not taken. */
      readonly reviewed?: Reviewed;
    };

/** Fetches, judges and stores one card. */
export type RefreshCard = (target: CardTarget, limits: Limits) => Promise<Refreshed>;

interface Doors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly own: OwnCredentials;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly trust: Trust;
  readonly judge: Judge;
  readonly gate: Gate;
  readonly kills: Stopped;
  readonly codings: Pick<Codings, 'keep'>;
  /** Ends what is on its way when the daemon ends or a kill covers it. */
  readonly stops: Stops;
  readonly isInForce: IsInForce;
}

/** Makes the one way in which a card gets into the store. A caller that leaves does not end a fetch that others may wait for. */
export function createRefresh(doors: Doors): RefreshCard {
  return async (target, limits) => {
    const passedOver = (attempt: Attempt, response: WholeResponse): void => {
      const why = failure(attempt, 'status', unexpectedStatus(attempt, response));
      doors.ledger.record(exchangeReceipt(attempt, why, attempt.receivedAt));
    };
    let attempt = await attemptCards(doors, { target, limits, passedOver });
    // "the cache MUST NOT use the new response to update any stored responses" — RFC 9111 §4.3.4: then only a full answer helps.
    if (speaksOfAnother(attempt)) {
      doors.ledger.record(exchangeReceipt(attempt, unrelated(attempt), attempt.receivedAt));
      attempt = await attemptCards(doors, { target: { ...target, stored: undefined }, limits, passedOver });
    }
    const refreshed = await conclude(doors, attempt);
    doors.ledger.record(exchangeReceipt(attempt, refreshed, doors.clock.now()));
    return refreshed;
  };
}

const unrelated = (attempt: Attempt): Refreshed =>
  failure(
    attempt,
    'status',
    refuse('origin-status', 'The origin confirmed another card than the one asked about.', { receivedStatus: 304 }),
  );

async function conclude(doors: Doors, attempt: Attempt): Promise<Refreshed> {
  const { result, target } = attempt;
  const stop = stopOfAgent(doors.kills, target.agent);
  if (stop !== undefined) return failure(attempt, 'superseded', killed(stop, target.agent.name));
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
  const { value: admitted } = outcome;
  const { body, digest, facts, warnings, verdict } = admitted;
  // What the gate says of it is not known yet.
  const judged = { digest, verdict, review: 'allowed' as const, facts, policy, warnings };
  const admission: Admission = { ...judged, receipt: attempt.id, at: attempt.receivedAt };
  const entry = { ...entryOf(attempt, response, body, admission), admission };
  // Only now is it known who signed the card and who redirected to it.
  const stopped = refusedBy(doors.kills.active(), entry.tags, agent.name);
  if (stopped !== undefined) return failure(attempt, 'rejected', stopped);
  const isStorable = mayStore(attempt, response.fields);
  const passed = await doors.gate({ entry, view: () => admittedView(admitted).card, storable: isStorable }, attempt);
  if (!passed.taken) return withheld(doors, attempt, passed);
  const { entry: decided, reviewed } = passed;
  if (!isStorable) return { ok: true, outcome: 'uncacheable', status: 200, entry: uncoded(decided), reviewed };
  return put(doors, attempt, 'stored', passed);
}

/** Another card came and is not taken: what is served meanwhile is stored anew, or there is nothing to serve. */
async function withheld(
  doors: Doors,
  attempt: Attempt,
  { served, reviewed }: Extract<Passed, { taken: false }>,
): Promise<Refreshed> {
  if (!served.ok) return { ...failure(attempt, 'held', served.refusal), reviewed };
  return put(doors, attempt, 'held', { entry: served.value, reviewed });
}

async function put(
  doors: Doors,
  attempt: Attempt,
  outcome: 'stored' | 'not_modified' | 'held',
  { entry: plain, reviewed }: Pick<Extract<Refreshed, { ok: true }>, 'entry' | 'reviewed'>,
): Promise<Refreshed> {
  const { agent } = attempt.target;
  const status = outcome === 'not_modified' ? 304 : 200;
  const entry = doors.codings.keep(plain);
  if (!doors.isInForce(agent)) return failure(attempt, 'superseded', outdated(agent));
  if (await doors.store.put(entry)) return { ok: true, outcome, entry, status, reviewed };
  if (doors.store.generation() === entry.generation)
    return { ok: true, outcome: 'uncacheable', entry, status, reviewed };
  // What was taken away while this fetch was on its way must not come back with it.
  const refusal = refuse('origin-unreachable', 'The card was purged while it was being fetched; ask again.');
  return { ok: false, outcome: 'superseded', refusal, status: null, retryAfter: null };
}

/** What is not stored would be coded for one request. */
const uncoded = (entry: Entry): Entry => ({ ...entry, coded: [] });

function entryOf(attempt: Attempt, response: WholeResponse, body: Uint8Array, admission: Admission): Entry {
  const { target, requestedAt, receivedAt, url, generation } = attempt;
  const vary = varyNames(response.fields);
  const fields = keptFields(response.fields);
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
    tags: cardTags(target.agent, urlsOf(attempt), admission.verdict.kid),
  };
}

/** A validated card is stored anew, unless the 304 says that it may not be stored any more. */
async function confirm(doors: Doors, attempt: Attempt, candidate: Candidate): Promise<Refreshed> {
  const passed = await doors.gate(candidate, attempt);
  if (!passed.taken) return withheld(doors, attempt, passed);
  if (candidate.storable) return put(doors, attempt, 'not_modified', passed);
  if (attempt.target.stored !== undefined) await doors.store.drop(attempt.target.stored);
  return { ok: true, outcome: 'uncacheable', status: 304, entry: passed.entry, reviewed: passed.reviewed };
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
  const entry = validated(attempt, response, judged.value);
  if (entry.admission === null) throw new Error(`entry ${entry.key} is no card`);
  const view = (): JsonObject => viewOfBody(entry.body) ?? {};
  const candidate = { ...entry, admission: entry.admission };
  return confirm(doors, attempt, { entry: candidate, view, storable: mayStore(attempt, entry.fields) });
}

/** Times and fields move on (RFC 9111 §3.2, §4.3.4). */
function validated(attempt: Attempt, response: WholeResponse, stored: Entry): Entry {
  const { requestedAt, receivedAt, generation, target } = attempt;
  const merged = mergeNotModified(stored, { fields: response.fields, requestedAt, receivedAt }, target.agent.cache);
  const vary = varyNames(merged.fields);
  const variant = variantKey(vary, target.request.read);
  return { ...stored, ...merged, fields: keptFields(merged.fields), vary, variant, generation };
}

function failure(
  attempt: Attempt,
  outcome: Exclude<FetchOutcome, 'stored' | 'not_modified' | 'uncacheable'>,
  refusal: Refusal,
): Extract<Refreshed, { ok: false }> {
  const { result, target, id } = attempt;
  return {
    ok: false,
    outcome,
    refusal: { ...refusal, agent: target.agent.name, receipt: id },
    status: outcome === 'status' && result.ok ? result.response.status : null,
    retryAfter: result.ok ? parseRetryAfter(readerOf(result.response.fields)('retry-after'), attempt.receivedAt) : null,
  };
}

/** Nothing is sent for what is killed or gone, so there is no exchange to write down. */
export const unsent = (refusal: Refusal): Refreshed => ({
  ok: false,
  outcome: 'superseded',
  refusal,
  status: null,
  retryAfter: null,
});
