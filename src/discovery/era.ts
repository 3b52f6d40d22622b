import type { Stopped } from '../policy/kills.ts';
import type { RevocationBook } from '../ports/callers.ts';
import type { Snapshot } from './adopt.ts';

/**
 * Numbers the times between two changes of anything that decides who may have what before a card is looked at: the rules, the kills
 * and the revocations. In one era the same request of the same caller passes the same checks; whatever `handle` asks besides belongs
 * here too.
 */
export type Era = () => number;

interface Parts {
  readonly snapshot: Snapshot;
  readonly kills: Stopped;
  readonly revocations: Pick<RevocationBook, 'inForce'>;
}

/** All of them are replaced when they change, and never changed: floor, three comparisons. */
export function createEra({ snapshot, kills, revocations }: Parts): Era {
  let era = 0;
  let routes: unknown;
  let active: unknown;
  let inForce: unknown;
  return () => {
    if (snapshot.routes === routes && kills.active() === active && revocations.inForce() === inForce) return era;
    [routes, active, inForce] = [snapshot.routes, kills.active(), revocations.inForce()];
    return ++era;
  };
}
