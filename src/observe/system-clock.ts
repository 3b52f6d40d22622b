import { setTimeout as start } from 'node:timers';
import { epochMs } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** The machine's own clock. Its timers never keep the process alive: what must be waited for is waited for by its owner. */
export const createSystemClock = (): Clock => ({
  now: () => epochMs(Date.now()),
  after(delay, run) {
    // Node treats longer delays as 1 ms; a timer that fires early is planned anew by its owner.
    const timer = start(run, Math.min(delay, 2 ** 31 - 1)).unref();
    return () => clearTimeout(timer);
  },
  random: Math.random,
});
