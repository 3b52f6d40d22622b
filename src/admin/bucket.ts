import { between, type EpochMs } from '../kernel/units.ts';

/** Lets through a burst, then a steady pace: `take` says whether there is room now. */
export interface Bucket {
  take(now: EpochMs): boolean;
}

export function createBucket({ burst, perSecond }: { readonly burst: number; readonly perSecond: number }): Bucket {
  let left = burst;
  let at: EpochMs | undefined;
  return {
    take(now) {
      // A clock that was set back gives nothing.
      if (at !== undefined) left = Math.min(burst, left + (Math.max(0, between(at, now)) / 1_000) * perSecond);
      at = now;
      if (left < 1) return false;
      left -= 1;
      return true;
    },
  };
}
