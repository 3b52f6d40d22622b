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
  readonly youngBytes: () => number;
  /** Collects the young generation and lets V8 make it small again. */
  readonly collectYoung: () => void;
}

const LOOK_EVERY = ms(2_000);
/** Whoever used less in the time between two looks was at rest. */
const RESTING = 40;
/** Looks at which a process that comes to rest does so after its start: 10 s. */
const LONGEST_START = 5;
/** A collection stops everything for some 2 ms per MiB; what a larger heap wastes is a small part of it. */
export const LARGEST_HEAP = 64 * 1024 ** 2;
/** What is less is not worth it. */
const LARGEST_YOUNG = 4 * 1024 ** 2;

/**
 * Collects when a process comes to rest. V8 collects when more is asked for, which a daemon at rest never does: it would keep the garbage
 * of its start and of its last load, and the room that it needed for it, for as long as it lives. All of it once, after the start; later the young
 * generation alone. Whoever has answered has its code compiled for the shapes of what it works with, and a whole collection that finds
 * nothing of them there makes the next thousands of answers twice as dear.
 */
export function collectAtRest(parts: RestParts): () => void {
  const { clock, used, heapBytes } = parts;
  let before = used();
  /** Looks at which it can still come to rest after its start. */
  let starting = LONGEST_START;
  const rest = (): void => {
    if (starting > 0 && heapBytes() <= LARGEST_HEAP) parts.collect();
    else if (parts.youngBytes() > LARGEST_YOUNG) parts.collectYoung();
    starting = 0;
  };
  const look = (): void => {
    if (used() - before < RESTING) rest();
    starting -= 1;
    before = used();
    cancel = clock.after(LOOK_EVERY, look);
  };
  let cancel = clock.after(LOOK_EVERY, look);
  return () => cancel();
}
