import { strongEtag } from '../http/answer.ts';
import { responseDirectives } from '../http/targeted.ts';
import { fieldValue, readerOf } from '../http/fields.ts';
import { initialAge, lifetimeOf } from '../http/freshness.ts';
import { parseRetryAfter } from '../http/retry-after.ts';
import { varyNames } from '../http/vary.ts';
import type { Admission } from '../kernel/entry.ts';
import type { ExtendedEntry, PartitionKey } from '../kernel/extended-entry.ts';
import type { Fields } from '../kernel/fields.ts';
import type { CardDigest, Generation } from '../kernel/ids.ts';
import type { FetchOutcome } from '../kernel/outcome.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { type EpochMs, type Ms, epochMs, later } from '../kernel/units.ts';
import { isStop } from '../policy/kills.ts';
import { revokedBy } from '../policy/revoked.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { ExtendedStore, RevocationBook } from '../ports/callers.ts';
import { callerTags } from './caller-tags.ts';
import type { Caller } from './callers.ts';
import {
  type ExchangeDoors,
  type ExchangeOrder,
  type ExtendedExchange,
  exchangeExtended,
} from './extended-exchange.ts';
import { type AdmittedCard, admittedView } from '../card/admit.ts';
import { type IsInForce, outdated } from './in-force.ts';
import { passExtended } from './extended-gate.ts';
import type { ExtendedReviews } from './extended-reviews.ts';
import type { Reviewed } from './gate.ts';
import type { Judge } from './judge.ts';
import { cardTags } from './key.ts';
import { refuseUnled } from './local-extended.ts';
import { extendedReceipt } from './receipts.ts';
import { exchangeShowing } from './showing.ts';
import type { Shown } from './shown.ts';
import type { Trust } from './trust.ts';

/** One extended card to get: for whom, by what, and where it will be kept. */
export interface ExtendedTarget {
  readonly agent: AgentRule;
  readonly caller: Caller;
  readonly partition: PartitionKey;
  readonly shown: Shown;
  readonly publicDigest: CardDigest;
  readonly order: Omit<ExchangeOrder, 'authorization' | 'deadline'>;
}

/** How getting it ended. */
export type ExtendedOutcome =
  | {
      readonly ok: true;
      /** `held`: another card came and waits; the entry is the one before it. */
      readonly outcome: 'stored' | 'uncacheable' | 'held';
      readonly entry: ExtendedEntry;
      readonly reviewed: Reviewed;
    }
  | {
      readonly ok: false;
      /** Set where a card came and was not taken. */
      readonly reviewed?: Reviewed;
      readonly outcome: Exclude<FetchOutcome, 'stored' | 'not_modified' | 'uncacheable'>;
      readonly refusal: Refusal;
      /** The origin's own status; null where none arrived or the answer itself was no use. */
      readonly status: number | null;
      readonly retryAfter: Ms | null;
    };

export type RefreshExtended = (target: ExtendedTarget) => Promise<ExtendedOutcome>;

export interface RefreshDoors extends ExchangeDoors {
  readonly extended: ExtendedStore;
  readonly judge: Judge;
  readonly revocations: RevocationBook;
  readonly isInForce: IsInForce;
  readonly extendedReviews: ExtendedReviews;
  readonly trust: Pick<Trust, 'basis'>;
}

/** Makes the one way in which an extended card gets into its store: by the admission that every card passes. */
export function createRefreshExtended(doors: RefreshDoors): RefreshExtended {
  return async (target) => {
    const generation = doors.extended.generation();
    const record = (exchange: ExtendedExchange, outcome: ExtendedOutcome): void =>
      doors.ledger.record(extendedReceipt({ exchange, outcome, agent: target.agent, caller: target.caller }));
    const passedOver = (each: ExtendedExchange): void => record(each, concludeFailure(each));
    const deadline = later(doors.clock.now(), doors.rules().limits.response);
    const send = (authorization: string | null): Promise<ExtendedExchange> =>
      exchangeExtended(doors, { ...target.order, authorization, deadline }, passedOver);
    const made = await exchangeShowing(target.shown, { send, isRefused, passedOver });
    if (!made.ok) return failed('failed', made.refusal);
    const exchange = made.value;
    const outcome =
      exchange.answer.is === 'card'
        ? await admit(doors, target, { exchange, answer: exchange.answer, generation })
        : concludeFailure(exchange);
    record(exchange, outcome);
    return outcome.ok ? outcome : withReceipt(outcome, target, exchange);
  };
}

const isRefused = ({ answer }: ExtendedExchange): boolean => answer.is === 'refused' && answer.status === 401;

const withReceipt = (
  outcome: Extract<ExtendedOutcome, { ok: false }>,
  { agent }: ExtendedTarget,
  { id }: ExtendedExchange,
): ExtendedOutcome => ({ ...outcome, refusal: { ...outcome.refusal, agent: agent.name, receipt: id } });

