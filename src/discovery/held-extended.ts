import { freshFor } from '../http/freshness.ts';
import type { ExtendedEntry, PartitionKey } from '../kernel/extended-entry.ts';
import type { CardDigest } from '../kernel/ids.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { ExtendedStore } from '../ports/callers.ts';
import type { ExtendedReviews } from './extended-reviews.ts';
import type { Trust } from './trust.ts';

/** Where a caller's card of an agent is held, and what it must go with. Nothing in it is a credential. */
export interface Holding {
  readonly agent: AgentRule;
  readonly partition: PartitionKey;
  readonly publicDigest: CardDigest;
  /** When the credential of the request ends. */
  readonly until: EpochMs;
}

/** Extended cards that are held, as far as they may be used now. */
export interface HeldExtended {
  /** What may be used, however old it is. */
  usable(holding: Holding, now: EpochMs): ExtendedEntry | undefined;
  /** What answers without its origin being asked, unless the caller asks for a newer one. */
  fresh(holding: Holding, now: EpochMs): ExtendedEntry | undefined;
}

interface Parts {
  readonly extended: Pick<ExtendedStore, 'get' | 'drop'>;
  readonly trust: Pick<Trust, 'basis'>;
  readonly extendedReviews: Pick<ExtendedReviews, 'waits'>;
}

export function createHeldExtended({ extended, trust, extendedReviews }: Parts): HeldExtended {
  /** What was obtained under another policy, beside another public card, or in a session that is over, is not there. */
  const usable = ({ agent, partition, publicDigest, until }: Holding, now: EpochMs): ExtendedEntry | undefined => {
    const entry = extended.get(partition);
    if (entry === undefined) return undefined;
    const isOfToday = entry.publicDigest === publicDigest && entry.admission.policy === trust.basis(agent).policy;
    // The token of this very request may end before the one by which the entry was obtained.
    const goesOn = now < entry.until && now < until;
    // What is not of today is kept to compare the next one with, until its session is over.
    if (!goesOn) extended.drop(entry);
    return goesOn && isOfToday ? entry : undefined;
  };
  return {
    usable,
    fresh(holding, now) {
      const entry = usable(holding, now);
      if (entry === undefined || freshFor(entry, now) <= 0 || entry.lifetime.validateAlways) return undefined;
      // What waited is decided: the newer one may be had.
      return entry.admission.review === 'held' && !extendedReviews.waits(holding.partition) ? undefined : entry;
    },
  };
}
