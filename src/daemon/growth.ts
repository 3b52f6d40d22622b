import { ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** What there is to know of a process that may be storing more and more. */
export interface GrowthParts {
  readonly clock: Clock;
  /** Bytes that are charged for what is stored. */
  readonly stored: () => number;
  /** Makes V8 favour memory over time, or not any more. */
  readonly favourMemory: (favours: boolean) => void;
}

const LOOK_EVERY = ms(1_000);
/** Some ten cards of 3 KB. */
const GROWING = 64 * 1024;
/** Some four thousand: what fewer leave behind is not more than V8 keeps for hits. */
const WORTH_IT = 16 * 1024 * 1024;

/**
 * Favours memory from the start, and whenever there is much and more of it than a moment ago. Each fetch leaves behind more than it brings, and V8 lets the
 * heap grow to twice what is in use and more before it collects all of it: what a load of fetches needed so would be kept for good. Hits on
 * what is there pay nothing for that, since it is over when the load is.
 */
export function favourMemoryWhileGrowing({ clock, stored, favourMemory }: GrowthParts): () => void {
  let before = stored();
  let favours = true;
  favourMemory(favours);
  const look = (): void => {
    const now = stored();
    const isGrowing = now > WORTH_IT && now - before > GROWING;
    before = now;
    if (isGrowing !== favours) favourMemory(isGrowing);
    favours = isGrowing;
    cancel = clock.after(LOOK_EVERY, look);
  };
  let cancel = clock.after(LOOK_EVERY, look);
  return () => cancel();
}
