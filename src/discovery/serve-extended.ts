import { cacheStatusForwarded, cacheStatusHit } from '../http/answer.ts';
import { freshFor, ttlOf } from '../http/freshness.ts';
import { mayServeOnError } from '../http/reuse.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Entry } from '../kernel/entry.ts';
import type { ExtendedEntry, PartitionKey } from '../kernel/extended-entry.ts';
import type { NameHash } from '../kernel/principal.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type EpochMs, between, ms } from '../kernel/units.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';
import type { Clock } from '../ports.ts';
import type { ExtendedStore } from '../ports/callers.ts';
import type { AcceptedCard } from './accepted-card.ts';
import { asksForNewer } from './asks-newer.ts';
import type { Caller, Callers } from './callers.ts';
import { CARD_REQUESTS } from './card-request.ts';
import { extendedAnswer } from './extended-answer.ts';
import { named } from './call.ts';
import { type ExtendedCall, refuseIn } from './extended-call.ts';
import type { ExtendedReviews } from './extended-reviews.ts';
import type { ExtendedOutcome, ExtendedTarget, RefreshExtended } from './extended-refresh.ts';
import type { LocalExtended } from './local-extended.ts';
import { refuseLoop } from './loop.ts';
import type { OwnCredentials } from './own-credentials.ts';
import { partitionKey } from './partition.ts';
import { type ReadPublicCard, createReadPublicCard, interfacesFor } from './public-card.ts';
import type { Sessions } from './sessions.ts';
import { type Setbacks, createSetbacks, isFailing } from './setbacks.ts';
import { decideShown } from './shown.ts';
import { type SingleFlight, createSingleFlight } from './single-flight.ts';
import type { Trust } from './trust.ts';

/** Answers a caller with its extended card of an agent. */
export type ServeExtended = (call: ExtendedCall, agent: AgentRule, caller: Caller) => Promise<Answer>;

export interface ExtendedParts {
  readonly clock: Clock;
  readonly rules: () => Rules;
  readonly extended: ExtendedStore;
  readonly acceptedCard: AcceptedCard;
  readonly callers: Callers;
  readonly own: OwnCredentials;
  readonly trust: Trust;
  readonly hash: NameHash;
  readonly refresh: RefreshExtended;
  readonly sessions: Sessions;
  readonly local: LocalExtended;
  readonly extendedReviews: Pick<ExtendedReviews, 'waits'>;
}

interface State {
  readonly readCard: ReadPublicCard;
  readonly flights: SingleFlight<ExtendedOutcome>;
  readonly setbacks: Setbacks<PartitionKey>;
}

export interface ExtendedCards {
  readonly serve: ServeExtended;
  /** The same from what is held and fresh alone; undefined where there is nothing. The origin of the extended card is not asked. */
  held(call: ExtendedCall, agent: AgentRule, caller: Caller): Promise<Answer | undefined>;
  /** Resolves when nothing is on its way. */
  settled(): Promise<void>;
  /** Forgets every remembered failure. */
  forgive(): void;
}

export function createExtendedCards(parts: ExtendedParts): ExtendedCards {
  const state: State = {
    readCard: createReadPublicCard(),
    flights: createSingleFlight(parts.clock),
    setbacks: createSetbacks(),
  };
  return {
    serve: async (call, agent, caller) => {
      const turn = { call, agent, caller };
      parts.sessions.seen(caller);
      const planned = await plan(parts, state, turn);
      if (!planned.ok) return no(turn, planned.refusal);
      return serveStored(parts, state, turn, planned.value) ?? serveFetched(parts, state, turn, planned.value);
    },
    async held(call, agent, caller) {
      const turn = { call, agent, caller };
      const planned = await plan(parts, state, turn);
      return planned.ok ? serveFresh(parts, turn, planned.value) : undefined;
    },
    settled: () => state.flights.settled(),
    forgive: () => state.setbacks.clearAll(),
  };
}

