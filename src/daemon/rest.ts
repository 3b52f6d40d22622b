import { ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** What there is to know of a process that may be at rest. */
export interface RestParts {
  readonly clock: Clock;
  /** The CPU time that the process has used so far, in ms. */
  readonly used: () => number;
  readonly heapBytes: () => number;
  /** Collects garbage at once and gives back what it frees. */
  readonly collect: () => void;
}

const LOOK_EVERY = ms(2_000);
/** Whoever used less in the time between two looks was at rest. */
const RESTING = 40;
/** A collection stops everything for some 2 ms per MiB; what a larger heap wastes is a small part of it. */
export const LARGEST_HEAP = 64 * 1024 ** 2;

/**
 * Collects once, when a process comes to rest after its start. V8 collects when more is asked for, which a daemon at rest never does: it
 * would keep the garbage of its start, and the room that it needed for it, for as long as it lives. Not again after that: whoever
 * answers has its code compiled and its young generation in use, and a collection makes the next thousands of answers twice as dear.
 */
export function collectAtRest({ clock, used, heapBytes, collect }: RestParts): () => void {
  let before = used();
  const look = (): void => {
    const isAtRest = used() - before < RESTING;
    before = used();
    if (!isAtRest) cancel = clock.after(LOOK_EVERY, look);
    else if (heapBytes() <= LARGEST_HEAP) collect();
  };
  let cancel = clock.after(LOOK_EVERY, look);
  return () => cancel();
}
