import { NO_DIRECTIVES } from '../http/cache-control.ts';
import { decideReuse, mayServeOnError } from '../http/reuse.ts';
import type { Entry } from '../kernel/entry.ts';
import { type Outcome, type Refusal, accepted, refused } from '../kernel/refusal.ts';
import { type EpochMs, between } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { CardBook } from './card-book.ts';
import type { CardRequest } from './card-request.ts';
import { isFailing } from './setbacks.ts';

/** The card that calls go by now: the very one that a caller would be served. */
export interface AcceptedCard {
  /** Finds it, or why there is none; its origin is asked where that must be done to know. */
  find(agent: AgentRule, request: CardRequest): Outcome<Entry> | Promise<Outcome<Entry>>;
  /** True while this one, which was found before, would be found again, with nobody asked and nothing begun. */
  stands(agent: AgentRule, request: CardRequest, entry: Entry): boolean;
}

/** A card that must be validated each time is validated once a second at most, however many calls go by it. */
const VALID_FOR = 1_000;

/** Why nothing but the public card of an agent may be used now; undefined where all may. */
export type Suspended = (agent: AgentRule) => Refusal | undefined;

export function createAcceptedCard(book: CardBook, now: () => EpochMs, suspended: Suspended): AcceptedCard {
  const usable = (agent: AgentRule, request: CardRequest, entry: Entry | undefined): Outcome<Entry> | undefined => {
    if (entry === undefined) return undefined;
    const at = now();
    const { use } = decideReuse({ entry, request: NO_DIRECTIVES, now: at });
    if (use === 'fresh' || between(entry.receivedAt, at) < VALID_FOR) return accepted(entry);
    if (use !== 'stale-while-revalidate') return undefined;
    const setback = book.setback(agent, request);
    if (setback === undefined || !isFailing(setback, at)) void book.updateBehind(agent, request);
    return accepted(entry);
  };
  return {
    find(agent, request) {
      const card =
        usable(agent, request, book.current(agent, request)) ?? fetched({ book, now, usable }, agent, request);
      // Looked at last: the fetch itself may have brought the change that waits.
      const unlessSuspended = (found: Outcome<Entry>): Outcome<Entry> => {
        const refusal = suspended(agent);
        return refusal === undefined ? found : refused(refusal);
      };
      return card instanceof Promise ? card.then(unlessSuspended) : unlessSuspended(card);
    },
    stands: (agent, request, entry) =>
      book.current(agent, request) === entry &&
      decideReuse({ entry, request: NO_DIRECTIVES, now: now() }).use === 'fresh' &&
      suspended(agent) === undefined,
  };
}

interface Parts {
  readonly book: CardBook;
  readonly now: () => EpochMs;
  readonly usable: (agent: AgentRule, request: CardRequest, entry: Entry | undefined) => Outcome<Entry> | undefined;
}

/** A failure that is remembered is not tried again for a call: the card that may be served in its place is there or not. */
async function fetched({ book, now, usable }: Parts, agent: AgentRule, request: CardRequest): Promise<Outcome<Entry>> {
  const stored = await book.restore(agent, request);
  const found = usable(agent, request, stored);
  if (found !== undefined) return found;
  const setback = book.setback(agent, request);
  if (setback !== undefined && isFailing(setback, now()))
    return standIn(stored, setback.status, now()) ?? refused(setback.refusal);
  const { refreshed } = await book.update(agent, request);
  if (refreshed.ok) return accepted(refreshed.entry);
  const { refusal, status } = refreshed;
  return standIn(await book.restore(agent, request), status, now()) ?? refused(refusal);
}

const standIn = (entry: Entry | undefined, status: number | null, now: EpochMs): Outcome<Entry> | undefined =>
  entry !== undefined && mayServeOnError({ entry, now, status }) ? accepted(entry) : undefined;