/** One request for an extended card on its way through. */
interface Turn {
  readonly call: ExtendedCall;
  readonly agent: AgentRule;
  readonly caller: Caller;
}

const no = ({ call: { form }, agent }: Turn, refusal: Refusal): Answer =>
  refuseIn(form, ...named(refusal, agent.name, 'extended'));

/** Everything that must hold before the origin is asked, and what it would be asked by. */
async function plan(
  parts: ExtendedParts,
  state: State,
  { call, agent, caller }: Turn,
): Promise<Outcome<ExtendedTarget>> {
  const { ask, tenant, version } = call;
  const loop = refuseLoop(ask.field('via'));
  if (loop !== undefined) return refused(loop);
  if (!version.ok) return version;
  const known = await parts.acceptedCard(agent, CARD_REQUESTS[version.value]);
  if (!known.ok) return known;
  const publicCard = declaring(known.value);
  if (!publicCard.ok) return publicCard;
  const card = state.readCard(known.value, agent);
  const interfaces = interfacesFor(card, tenant, version.value);
  if (!interfaces.ok) return interfaces;
  const shown = decideShown(parts, { ask, caller, agent, card });
  if (!shown.ok) return shown;
  const extensions = ask.field('a2a-extensions')?.trim() ?? '';
  const partition = partitionKey(
    {
      agent: agent.name,
      card: known.value.url,
      interfaceTenant: interfaces.value[0]?.tenant ?? '',
      principal: caller.principal,
      shown: shown.value.name,
      version: version.value,
      extensions,
    },
    parts.hash,
  );
  const about = [...known.value.tags, ...caller.tags];
  const order = { agent, card, interfaces: interfaces.value, extensions, about };
  return accepted({ agent, caller, partition, shown: shown.value, publicDigest: publicCard.value, order });
}

/** "Only if the accepted public card declares it." */
function declaring({ admission }: Entry): Outcome<NonNullable<Entry['admission']>['digest']> {
  if (admission?.facts.extended === true) return accepted(admission.digest);
  const detail = "The agent's public card declares no extended card (capabilities.extendedAgentCard).";
  return refused(refuse('extended-not-supported', detail));
}

/** The hit path. Undefined where the origin must be asked. */
function serveStored(
  parts: ExtendedParts,
  state: State,
  turn: Turn,
  target: ExtendedTarget,
): Answer | Promise<Answer> | undefined {
  const fresh = serveFresh(parts, turn, target);
  if (fresh !== undefined) return fresh;
  const now = parts.clock.now();
  const entry = usable(parts, target, now);
  const setback = state.setbacks.get(target.partition);
  if (setback === undefined || !isFailing(setback, now)) return undefined;
  if (entry === undefined || !mayServeOnError({ entry, now, status: setback.status })) return no(turn, setback.refusal);
  const cache = cacheStatusHit({ ttl: ttlFor(entry, now), detail: 'stale-if-error' });
  return answer(parts, turn, { target, entry, now, cache, result: 'hit_stale_error', own: false });
}

function serveFresh(parts: ExtendedParts, turn: Turn, target: ExtendedTarget): Promise<Answer> | undefined {
  const now = parts.clock.now();
  const entry = usable(parts, target, now);
  if (entry === undefined || freshFor(entry, now) <= 0) return undefined;
  // What waited is decided: the newer one may be had.
  if (entry.admission.review === 'held' && !parts.extendedReviews.waits(target.partition)) return undefined;
  if (entry.lifetime.validateAlways || asksForNewer(turn.call.ask, entry, now)) return undefined;
  return answer(parts, turn, {
    target,
    entry,
    now,
    cache: cacheStatusHit({ ttl: ttlFor(entry, now) }),
    result: 'hit',
    own: false,
  });
}

