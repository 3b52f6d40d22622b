import { currentAge, ttlOf } from '../http/freshness.ts';
import { type EpochMs, type Ms, type Seconds, ms, msToSeconds } from '../kernel/units.ts';

/** Of time an answer to a hit depends on these whole seconds alone: `Age`, `max-age` less `Age`, and `ttl`. */
export interface Times {
  readonly age: Seconds;
  readonly left: Seconds;
  readonly ttl: Seconds;
}

/** An entry as far as these are told from it. */
interface Timed {
  readonly entry: Parameters<typeof currentAge>[0];
  /** How long it may still be used. */
  readonly left: Ms;
  /** The longest that a client is told of that. */
  readonly clientMaxAge: Ms;
}

export const timesOf = ({ entry, left, clientMaxAge }: Timed, now: EpochMs): Times => ({
  age: msToSeconds(currentAge(entry, now)),
  left: msToSeconds(ms(Math.min(left, clientMaxAge))),
  ttl: ttlOf(left),
});

export const isSameTime = (one: Times, other: Times): boolean =>
  one.age === other.age && one.left === other.left && one.ttl === other.ttl;
