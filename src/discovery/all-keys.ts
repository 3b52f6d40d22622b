import type { Issuers } from './issuers.ts';
import type { Trust } from './trust.ts';

/** Everything that holds keys: those of cards and those of callers' tokens. */
export type AllKeys = Pick<Trust, 'prepare' | 'prefetch' | 'sets' | 'settled' | 'stop'>;

export const allKeys = (trust: Trust, issuers: Issuers): AllKeys => ({
  async prepare(rules) {
    const follow = [await trust.prepare(rules), await issuers.prepare(rules)];
    return () => {
      for (const each of follow) each();
    };
  },
  async prefetch() {
    await Promise.all([trust.prefetch(), issuers.prefetch()]);
  },
  sets: () => [...trust.sets(), ...issuers.sets()],
  async settled() {
    await trust.settled();
    await issuers.settled();
  },
  stop() {
    trust.stop();
    issuers.stop();
  },
});
