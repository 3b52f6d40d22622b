import type { Entry } from '../kernel/entry.ts';
import type { CardArchive, Store } from '../ports.ts';

/** Memory in front of a disk: what serves is in memory, and what a restart needs is behind it. */
export interface TieredStore extends Store {
  /**
   * Puts what the disk holds into memory, ages and stale times as they were. Before the first request: verdicts are of an earlier
   * policy until they are reached again.
   * @param barred what must not come back: of agents that are gone, and what a kill covers.
   */
  warm(barred: (entry: Entry) => boolean): Promise<number>;
}

/** Only public cards of named agents: the partition of their keys, which no extended card and no answer of an origin has. */
const PUBLIC = 'card\0';

export function createTieredStore(memory: Store, archive: CardArchive): TieredStore {
  const isKept = (entry: Entry): boolean =>
    entry.agent !== null && entry.admission !== null && entry.key.startsWith(PUBLIC);
  return {
    peek: (key) => memory.peek(key),
    find: (key) => memory.find(key),
    generation: () => memory.generation(),
    size: () => memory.size(),
    async put(entry) {
      const stored = await memory.put(entry);
      if (stored && isKept(entry)) saveNewest(memory, archive, entry);
      return stored;
    },
    code: (key, etag, coded) => memory.code(key, etag, coded),
    async drop(entry) {
      await memory.drop(entry);
      if (isKept(entry)) archive.drop(entry);
    },
    async purge(tags, soft) {
      const count = memory.purge(tags, soft);
      await archive.purge(tags, soft);
      return count;
    },
    async warm(barred) {
      const entries = await archive.load();
      let count = 0;
      for (const entry of entries) {
        if (!isKept(entry) || barred(entry)) archive.drop(entry);
        else if (await memory.put({ ...entry, generation: memory.generation() })) count += 1;
      }
      return count;
    },
    async close() {
      await memory.close();
      await archive.close();
    },
  };
}

/** What memory made of the entry: after a soft purge it came in stale, and is to be stale after a restart. */
function saveNewest(memory: Store, archive: CardArchive, entry: Entry): void {
  const held = memory.peek(entry.key).find(({ variant }) => variant === entry.variant);
  archive.save(held ?? entry);
}
