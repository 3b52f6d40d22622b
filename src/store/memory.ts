import { LRUCache } from 'lru-cache';
import type { Entry } from '../kernel/entry.ts';
import type { EvictionReason } from '../kernel/event.ts';
import { type EntryKey, type Tag, tag } from '../kernel/ids.ts';
import { type Bytes, bytes, ms } from '../kernel/units.ts';
import type { Clock, Observer, Store } from '../ports.ts';
import { entrySize } from './entry-size.ts';
import { createFence } from './fence.ts';
import { createTagIndex } from './tag-index.ts';

export interface MemoryStoreOptions {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly maxBytes: Bytes;
  /** Entries that room is never made by dropping: the last accepted card of a named agent. Bounded by the number of agents. */
  readonly pinned: (entry: Entry) => boolean;
}

/** A key that varies more than this is no key; the variant stored longest ago goes. */
const MOST_VARIANTS = 32;
/** An entry that would fill more than this part of the store is not worth what it pushes out. */
const LARGEST_PART = 4;
const ALL = tag('all');

/** Keeps entries in memory, charged by the byte; the least recently used goes first. */
export function createMemoryStore({ clock, observer, maxBytes, pinned }: MemoryStoreOptions): Store {
  const shelves = new Map<EntryKey, readonly Entry[]>();
  const tags = createTagIndex();
  const fence = createFence();
  const kept = new Map<Entry, Bytes>();
  let keptBytes = 0;
  const lru = new LRUCache<Entry, Bytes>({ maxSize: maxBytes, sizeCalculation: (size) => size });

  const evicted = (entry: Entry, reason: EvictionReason): void =>
    observer.record({ kind: 'evicted', reason, count: 1, bytes: entrySize(entry) });

  const remove = (entry: Entry): void => {
    const size = kept.get(entry);
    if (size !== undefined) {
      kept.delete(entry);
      keptBytes -= size;
    }
    lru.delete(entry);
    tags.remove(entry);
    const rest = (shelves.get(entry.key) ?? []).filter((other) => other !== entry);
    if (rest.length === 0) shelves.delete(entry.key);
    else shelves.set(entry.key, rest);
  };

  const add = (entry: Entry, size: Bytes): void => {
    if (pinned(entry)) {
      kept.set(entry, size);
      keptBytes += size;
    }
    tags.add(entry);
    shelves.set(entry.key, [entry, ...(shelves.get(entry.key) ?? [])]);
  };

  const makeRoom = (size: number): void => {
    while (lru.size > 0 && lru.calculatedSize + keptBytes + size > maxBytes) {
      const [oldest] = lru.rkeys();
      if (oldest === undefined) return;
      remove(oldest);
      evicted(oldest, 'size');
    }
  };

  const replace = (entry: Entry, size: Bytes): void => {
    const shelf = shelves.get(entry.key) ?? [];
    const before = shelf.find((other) => other.variant === entry.variant);
    if (before !== undefined) remove(before);
    else if (shelf.length >= MOST_VARIANTS) {
      const oldest = shelf.at(-1);
      if (oldest !== undefined) {
        remove(oldest);
        evicted(oldest, 'variants');
      }
    }
    makeRoom(size);
    add(entry, size);
    if (!kept.has(entry)) lru.set(entry, size);
  };

  const peek = (key: EntryKey): readonly Entry[] => {
    const shelf = shelves.get(key);
    if (shelf === undefined) return NONE;
    for (const entry of shelf) lru.get(entry);
    return shelf;
  };

  const concerned = (wanted: readonly Tag[]): readonly Entry[] =>
    wanted.includes(ALL) ? [...shelves.values()].flat() : tags.find(wanted);

  return {
    peek,
    find: (key) => Promise.resolve(peek(key)),
    put(entry) {
      if (!fence.lets(entry.tags, entry.generation)) return Promise.resolve(false);
      const size = entrySize(entry);
      if (size > maxBytes / LARGEST_PART && !pinned(entry)) {
        evicted(entry, 'too-large');
        return Promise.resolve(false);
      }
      replace(entry, size);
      return Promise.resolve(true);
    },
    drop(entry) {
      if (shelves.get(entry.key)?.includes(entry) === true) remove(entry);
      return Promise.resolve();
    },
    purge(wanted, soft) {
      const entries = concerned(wanted);
      // A soft purge only makes stale: a fetch that is on its way brings exactly what it wants.
      if (!soft) fence.raise(wanted);
      for (const entry of entries) {
        if (soft) replace(staleNow(entry, clock), entrySize(entry));
        else {
          remove(entry);
          evicted(entry, 'purge');
        }
      }
      return Promise.resolve(entries.length);
    },
    generation: fence.now,
    size: () => ({ entries: lru.size + kept.size, bytes: bytes(lru.calculatedSize + keptBytes) }),
    close: () => Promise.resolve(),
  };
}

const NONE: readonly Entry[] = [];

/** Ends an entry's freshness at this moment: what stale serving allows from here on still holds. */
function staleNow(entry: Entry, clock: Clock): Entry {
  const age = Math.max(0, entry.initialAge + (clock.now() - entry.receivedAt));
  return { ...entry, lifetime: { ...entry.lifetime, fresh: ms(Math.min(entry.lifetime.fresh, age)) } };
}