/** What was obtained under another policy, beside another public card, or in a session that is over, is not there. */
function usable(parts: ExtendedParts, target: ExtendedTarget, now: EpochMs): ExtendedEntry | undefined {
  const entry = parts.extended.get(target.partition);
  if (entry === undefined) return undefined;
  const isOfToday =
    entry.publicDigest === target.publicDigest && entry.admission.policy === parts.trust.basis(target.agent).policy;
  // The token of this very request may end before the one by which the entry was obtained.
  const goesOn = now < entry.until && now < target.shown.until;
  // What is not of today is kept to compare the next one with, until its session is over.
  if (!goesOn) parts.extended.drop(entry);
  return goesOn && isOfToday ? entry : undefined;
}

async function serveFetched(parts: ExtendedParts, state: State, turn: Turn, target: ExtendedTarget): Promise<Answer> {
  const before = parts.extended.get(target.partition);
  const work = (): Promise<ExtendedOutcome> => refresh(parts, state, target);
  const patience = parts.rules().limits.response;
  const flight = await state.flights.join(target.partition, work, patience);
  const collapsed = flight.as === 'follower' && mayShare(flight.value);
  const outcome = flight.as === 'leader' || collapsed ? flight.value : await work();
  const now = parts.clock.now();
  const why = before === undefined ? 'uri-miss' : 'stale';
  if (outcome.ok) {
    const stored = outcome.outcome === 'stored';
    const ttl = stored ? { ttl: ttlFor(outcome.entry, now) } : {};
    const cache = cacheStatusForwarded({ why, status: 200, stored, collapsed, ...ttl });
    return answer(parts, turn, {
      target,
      entry: outcome.entry,
      now,
      cache,
      result: collapsed ? 'collapsed' : 'miss',
      own: !collapsed,
    });
  }
  const entry = usable(parts, target, now);
  if (entry === undefined || !mayServeOnError({ entry, now, status: outcome.status })) return no(turn, outcome.refusal);
  const status = outcome.status === null ? {} : { status: outcome.status };
  const cache = cacheStatusForwarded({ why, ...status, detail: 'stale-if-error' });
  return answer(parts, turn, { target, entry, now, cache, result: 'hit_stale_error', own: false });
}

/** Only what may be stored may answer a request that it was not made for; what was taken away answers nobody. */
const mayShare = (outcome: ExtendedOutcome): boolean =>
  outcome.ok ? outcome.outcome !== 'uncacheable' : outcome.outcome !== 'superseded';

async function refresh(parts: ExtendedParts, { setbacks }: State, target: ExtendedTarget): Promise<ExtendedOutcome> {
  const outcome = await parts.refresh(target);
  if (outcome.ok) {
    setbacks.clear(target.partition);
    return outcome;
  }
  const { refusal, status, retryAfter } = outcome;
  if (status === 401 || status === 403) {
    parts.sessions.end(target.caller);
  } else if (outcome.outcome !== 'superseded') {
    // A credential that was refused is asked about anew; the next one may be better.
    const [now, chance] = [parts.clock.now(), parts.clock.random()];
    const { negativeTtl } = target.agent.cache;
    setbacks.note(target.partition, { refusal, status, retryAfter, negativeTtl, policy: null, now, chance });
  }
  return outcome;
}

interface Given {
  readonly target: ExtendedTarget;
  readonly entry: ExtendedEntry;
  readonly now: EpochMs;
  readonly cache: string;
  readonly result: Parameters<typeof extendedAnswer>[2]['result'];
  /** True where the origin made it for this request. */
  readonly own: boolean;
}

async function answer({ local }: ExtendedParts, turn: Turn, { own, target, ...given }: Given): Promise<Answer> {
  const { call, agent, caller } = turn;
  const entry = await local(given.entry, { call, agent, interfaces: target.order.card.interfaces });
  const { clientMaxAge } = agent.cache;
  return extendedAnswer(call.ask, call.form, { ...given, caller, entry, forThisRequest: own, clientMaxAge });
}

const ttlFor = (entry: ExtendedEntry, now: EpochMs): ReturnType<typeof ttlOf> =>
  ttlOf(ms(Math.min(freshFor(entry, now), between(now, entry.until))));
