import type { Clock, Fetcher, Ledger, Observer, Store } from '../ports.ts';
import { type RouteTable, buildRoutes } from '../policy/route.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';
import { type CardBook, type Update, createCardBook } from './card-book.ts';
import { CARD_REQUESTS } from './card-request.ts';
import { type CardStatus, cardStatus } from './card-status.ts';
import { type Handle, createHandle } from './handle.ts';
import { createJudgeAgain } from './judge-again.ts';
import { createListAgents } from './list-agents.ts';
import { createRefuseOperation } from './operation.ts';
import { createRefresh } from './refresh.ts';
import { type Schedule, createSchedule } from './schedule.ts';
import { createServeCard } from './serve-card.ts';
import { createServeOrigin } from './serve-origin.ts';

/** The use case, whole: what the listeners call, what keeps cards fresh, and what is known of them. */
export interface Discovery {
  readonly handle: Handle;
  readonly book: CardBook;
  readonly schedule: Schedule;
  /** Fetches and judges one card now, for the commands that run without a daemon. */
  fetchOnce(agent: AgentRule): Promise<Update>;
  /** How every named agent's card stands now. */
  statuses(): readonly CardStatus[];
  /** Adopts another snapshot of the rules; what was judged under the old one is judged again before it is served. */
  adopt(rules: Rules): void;
  /** Ends background work and what is on its way. */
  stop(): Promise<void>;
}

export interface Doors {
  readonly clock: Clock;
  readonly fetcher: Fetcher;
  readonly store: Store;
  readonly ledger: Ledger;
  readonly observer: Observer;
}

/** Puts the parts of the use case together around the five doors. */
export function createDiscovery(doors: Doors, first: Rules): Discovery {
  const stopping = new AbortController();
  let rules = first;
  let routes: RouteTable = buildRoutes(first);
  const now = (): ReturnType<Clock['now']> => doors.clock.now();
  const limits = (): Rules['limits'] => rules.limits;
  const book = createCardBook({
    ...doors,
    limits,
    refresh: createRefresh(doors, stopping.signal),
    judgeAgain: createJudgeAgain(doors),
  });
  const schedule = createSchedule({ clock: doors.clock, book }, first);
  const handle = createHandle({
    routes: () => routes,
    serveCard: createServeCard(book, now),
    serveOrigin: createServeOrigin({ ...doors, limits }, stopping.signal),
    refuseOperation: createRefuseOperation(book),
    listAgents: createListAgents(book, () => rules, now),
  });
  return {
    handle,
    book,
    schedule,
    fetchOnce: (agent) => book.update(agent, CARD_REQUESTS['1.0']),
    statuses: () => [...rules.agents.values()].map((agent) => cardStatus(book, agent, now())),
    adopt(next) {
      rules = next;
      routes = buildRoutes(next);
      if (next.prefetch.enabled) schedule.follow(next);
    },
    async stop() {
      schedule.stop();
      stopping.abort();
      await book.settled();
    },
  };
}
