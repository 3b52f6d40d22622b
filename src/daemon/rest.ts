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
/** Work that leaves something worth collecting: a start, a reload, a load that has passed. */
const WORTH = 250;
/** A collection stops everything for some 2 ms per MiB; what a larger heap wastes is a small part of it. */
export const LARGEST_HEAP = 64 * 1024 ** 2;

/**
 * Collects once whenever a process has worked and come to rest. V8 collects when more is asked for, which a daemon at rest never
 * does: it would keep the garbage of its start, and the room that it needed for it, for as long as it lives.
 */
export function collectAtRest({ clock, used, heapBytes, collect }: RestParts): () => void {
  let before = used();
  let collectedAt = 0;
  const look = (): void => {
    const isAtRest = used() - before < RESTING;
    if (isAtRest && used() - collectedAt >= WORTH && heapBytes() <= LARGEST_HEAP) {
      collect();
      collectedAt = used();
    }
    before = used();
    cancel = clock.after(LOOK_EVERY, look);
  };
  let cancel = clock.after(LOOK_EVERY, look);
  return () => cancel();
}
