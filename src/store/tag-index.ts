import type { Tag } from '../kernel/ids.ts';

/** What can be found by its tags. */
interface Tagged {
  readonly tags: readonly Tag[];
}

/** Finds entries by tag in time proportional to what is found. */
export interface TagIndex<Entry extends Tagged> {
  add(entry: Entry): void;
  remove(entry: Entry): void;
  find(tags: readonly Tag[]): readonly Entry[];
}

export function createTagIndex<Entry extends Tagged>(): TagIndex<Entry> {
  const index = new Map<Tag, Set<Entry>>();
  return {
    add(entry) {
      for (const tag of entry.tags) {
        const tagged = index.get(tag);
        if (tagged === undefined) index.set(tag, new Set([entry]));
        else tagged.add(entry);
      }
    },
    remove(entry) {
      for (const tag of entry.tags) {
        const tagged = index.get(tag);
        tagged?.delete(entry);
        if (tagged?.size === 0) index.delete(tag);
      }
    },
    find: (tags) => [...new Set(tags.flatMap((tag) => [...(index.get(tag) ?? [])]))],
  };
}
