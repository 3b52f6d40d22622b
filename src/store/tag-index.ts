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
  // One by itself stands without a set, which would take 300 bytes: most tags are of one entry alone.
  const index = new Map<Tag, Entry | Set<Entry>>();
  return {
    add(entry) {
      for (const tag of entry.tags) {
        const tagged = index.get(tag);
        if (tagged instanceof Set) tagged.add(entry);
        else index.set(tag, tagged === undefined || tagged === entry ? entry : new Set([tagged, entry]));
      }
    },
    remove(entry) {
      for (const tag of entry.tags) {
        const tagged = index.get(tag);
        if (tagged instanceof Set) tagged.delete(entry);
        if (tagged === entry || (tagged instanceof Set && tagged.size === 0)) index.delete(tag);
      }
    },
    find(tags) {
      const found = new Set<Entry>();
      for (const tag of tags) {
        const tagged = index.get(tag);
        if (tagged instanceof Set) for (const entry of tagged) found.add(entry);
        else if (tagged !== undefined) found.add(tagged);
      }
      return [...found];
    },
  };
}
