import { freshFor } from '../http/freshness.ts';
import type { AgentName } from '../kernel/ids.ts';
import { type EpochMs, type Ms, between, ms } from '../kernel/units.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';
import type { Clock } from '../ports.ts';
import type { CardBook } from './card-book.ts';
import { CARD_REQUESTS, type CardRequest } from './card-request.ts';

/**
 * Keeps the cards of named agents fresh without anyone asking: every card is fetched at start, then again before it becomes
 * stale, then after failures at the back-off's pace. One timer per agent.
 */
export interface Schedule {
  /** Fetches every card once, `concurrency` at a time; resolves when all have ended, one way or the other. */
  prefetch(concurrency: number): Promise<void>;
  /** Follows another set of rules: rules that are gone are forgotten, new ones are fetched for, the others go on as planned. */
  follow(rules: Rules): void;
  /** Looks after the cards of these agents now instead of when they are due. */
  wake(isWanted: (agent: AgentRule) => boolean): void;
  stop(): void;
}

/**
 * Cards that live shorter than this are refreshed behind at this pace only, and by whoever asks in between: an origin that says
 * `max-age=1` gets no request a second from a sidecar whose agent is asleep.
 */
const FLOOR = 30_000;
/** Where in a card's lifetime it is refreshed: spread, so that replicas and agents do not ask in one instant. */
const EARLIEST = 0.8;
const SPREAD = 0.15;

interface Parts {
  readonly clock: Clock;
  readonly book: CardBook;
}

export function createSchedule({ clock, book }: Parts, first: Rules): Schedule {
  const timers = new Map<AgentName, () => void>();
  let rules = first;
  let stopped = false;

  const refresh = async (agent: AgentRule): Promise<void> => {
    for (const request of requestsInUse(book, agent)) {
      if (stopped) return;
      await book.updateBehind(agent, request);
    }
    plan(agent);
  };

  const plan = (agent: AgentRule): void => {
    if (stopped || rules.agents.get(agent.name) !== agent) return;
    timers.get(agent.name)?.();
    const delay = nextRefresh(book, agent, clock.now(), clock.random());
    const again = (): void => void refresh(agent);
    timers.set(agent.name, clock.after(delay, again));
  };

  return {
    prefetch: (concurrency) => eachOf([...rules.agents.values()], concurrency, refresh),
    follow(next) {
      const { prefetch: before, agents } = rules;
      const isPlanned = (agent: AgentRule): boolean => before.enabled && agents.get(agent.name) === agent;
      rules = next;
      for (const [name, cancel] of timers) {
        if (next.prefetch.enabled && next.agents.get(name) === agents.get(name)) continue;
        cancel();
        timers.delete(name);
      }
      if (!next.prefetch.enabled) return;
      const others = [...next.agents.values()].filter((agent) => !isPlanned(agent));
      // A card that other rules admit as well is looked after when it is due: adding one agent asks no other's origin.
      const { served = [], missing = [] } = Object.groupBy(others, standing(book));
      for (const agent of served) plan(agent);
      void eachOf(missing, next.limits.concurrency, refresh);
    },
    wake(isWanted) {
      for (const agent of rules.agents.values()) if (isWanted(agent)) void refresh(agent);
    },
    stop() {
      stopped = true;
      for (const cancel of timers.values()) cancel();
      timers.clear();
    },
  };
}

const standing =
  (book: CardBook) =>
  (agent: AgentRule): 'served' | 'missing' =>
    book.current(agent, CARD_REQUESTS['1.0']) === undefined ? 'missing' : 'served';

/** Does something for each agent, so many at one time. */
async function eachOf(
  agents: readonly AgentRule[],
  concurrency: number,
  refresh: (agent: AgentRule) => Promise<void>,
): Promise<void> {
  const waiting = agents.values();
  const worker = async (): Promise<void> => {
    for (const agent of waiting) await refresh(agent);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, agents.length) }, worker));
}

/** One request per stored variant, and at least the current version's. */
function requestsInUse(book: CardBook, agent: AgentRule): readonly CardRequest[] {
  const seen = new Set([book.current(agent, CARD_REQUESTS['1.0'])]);
  const requests = [CARD_REQUESTS['1.0']];
  for (const version of ['0.3', 'absent'] as const) {
    const entry = book.current(agent, CARD_REQUESTS[version]);
    if (entry === undefined || seen.has(entry)) continue;
    seen.add(entry);
    requests.push(CARD_REQUESTS[version]);
  }
  return requests;
}

/** How long from now the agent's cards are next looked after: the soonest of its variants and its setback. */
function nextRefresh(book: CardBook, agent: AgentRule, now: EpochMs, chance: number): Ms {
  const setback = book.setback(agent, CARD_REQUESTS['1.0']);
  if (setback !== undefined) return ms(Math.max(1, between(now, setback.retryAt)));
  let soonest = Number.POSITIVE_INFINITY;
  for (const entry of book.variants(agent)) {
    const left = Math.max(0, freshFor(entry, now));
    soonest = Math.min(soonest, Math.max(FLOOR, left * (EARLIEST + SPREAD * chance)));
  }
  return ms(Number.isFinite(soonest) ? soonest : FLOOR + FLOOR * chance);
}
