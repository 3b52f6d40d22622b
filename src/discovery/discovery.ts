import type { Clock, Fetcher, Ledger, Observer, Store } from '../ports.ts';
import { type RouteTable, buildRoutes } from '../policy/route.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';
import { type CardBook, type Update, createCardBook } from './card-book.ts';
import { CARD_REQUESTS } from './card-request.ts';
import { type CardStatus, cardStatus } from './card-status.ts';
import { type Handle, createHandle } from './handle.ts';
import { createFetchKeys } from './fetch-keys.ts';
import { createJudge } from './judge.ts';
import { createJudgeAgain } from './judge-again.ts';
import { createListAgents } from './list-agents.ts';
import { createRefuseOperation } from './operation.ts';
import { createRefresh } from './refresh.ts';
import { type Schedule, createSchedule } from './schedule.ts';
import { createServeCard } from './serve-card.ts';
import { createServeOrigin } from './serve-origin.ts';
import { createTrust, type Trust } from './trust.ts';

/** The use case, whole: what the listeners call, what keeps cards fresh, and what is known of them. */
export interface Discovery {
  readonly handle: Handle;
  readonly book: CardBook;
  readonly schedule: Schedule;
  readonly trust: Trust;
  /** Resolves when the first snapshot's keys are read; nothing may be asked before. */
  readonly ready: Promise<void>;
  /** Fetches every key set and every card once, `concurrency` cards at a time. */
  prefetch(concurrency: number): Promise<void>;
  /** Fetches and judges one card now, for the commands that run without a daemon. */
  fetchOnce(agent: AgentRule): Promise<Update>;
  /** How every named agent's card stands now. */
  statuses(): readonly CardStatus[];
  /** Adopts another snapshot of the rules; what was judged under the old one is judged again before it is served. */
  adopt(rules: Rules): Promise<void>;
  /** Resolves when nothing is on its way. */
  settled(): Promise<void>;
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

/** Keys, verdicts and cards: what is known of what was fetched. */
function createKnown(
  doors: Doors,
  rules: () => Rules,
  stopping: AbortSignal,
): { readonly trust: Trust; readonly book: CardBook } {
  const limits = (): Rules['limits'] => rules().limits;
  const trust = createTrust({ clock: doors.clock, fetchKeys: createFetchKeys(doors, limits, stopping) });
  const judge = createJudge({ clock: doors.clock, trust, rules });
  const book = createCardBook({
    ...doors,
    limits,
    trust,
    refresh: createRefresh({ ...doors, trust, judge }, stopping),
    judgeAgain: createJudgeAgain({ ...doors, trust, judge }),
  });
  return { trust, book };
}

/** Puts the parts of the use case together around the five doors. */
export function createDiscovery(doors: Doors, first: Rules): Discovery {
  const stopping = new AbortController();
  let rules = first;
  let routes: RouteTable = buildRoutes(first);
  const now = (): ReturnType<Clock['now']> => doors.clock.now();
  const { trust, book } = createKnown(doors, () => rules, stopping.signal);
  const ready = trust.follow(first);
  const schedule = createSchedule({ clock: doors.clock, book }, first);
  const handle = createHandle({
    routes: () => routes,
    serveCard: createServeCard(book, now),
    serveOrigin: createServeOrigin({ ...doors, limits: () => rules.limits }, stopping.signal),
    refuseOperation: createRefuseOperation(book),
    listAgents: createListAgents(book, () => rules, now),
  });
  return {
    handle,
    book,
    schedule,
    trust,
    ready,
    async fetchOnce(agent) {
      await ready;
      return book.update(agent, CARD_REQUESTS['1.0']);
    },
    async prefetch(concurrency) {
      await ready;
      await Promise.all([trust.prefetch(), schedule.prefetch(concurrency)]);
    },
    async settled() {
      await trust.settled();
      await book.settled();
    },
    statuses: () => [...rules.agents.values()].map((agent) => cardStatus(book, agent, now())),
    async adopt(next) {
      await trust.follow(next);
      rules = next;
      routes = buildRoutes(next);
      if (next.prefetch.enabled) schedule.follow(next);
    },
    async stop() {
      schedule.stop();
      trust.stop();
      stopping.abort();
      await trust.settled();
      await book.settled();
    },
  };
}
