import { selectVariant, variantKey } from '../http/vary.ts';
import type { CallerVersion } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import type { Event } from '../kernel/event.ts';
import type { AgentName, EntryKey } from '../kernel/ids.ts';
import type { EpochMs } from '../kernel/units.ts';
import { epochMs } from '../kernel/units.ts';
import type { AgentRule, Limits } from '../policy/rules.ts';
import type { Clock, Observer, Store } from '../ports.ts';
import { CARD_REQUESTS, type CardRequest } from './card-request.ts';
import type { JudgeAgain } from './judge-again.ts';
import { publicCardKey } from './key.ts';
import type { RefreshCard, Refreshed } from './refresh.ts';
import { type Setback, createSetbacks } from './setbacks.ts';
import { createSingleFlight } from './single-flight.ts';

/** How one wait for an up-to-date card ended, and whether somebody else's fetch brought it. */
export interface Update {
  readonly refreshed: Refreshed;
  readonly collapsed: boolean;
}

/** What is known of every agent's public card, and the only way to bring one up to date. */
export interface CardBook {
  /** The stored entry that the request selects, if it was admitted under today's policy. */
  current(agent: AgentRule, request: CardRequest): Entry | undefined;
  /** The same, after deeper tiers were asked and an entry of another policy was judged again. */
  restore(agent: AgentRule, request: CardRequest): Promise<Entry | undefined>;
  /** All variants of the agent's card that are stored. */
  variants(agent: AgentRule): readonly Entry[];
  /** The last failure for this request, while it is remembered. */
  setback(agent: AgentRule, request: CardRequest): Setback | undefined;
  /** Asks the origin; callers of one card at one time share one exchange. */
  update(agent: AgentRule, request: CardRequest): Promise<Update>;
  /** The same with no answer waiting for it: never rejects, the observer is told if it breaks. */
  updateBehind(agent: AgentRule, request: CardRequest): Promise<void>;
  /** When the origin last gave or validated a card of this agent; 0 for never. */
  lastSuccess(agent: AgentName): EpochMs;
  /** Resolves when nothing is on its way. */
  settled(): Promise<void>;
}

interface Parts {
  readonly clock: Clock;
  readonly store: Store;
  readonly observer: Observer;
  readonly refresh: RefreshCard;
  readonly judgeAgain: JudgeAgain;
  readonly limits: () => Limits;
}

const VERSIONS: readonly CallerVersion[] = ['1.0', '0.3', 'absent'];

export function createCardBook(parts: Parts): CardBook {
  const { clock, store, observer, limits } = parts;
  const setbacks = createSetbacks();
  const flights = createSingleFlight<Refreshed>(clock);
  const successes = new Map<AgentName, EpochMs>();
  const keys = new WeakMap<AgentRule, EntryKey>();

  const keyOf = (agent: AgentRule): EntryKey => {
    let key = keys.get(agent);
    if (key === undefined) keys.set(agent, (key = cardKey(agent)));
    return key;
  };
  // What the origin varies on is unknown until it has answered, so each version flies and fails by itself.
  const lane = (agent: AgentRule, version: CallerVersion): EntryKey => `${keyOf(agent)}\0${version}` as EntryKey;

  const current = (agent: AgentRule, request: CardRequest): Entry | undefined => {
    const entry = selectVariant(store.peek(keyOf(agent)), request.read);
    return entry?.admission?.policy === agent.policy ? entry : undefined;
  };

  const fetchOnce = async (agent: AgentRule, request: CardRequest): Promise<Refreshed> => {
    const stored = current(agent, request);
    const known = successes.has(agent.name) || store.peek(keyOf(agent)).length > 0;
    const refreshed = await parts.refresh({ agent, key: keyOf(agent), request, stored, known }, limits());
    note(agent, request, refreshed);
    return refreshed;
  };

  const note = (agent: AgentRule, request: CardRequest, refreshed: Refreshed): void => {
    const key = lane(agent, request.version);
    if (refreshed.ok) {
      successes.set(agent.name, refreshed.entry.receivedAt);
      setbacks.clear(key);
    } else if (refreshed.outcome !== 'superseded') {
      const { refusal, status, retryAfter } = refreshed;
      const { negativeTtl } = agent.cache;
      setbacks.note(key, { refusal, status, retryAfter, negativeTtl, now: clock.now(), chance: clock.random() });
    }
  };

  /** On a cold start another version's fetch may bring the one answer that serves every version. */
  const followOther = async (agent: AgentRule, request: CardRequest): Promise<Update | undefined> => {
    if (store.peek(keyOf(agent)).length > 0) return undefined;
    const other = VERSIONS.find((version) => version !== request.version && flights.underway(lane(agent, version)));
    if (other === undefined) return undefined;
    const flight = await flights.join(
      lane(agent, other),
      () => fetchOnce(agent, CARD_REQUESTS[other]),
      limits().response,
    );
    if (flight.as === 'alone') return undefined;
    return servesToo(flight.value, request) ? { refreshed: flight.value, collapsed: true } : undefined;
  };

  const updateOwn = async (agent: AgentRule, request: CardRequest): Promise<Update> => {
    const work = (): Promise<Refreshed> => fetchOnce(agent, request);
    const flight = await flights.join(lane(agent, request.version), work, limits().response);
    if (flight.as === 'alone') return { refreshed: await work(), collapsed: false };
    if (!mayShare(flight.value)) {
      return { refreshed: flight.as === 'leader' && flight.value.ok ? flight.value : await work(), collapsed: false };
    }
    return { refreshed: flight.value, collapsed: flight.as === 'follower' };
  };

  return {
    current,
    async restore(agent, request) {
      const entry = selectVariant(await store.find(keyOf(agent)), request.read);
      if (entry === undefined || entry.admission?.policy === agent.policy) return entry;
      return parts.judgeAgain(entry, agent);
    },
    variants: (agent) => store.peek(keyOf(agent)),
    setback: (agent, request) => setbacks.get(lane(agent, request.version)),
    update: async (agent, request) => (await followOther(agent, request)) ?? updateOwn(agent, request),
    async updateBehind(agent, request) {
      if (flights.underway(lane(agent, request.version))) return;
      try {
        await updateOwn(agent, request);
      } catch (error) {
        observer.record(brokenUpdate(agent, error));
      }
    },
    lastSuccess: (agent) => successes.get(agent) ?? epochMs(0),
    settled: flights.settled,
  };
}

const brokenUpdate = (agent: AgentRule, error: unknown): Event => ({
  kind: 'notice',
  level: 'error',
  msg: 'a background refresh broke',
  about: { agent: agent.name, error: error instanceof Error ? error.message : String(error) },
});

/** The first card URL names the agent's card, whichever of its URLs answers. */
function cardKey(agent: AgentRule): EntryKey {
  const [first] = agent.cards;
  if (first === undefined) throw new Error(`agent ${agent.name} has no card URL`);
  return publicCardKey(agent.name, first);
}

/** RFC 9111 §4: only what may be stored may answer a request that it was not made for; what was taken away answers nobody. */
const mayShare = (refreshed: Refreshed): boolean =>
  refreshed.ok ? refreshed.outcome !== 'uncacheable' : refreshed.outcome !== 'superseded';

/** True where another version's outcome is this request's outcome as well. */
function servesToo(refreshed: Refreshed, request: CardRequest): boolean {
  if (!refreshed.ok) return refreshed.outcome === 'failed' || refreshed.outcome === 'denied';
  const { entry } = refreshed;
  return mayShare(refreshed) && variantKey(entry.vary, request.read) === entry.variant;
}
