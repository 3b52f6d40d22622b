import { setImmediate as otherWork } from 'node:timers/promises';
import { epochMs } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** Node keeps a delay in 31 bits and takes a longer one for 1 ms: longer delays go in several steps. */
const LONGEST_STEP = 2 ** 31 - 1;

/** The machine's own clock. Its timers never keep the process alive: what must be waited for is waited for by its owner. */
export const createSystemClock = (): Clock => ({
  now: () => epochMs(Date.now()),
  after: (delay, run) => {
    let cancel = (): void => {};
    const start = (left: number): void => {
      const step = Math.min(left, LONGEST_STEP);
      const timer = setTimeout(() => (step < left ? start(left - step) : run()), step).unref();
      cancel = () => clearTimeout(timer);
    };
    start(delay);
    return () => cancel();
  },
  random: Math.random,
  turn: () => otherWork(),
});
