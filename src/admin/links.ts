import { createHash, randomBytes } from 'node:crypto';
import { type EpochMs, isDuring, later, ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** One-time codes by which a terminal signs a browser in: the admin token itself is in no address. */
export interface Links {
  make(): Link;
  /** True where the code was made here, is young and was not used before. */
  take(code: string): boolean;
  /** Forgets all. */
  drop(): void;
}

export interface Link {
  readonly code: string;
  readonly expires: EpochMs;
}

/** A person carries it from one window to another. */
const LIFETIME = ms(5 * 60_000);
/** Terminals of a few people; one more takes the place of the oldest. */
const MOST = 16;

export function createLinks(clock: Clock): Links {
  /** When each was made, by its digest, oldest first. */
  const made = new Map<string, EpochMs>();
  return {
    make() {
      const [oldest] = made.keys();
      if (made.size >= MOST && oldest !== undefined) made.delete(oldest);
      const code = randomBytes(32).toString('base64url');
      const now = clock.now();
      made.set(digestOf(code), now);
      return { code, expires: later(now, LIFETIME) };
    },
    take(code) {
      const digest = digestOf(code);
      const at = made.get(digest);
      made.delete(digest);
      return at !== undefined && isDuring(clock.now(), at, later(at, LIFETIME));
    },
    drop: () => made.clear(),
  };
}

const digestOf = (code: string): string => createHash('sha256').update(code).digest('hex');
