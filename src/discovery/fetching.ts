import type { Snapshot } from './adopt.ts';
import type { AllKeys } from './all-keys.ts';
import type { CardBook } from './card-book.ts';
import { CARD_REQUESTS } from './card-request.ts';
import type { Discovery } from './discovery.ts';
import type { Registries } from './registries.ts';
import type { Schedule } from './schedule.ts';

interface Parts {
  readonly registries: Registries;
  readonly keys: AllKeys;
  readonly schedule: Schedule;
  readonly book: CardBook;
}

/** What is fetched at nobody's request. */
export const fetching = (
  { registries, keys, schedule, book }: Parts,
  snapshot: Snapshot,
  ready: Promise<void>,
): Pick<Discovery, 'fetchOnce' | 'prefetch'> => ({
  async fetchOnce(agent) {
    await ready;
    if (agent.registered === null) return book.update(agent, CARD_REQUESTS['1.0']);
    // Where it is and whether it may be used is asked now.
    await registries.lookUp(agent.registered.registry);
    return book.update(snapshot.rules.agents.get(agent.name) ?? agent, CARD_REQUESTS['1.0']);
  },
  async prefetch(concurrency) {
    await ready;
    // What a registry says sends for the cards that it places; it holds up no other.
    const heard = registries.allHeard().then(() => book.settled());
    await Promise.all([keys.prefetch(), schedule.prefetch(concurrency), heard]);
  },
});
