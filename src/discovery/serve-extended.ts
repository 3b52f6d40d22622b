import { cacheStatusForwarded, cacheStatusHit } from '../http/answer.ts';
import { ttlOf } from '../http/freshness.ts';
import { mayServeOnError } from '../http/reuse.ts';
import type { Answer } from '../kernel/answer.ts';
import type { CallerVersion } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import type { ExtendedEntry, PartitionKey } from '../kernel/extended-entry.ts';
import type { NameHash } from '../kernel/principal.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';
import type { Clock } from '../ports.ts';
import type { ExtendedStore } from '../ports/callers.ts';
import type { AcceptedCard } from './accepted-card.ts';
import { asksForNewer } from './asks-newer.ts';
import type { Caller, Callers } from './callers.ts';
import { CARD_REQUESTS } from './card-request.ts';
import type { Era } from './era.ts';
import { extendedAnswer } from './extended-answer.ts';
import { named } from './call.ts';
import { type ExtendedCall, refuseIn } from './extended-call.ts';
import { type ExtendedHits, type Turn, createExtendedHits, leftOf } from './extended-hits.ts';
import type { ExtendedReviews } from './extended-reviews.ts';
import type { ExtendedOutcome, ExtendedTarget, RefreshExtended } from './extended-refresh.ts';
import { type HeldExtended, type Holding, createHeldExtended } from './held-extended.ts';
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
export type ServeExtended = (call: ExtendedCall, agent: AgentRule, caller: Caller) => Answer | Promise<Answer>;

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
  readonly era: Era;
}

interface State {
  readonly held: HeldExtended;
  readonly hits: ExtendedHits;
  readonly readCard: ReadPublicCard;
  readonly flights: SingleFlight<ExtendedOutcome>;
  readonly setbacks: Setbacks<PartitionKey>;
}

export interface ExtendedCards {
  readonly serve: ServeExtended;
  /** The same from what is held and fresh alone; undefined where there is nothing. The origin of the extended card is not asked. */
  held(call: ExtendedCall, agent: AgentRule, caller: Caller): Answer | undefined | Promise<Answer | undefined>;
  /** Resolves when nothing is on its way. */
  settled(): Promise<void>;
  /** Forgets every remembered failure. */
  forgive(): void;
}

export function createExtendedCards(parts: ExtendedParts): ExtendedCards {
  const held = createHeldExtended(parts);
  const state: State = {
    held,
    hits: createExtendedHits({ ...parts, held, now: () => parts.clock.now() }),
    readCard: createReadPublicCard(),
    flights: createSingleFlight(parts.clock),
    setbacks: createSetbacks(),
  };
  return {
    serve(call, agent, caller) {
      const turn = { call, agent, caller };
      parts.sessions.seen(caller);
      const known = state.hits.find(turn);
      if (known !== undefined) return known;
      const serve = (planned: Outcome<Plan>): Answer | Promise<Answer> =>
        planned.ok
          ? (serveStored(parts, state, turn, planned.value) ?? serveFetched(parts, state, turn, planned.value))
          : no(turn, planned.refusal);
      const planned = plan(parts, state, turn);
      return planned instanceof Promise ? planned.then(serve) : serve(planned);
    },
    held(call, agent, caller) {
      const turn = { call, agent, caller };
      const known = state.hits.find(turn);
      if (known !== undefined) return known;
      const serve = (planned: Outcome<Plan>): Answer | undefined | Promise<Answer> =>
        planned.ok ? serveFresh(parts, state, turn, planned.value) : undefined;
      const planned = plan(parts, state, turn);
      return planned instanceof Promise ? planned.then(serve) : serve(planned);
    },
    settled: () => state.flights.settled(),
    forgive: () => state.setbacks.clearAll(),
  };
}

/** What was decided before anything is looked up: what would be asked for, beside which public card, and where it would be held. */
interface Plan {
  readonly publicCard: Entry;
  readonly target: ExtendedTarget;
  readonly holding: Holding;
}

