import type { Ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** How one caller's wait for a shared piece of work ended. */
export type Flight<T> =
  | { readonly as: 'leader'; readonly value: T }
  | { readonly as: 'follower'; readonly value: T }
  /** The leader did not finish within the follower's patience, or broke: go alone, once. */
  | { readonly as: 'alone' };

/** Request collapsing: one piece of work per key, everybody else waits for it for a finite time. */
export interface SingleFlight<T> {
  /**
   * Leads `work` under the key, or follows whoever does. The work belongs to nobody's connection: it goes on when callers leave.
   * @param patience how long a follower waits. The leader's own end is the work's to guarantee.
   */
  join(key: string, work: () => Promise<T>, patience: Ms): Promise<Flight<T>>;
  /** True while work under the key is on its way. */
  underway(key: string): boolean;
  /** How many pieces of work are on their way. */
  size(): number;
  /** Resolves when no work is on its way. */
  settled(): Promise<void>;
}

/** Makes the collapse for one kind of work. Bounded by what may be in flight at a time, since every flight ends. */
export function createSingleFlight<T>(clock: Clock): SingleFlight<T> {
  const flights = new Map<string, Promise<T>>();
  const lead = (key: string, work: () => Promise<T>): Promise<T> => {
    const flight = work().finally(() => flights.delete(key));
    flights.set(key, flight);
    return flight;
  };
  return {
    async join(key, work, patience) {
      const flight = flights.get(key);
      if (flight === undefined) return { as: 'leader', value: await lead(key, work) };
      return follow(flight, patience, clock);
    },
    underway: (key) => flights.has(key),
    size: () => flights.size,
    async settled() {
      while (flights.size > 0) await Promise.allSettled(flights.values());
    },
  };
}

function follow<T>(flight: Promise<T>, patience: Ms, clock: Clock): Promise<Flight<T>> {
  return new Promise((resolve) => {
    const cancel = clock.after(patience, () => resolve({ as: 'alone' }));
    const end = (outcome: Flight<T>): void => {
      cancel();
      resolve(outcome);
    };
    // A broken leader is its own request's error; its followers must not inherit it (a poisoned leader would fail them all).
    flight.then(
      (value) => end({ as: 'follower', value }),
      () => end({ as: 'alone' }),
    );
  });
}
