import { requestDirectives } from '../http/cache-control.ts';
import { currentAge } from '../http/freshness.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Lifetime } from '../kernel/entry.ts';
import { type EpochMs, type Ms, isDuring, later, ms, msToSeconds } from '../kernel/units.ts';

/** "on cards one caller causes at most one refresh a second" */
const REFRESH_FLOOR = ms(1_000);

/** Tells whether an origin was asked so lately that no caller makes it be asked again. */
export const hasJustBeen = (at: EpochMs, now: EpochMs): boolean => isDuring(now, at, later(at, REFRESH_FLOOR));

/** A stored card, as far as its age tells whether a caller may want another. */
interface Aging {
  readonly receivedAt: EpochMs;
  readonly initialAge: Ms;
  readonly lifetime: Lifetime;
}

/** Tells whether the caller's own fields ask for a newer card than a fresh one that is stored, and may. */
export function asksForNewer(ask: Ask, entry: Aging, now: EpochMs): boolean {
  if (!hasDirectives(ask)) return false;
  if (hasJustBeen(entry.receivedAt, now) || entry.lifetime.immutable) return false;
  return wantsNewerThan(ask, msToSeconds(currentAge(entry, now)));
}

/** Tells whether the caller's own fields ask for what is younger than this, in seconds. */
export function wantsNewerThan(ask: Ask, age: number): boolean {
  if (!hasDirectives(ask)) return false;
  const { noCache, maxAge } = requestDirectives((name) => ask.field(name));
  return noCache || (maxAge !== null && age > maxAge);
}

/** Tells whether the caller says anything of how new an answer is to be. */
export const hasDirectives = (ask: Ask): boolean =>
  ask.field('cache-control') !== undefined || ask.field('pragma') !== undefined;