function concludeFailure({ answer, result, receivedAt }: ExtendedExchange): Extract<ExtendedOutcome, { ok: false }> {
  if (answer.is === 'card') throw new Error('a card is no failure');
  const { refusal, status } = answer;
  if (!result.ok) return failed(isStop(refusal.code) ? 'superseded' : 'failed', refusal);
  const retryAfter = parseRetryAfter(readerOf(result.response.fields)('retry-after'), receivedAt);
  return { ok: false, outcome: 'status', refusal, status, retryAfter };
}

const failed = (
  outcome: 'failed' | 'rejected' | 'superseded' | 'held',
  refusal: Refusal,
): Extract<ExtendedOutcome, { ok: false }> => ({
  ok: false,
  outcome,
  refusal,
  status: null,
  retryAfter: null,
});

interface Arrived {
  readonly exchange: ExtendedExchange;
  readonly answer: Extract<ExtendedExchange['answer'], { is: 'card' }>;
  readonly generation: Generation;
}

async function admit(doors: RefreshDoors, target: ExtendedTarget, arrived: Arrived): Promise<ExtendedOutcome> {
  const { agent } = target;
  const [cardUrl] = agent.cards;
  if (cardUrl === undefined) throw new Error(`agent ${agent.name} has no card URL`);
  // Its interfaces are judged as neighbours of the public card: wherever it is asked for, it is the same agent's.
  const { body, contentType } = arrived.answer;
  const { outcome, policy } = await doors.judge({ body, url: cardUrl, contentType }, agent);
  if (!outcome.ok) return failed('rejected', outcome.refusal);
  const unled = refuseUnled(outcome.value.body, agent, target.order.card.interfaces);
  if (unled !== undefined) return failed('rejected', unled);
  const known = await doors.extendedReviews.load(agent);
  if (!doors.isInForce(agent)) return failed('superseded', outdated(agent));
  const entry = entryOf(target, arrived, outcome.value, policy);
  // It may have begun after a revocation of what it was begun with.
  const revoked = revokedBy(doors.revocations.inForce(), target.caller, doors.clock.now());
  if (revoked !== undefined) return failed('superseded', revoked);
  // What was taken away while this was on its way must not come back with it, not even to whoever waits for it.
  if (doors.extended.isEnded(entry)) return failed('superseded', refuse('conflict', ENDED));
  const before = doors.extended.get(target.partition);
  const passed = passExtended(doors, { target, entry, before, view: () => admittedView(outcome.value).card }, known);
  if (!passed.ok) return { ...failed('held', passed.refusal), ...passed.about };
  const isStored = (passed.held || mayStore(arrived.answer.fields)) && doors.extended.put(passed.entry);
  const { entry: served, reviewed } = passed;
  return { ok: true, outcome: passed.held ? 'held' : isStored ? 'stored' : 'uncacheable', entry: served, reviewed };
}

const ENDED = 'The session was ended while the card was being fetched; ask again.';

/** The answer to one caller is kept for that caller alone, so `private` lets it be kept; `no-store` and `Vary: *` do not. */
const mayStore = (fields: Fields): boolean =>
  !responseDirectives(fields).directives.noStore && !varyNames(fields).includes('*');

function entryOf(
  { agent, caller, partition, shown, publicDigest }: ExtendedTarget,
  { exchange, answer, generation }: Arrived,
  { body, digest, verdict, facts, warnings }: AdmittedCard,
  policy: Admission['policy'],
): ExtendedEntry {
  const { requestedAt, receivedAt, result, used, id } = exchange;
  const { fields } = answer;
  const kept = { fields, requestedAt, receivedAt };
  const session = later(receivedAt, agent.extended.session);
  const urls = [used.url, ...(result.ok ? [result.trail.finalUrl] : [])];
  return {
    partition,
    agent: agent.name,
    body,
    etag: strongEtag(body),
    fields: shownFields(fields, answer.contentType),
    receivedAt,
    initialAge: initialAge(kept),
    lifetime: lifetimeOf({ status: 200, fields, receivedAt }, agent.cache),
    admission: { digest, verdict, review: 'allowed', facts, policy, receipt: id, at: receivedAt, warnings },
    until: earliest(session, shown.until, caller.principal.until),
    publicDigest,
    generation,
    tags: [...new Set([...cardTags(agent, [...agent.cards, ...urls], verdict.kid), ...callerTags(caller)])],
  };
}

const earliest = (...times: readonly EpochMs[]): EpochMs => epochMs(Math.min(...times));

const SHOWN = ['date', 'last-modified'] as const;

function shownFields(fields: Fields, contentType: string | undefined): Fields {
  const kept = SHOWN.flatMap((name) => {
    const value = fieldValue(fields, name);
    return value === undefined ? [] : [name, value];
  });
  return contentType === undefined ? kept : [...kept, 'content-type', contentType];
}
