import type { EntryKey, PolicyDigest } from '../kernel/ids.ts';
import type { Refusal } from '../kernel/refusal.ts';
import { type EpochMs, type Ms, isDuring, later, ms } from '../kernel/units.ts';

/** A failure to refresh one key, remembered so that neither callers nor the schedule hammer a failing origin. */
export interface Setback {
  readonly refusal: Refusal;
  /** The status that the origin answered with; null where none arrived or the answer itself was no use. */
  readonly status: number | null;
  /** What the card was refused under; null where it was no card's fault. */
  readonly policy: PolicyDigest | null;
  readonly at: EpochMs;
  /** How many in a row. */
  readonly failures: number;
  /** Until then callers get the remembered failure or the stale card (negative caching). */
  readonly until: EpochMs;
  /** When the schedule tries again: exponential with jitter, never before the origin's Retry-After. */
  readonly retryAt: EpochMs;
}

/** True while callers get the remembered failure. */
export const isFailing = ({ at, until }: Setback, now: EpochMs): boolean => isDuring(now, at, until);

/** The failures that are remembered now. */
export interface Setbacks<Key extends string = EntryKey> {
  get(key: Key): Setback | undefined;
  note(key: Key, failure: Failure): Setback;
  clear(key: Key): void;
  /** Forgets all of them: what failed before may not fail now. */
  clearAll(): void;
}

export interface Failure {
  readonly refusal: Refusal;
  readonly status: number | null;
  readonly policy: PolicyDigest | null;
  readonly now: EpochMs;
  readonly negativeTtl: Ms;
  readonly retryAfter: Ms | null;
  /** At least 0, below 1. */
  readonly chance: number;
}

/** First back-off of the schedule; doubles to the ceiling. */
const FIRST = 1_000;
/** Long enough to spare a dead origin, short enough that a card is back within minutes. */
const CEILING = 5 * 60_000;
/** An origin cannot put itself out of reach for longer than this by Retry-After. */
const RETRY_AFTER_CEILING = 60 * 60_000;
/** Keys remembered at once, where nothing else is said: agents are few, and each has one for each version. */
const MOST = 10_000;

/** Makes an empty memory of failures, bounded to the most recent keys. */
export function createSetbacks<Key extends string = EntryKey>(most = MOST): Setbacks<Key> {
  const memory = new Map<Key, Setback>();
  return {
    get: (key) => memory.get(key),
    note(key, failure) {
      const setback = setbackOf(failure, memory.get(key)?.failures ?? 0);
      memory.delete(key);
      memory.set(key, setback);
      if (memory.size > most) dropOldest(memory);
      return setback;
    },
    clear: (key) => void memory.delete(key),
    clearAll: () => memory.clear(),
  };
}

function setbackOf(failure: Failure, before: number): Setback {
  const failures = before + 1;
  const asked = Math.min(failure.retryAfter ?? 0, RETRY_AFTER_CEILING);
  const backoff = Math.min(FIRST * 2 ** Math.min(before, 20), CEILING);
  // Full jitter over the upper half: replicas that failed together do not come back together.
  const jittered = backoff / 2 + (backoff / 2) * failure.chance;
  return {
    refusal: failure.refusal,
    status: failure.status,
    policy: failure.policy,
    at: failure.now,
    failures,
    until: later(failure.now, ms(Math.max(failure.negativeTtl, asked))),
    retryAt: later(failure.now, ms(Math.max(jittered, asked))),
  };
}

function dropOldest<Key>(memory: Map<Key, Setback>): void {
  for (const key of memory.keys()) {
    memory.delete(key);
    return;
  }
}
