import type { Tag } from '../kernel/ids.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { Store } from '../ports.ts';
import type { Snapshot } from './adopt.ts';
import type { CardBook } from './card-book.ts';
import type { Discovery } from './discovery.ts';
import type { Extended } from './extended.ts';
import { agentTags } from './key.ts';
import type { Schedule } from './schedule.ts';
import type { Stops } from './stops.ts';

interface Parts {
  readonly stops: Pick<Stops, 'stop'>;
  readonly book: Pick<CardBook, 'forgive'>;
  readonly schedule: Pick<Schedule, 'wake'>;
  readonly extended: Pick<Extended, 'forgive' | 'purge'>;
}

/** What a kill does, and its end. */
export const switching = (
  { store }: { readonly store: Pick<Store, 'purge'> },
  snapshot: Snapshot,
  { stops, book, schedule, extended }: Parts,
): Pick<Discovery, 'kill' | 'purge' | 'resume'> => ({
  async kill(scope) {
    stops.stop(scope);
    book.forgive();
    extended.forgive();
    extended.purge([scope], false);
    await store.purge([scope], false);
  },
  async purge(tags, soft) {
    const ofCallers = extended.purge(tags, soft);
    return ofCallers + (await store.purge(tags, soft));
  },
  resume(scope) {
    book.forgive();
    extended.forgive();
    if (snapshot.rules.prefetch.enabled) schedule.wake((agent) => mayCover(scope, agent));
  },
});

/** Which cards a key has signed is not known before they are fetched, so that any of them may be. */
const mayCover = (scope: Tag, agent: AgentRule): boolean =>
  agentTags(agent).includes(scope) || !/^(agent|origin):/.test(scope);