const no = ({ call: { form }, agent }: Turn, refusal: Refusal): Answer =>
  refuseIn(form, ...named(refusal, agent.name, 'extended'));

/** Everything that must hold before the origin is asked, and what it would be asked by. */
function plan(parts: ExtendedParts, state: State, turn: Turn): Outcome<Plan> | Promise<Outcome<Plan>> {
  const { ask, version } = turn.call;
  const loop = refuseLoop(ask.field('via'));
  if (loop !== undefined) return refused(loop);
  if (!version.ok) return version;
  const planBeside = (known: Outcome<Entry>): Outcome<Plan> =>
    known.ok ? planBy(parts, state, turn, { publicCard: known.value, version: version.value }) : known;
  const known = parts.acceptedCard.find(turn.agent, CARD_REQUESTS[version.value]);
  return known instanceof Promise ? known.then(planBeside) : planBeside(known);
}

function planBy(
  parts: ExtendedParts,
  { readCard }: State,
  { call: { ask, tenant }, agent, caller }: Turn,
  { publicCard, version }: { readonly publicCard: Entry; readonly version: CallerVersion },
): Outcome<Plan> {
  const digest = declaring(publicCard);
  if (!digest.ok) return digest;
  const publicDigest = digest.value;
  const card = readCard(publicCard, agent);
  const interfaces = interfacesFor(card, tenant, version);
  if (!interfaces.ok) return interfaces;
  const shown = decideShown(parts, { ask, caller, agent, card });
  if (!shown.ok) return shown;
  const extensions = ask.field('a2a-extensions')?.trim() ?? '';
  const partition = partitionKey(
    {
      agent: agent.name,
      card: publicCard.url,
      interfaceTenant: interfaces.value[0]?.tenant ?? '',
      principal: caller.principal,
      shown: shown.value.name,
      version,
      extensions,
    },
    parts.hash,
  );
  const about = [...publicCard.tags, ...caller.tags];
  const order = { agent, card, interfaces: interfaces.value, extensions, about };
  const target = { agent, caller, partition, shown: shown.value, publicDigest, order };
  const holding = { agent, partition, publicDigest, until: shown.value.until };
  return accepted({ publicCard, target, holding });
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
  planned: Plan,
): Answer | Promise<Answer> | undefined {
  const fresh = serveFresh(parts, state, turn, planned);
  if (fresh !== undefined) return fresh;
  const { holding, target } = planned;
  const now = parts.clock.now();
  const entry = state.held.usable(holding, now);
  const setback = state.setbacks.get(holding.partition);
  if (setback === undefined || !isFailing(setback, now)) return undefined;
  if (entry === undefined || !mayServeOnError({ entry, now, status: setback.status })) return no(turn, setback.refusal);
  const cache = cacheStatusHit({ ttl: ttlFor(entry, now), detail: 'stale-if-error' });
  return answer(parts, turn, { target, entry, now, cache, result: 'hit_stale_error', own: false });
}

function serveFresh(
  { clock, local }: ExtendedParts,
  { held, hits }: State,
  turn: Turn,
  { publicCard, holding, target }: Plan,
): Answer | Promise<Answer> | undefined {
  const now = clock.now();
  const entry = held.fresh(holding, now);
  if (entry === undefined || asksForNewer(turn.call.ask, entry, now)) return undefined;
  const { call, agent } = turn;
  const shown = local(entry, { call, agent, interfaces: target.order.card.interfaces });
  const serve = (one: ExtendedEntry): Answer => hits.answer(turn, { publicCard, holding, entry, shown: one }, now);
  return shown instanceof Promise ? shown.then(serve) : serve(shown);
}

async function serveFetched(
  parts: ExtendedParts,
  state: State,
  turn: Turn,
  { target, holding }: Plan,
): Promise<Answer> {
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
  const entry = state.held.usable(holding, now);
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

const ttlFor = (entry: ExtendedEntry, now: EpochMs): ReturnType<typeof ttlOf> => ttlOf(leftOf(entry, now));
