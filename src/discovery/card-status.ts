import { freshFor } from '../http/freshness.ts';
import { mayServeOnError } from '../http/reuse.ts';
import type { ChangeClass } from '../kernel/change.ts';
import type { Entry } from '../kernel/entry.ts';
import type { AgentName, CardDigest } from '../kernel/ids.ts';
import type { CardState, SignatureVerdict } from '../kernel/outcome.ts';
import { type EpochMs, epochMs, later } from '../kernel/units.ts';
import { isByRegistry } from '../policy/kills.ts';
import { isHeldByRegistry } from '../policy/registered.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { CardBook } from './card-book.ts';
import { CARD_REQUESTS } from './card-request.ts';
import type { WaitingExtended } from './extended-waiting.ts';
import type { Pending } from './reviews.ts';

/** How one agent's card stands: what metrics, lists and readiness read. */
export interface CardStatus {
  readonly agent: AgentName;
  readonly state: CardState;
  /** When the origin last gave or validated it; 0 until the first time. */
  readonly lastSuccess: EpochMs;
  /** 0 while there is none. */
  readonly freshUntil: EpochMs;
  /** 0 while fresh or missing. */
  readonly staleSince: EpochMs;
  readonly signature: SignatureVerdict | null;
  readonly version: string | null;
  readonly protocolVersion: string | null;
  readonly digest: CardDigest | null;
  /** How many changes of each class wait for review; a class that is not there has none. */
  readonly pending: PendingCounts;
}

export type PendingCounts = { readonly [Class in ChangeClass]?: number };

/** Reads the state of an agent's card, preferring the variant that the prefetch asks for. */
export function cardStatus(book: CardBook, agent: AgentRule, now: EpochMs): CardStatus {
  const entry = cardInUse(book, agent);
  // What a restart found was a success of the run before.
  const lastSuccess = book.lastSuccess(agent.name) || (entry?.receivedAt ?? NEVER);
  const setback = book.setback(agent, CARD_REQUESTS['1.0']);
  const stopped = stoppedBy(book, agent, entry);
  const waiting = book.pending(agent);
  const pending = countByClass(waiting, book.pendingExtended(agent));
  if (entry === undefined) return { ...NOTHING, agent: agent.name, state: stopped ?? 'missing', lastSuccess, pending };
  const isHeld = waiting.length > 0 || isHeldByRegistry(agent);
  const state = stopped ?? (isHeld ? 'held' : stateOf(entry, now, setback !== undefined));
  const freshUntil = later(now, freshFor(entry, now));
  return {
    agent: agent.name,
    state,
    lastSuccess,
    freshUntil,
    staleSince: state === 'fresh' ? NEVER : freshUntil,
    signature: entry.admission?.verdict.signature ?? null,
    version: entry.admission?.facts.version ?? null,
    protocolVersion: entry.admission?.facts.protocolVersion ?? null,
    digest: entry.admission?.digest ?? null,
    pending,
  };
}

/** The card that the state is of. */
export const cardInUse = (book: CardBook, agent: AgentRule): Entry | undefined =>
  book.current(agent, CARD_REQUESTS['1.0']) ?? book.admitted(agent)[0];

/** A key that is killed shows only in the card that it signed: then the last attempt says so. */
function stoppedBy(book: CardBook, agent: AgentRule, entry: Entry | undefined): 'killed' | 'revoked' | undefined {
  const stop = book.stopped(agent);
  if (stop !== undefined) return isByRegistry(stop) ? 'revoked' : 'killed';
  const setback = book.setback(agent, CARD_REQUESTS['1.0']);
  return entry === undefined && setback?.refusal.code === 'killed' ? 'killed' : undefined;
}

/** Of several cards that wait, each change counts; of one that there is nothing to compare with any more, each class. */
export function countByClass(waiting: readonly Pending[], extended: readonly WaitingExtended[]): PendingCounts {
  const counts: { [Class in ChangeClass]?: number } = {};
  const count = (of: ChangeClass): void => void (counts[of] = (counts[of] ?? 0) + 1);
  for (const { card } of waiting) for (const change of card.changes) count(change.class);
  for (const { changes, classes } of extended)
    for (const of of changes.length > 0 ? changes.map((change) => change.class) : classes) count(of);
  return counts;
}

const NEVER = epochMs(0);
const NOTHING = {
  freshUntil: NEVER,
  staleSince: NEVER,
  signature: null,
  version: null,
  protocolVersion: null,
  digest: null,
};

function stateOf(entry: Entry, now: EpochMs, failing: boolean): CardState {
  // A card that must be validated each time is as fresh as its origin is answering.
  if (entry.lifetime.validateAlways || entry.lifetime.fresh === 0) return failing ? 'expired' : 'fresh';
  if (freshFor(entry, now) > 0) return 'fresh';
  return mayServeOnError({ entry, now, status: null }) ? 'stale' : 'expired';
}
