import { LRUCache } from 'lru-cache';
import type { CodedBody, Entry } from '../kernel/entry.ts';
import type { EvictionReason } from '../kernel/event.ts';
import { type EntryKey, type Generation, type Tag, tag } from '../kernel/ids.ts';
import { type Bytes, type EpochMs, ms } from '../kernel/units.ts';
import type { Clock, Observer, Store } from '../ports.ts';
import { compactEntry } from './compact.ts';
import { entrySize } from './entry-size.ts';
import { createFence } from './fence.ts';
import { createTagIndex } from './tag-index.ts';
import { type EntryKind, type Held, Tally } from './tally.ts';

export interface MemoryStoreOptions {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly maxBytes: Bytes;
  /**
   * Entries that room is never made by dropping: the last accepted card of a named agent, unless a deeper tier keeps it. Their
   * number must be bounded, since they may fill the store and more. Asked again when room is wanted: a pin may end.
   */
  readonly pinned: (entry: Entry) => boolean;
}

/** The Store in memory, and what it holds by kind. */
export interface MemoryStore extends Store {
  held(): Readonly<Record<EntryKind, Held>>;
  /** How many entries carry the tag. */
  count(scope: Tag): number;
  /** Holds so much from now on; what has no room any more goes, the least recently used first. */
  resize(maxBytes: Bytes): void;
}

/** A key that varies more than this is no key: the variant stored or validated longest ago goes. */
export const MOST_VARIANTS = 32;
/** An entry that would fill more than this part of the store is not worth what it pushes out. */
export const LARGEST_PART = 4;

/** Keeps entries in memory, charged by the byte; the least recently used goes first. */
export const createMemoryStore = (options: MemoryStoreOptions): MemoryStore => new Memory(options);

/** Pinned entries that are looked at for one that comes in: with many agents the turn goes round in many puts. */
const MOST_LOOKS = 64;

const ALL = tag('all');
const NONE: readonly Entry[] = [];

class Memory implements MemoryStore {
  readonly #options: MemoryStoreOptions;
  /** The variants under each key, most recently stored first. */
  readonly #shelves = new Map<EntryKey, readonly Entry[]>();
  readonly #tags = createTagIndex<Entry>();
  readonly #fence = createFence();
  readonly #tally = new Tally();
  readonly #kept = new Map<Entry, Bytes>();
  #turn = this.#kept.entries();
  #maxBytes: Bytes;
  #lru: LRUCache<Entry, Bytes>;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes;
    this.#lru = this.#makeLru();
  }

  resize(maxBytes: Bytes): void {
    if (maxBytes === this.#maxBytes) return;
    const before = [...this.#lru.rkeys()].map((entry) => [entry, this.#lru.peek(entry) ?? entrySize(entry)] as const);
    this.#maxBytes = maxBytes;
    this.#lru = this.#makeLru();
    for (const [entry, size] of before) this.#lru.set(entry, size);
    // The cache takes nothing that is larger than itself, and says nothing of it.
    for (const [entry, size] of before) if (size > maxBytes) this.#letGo(entry, size);
    this.#makeRoom(0);
  }

  /** Its size is fixed when it is made. */
  #makeLru(): LRUCache<Entry, Bytes> {
    return new LRUCache<Entry, Bytes>({
      maxSize: this.#maxBytes,
      sizeCalculation: (size) => size,
      dispose: (size, entry, why) => (why === 'evict' ? this.#letGo(entry, size) : undefined),
    });
  }

  #letGo(entry: Entry, size: Bytes): void {
    this.#unlist(entry, size);
    this.#report(size, 'size');
  }

  peek(key: EntryKey): readonly Entry[] {
    const shelf = this.#shelves.get(key);
    if (shelf === undefined) return NONE;
    for (const entry of shelf) this.#lru.get(entry);
    return shelf;
  }

  find(key: EntryKey): Promise<readonly Entry[]> {
    return Promise.resolve(this.peek(key));
  }

  put(entry: Entry): Promise<boolean> {
    return Promise.resolve(this.#put(entry));
  }

  code(key: EntryKey, etag: string, coded: readonly CodedBody[]): void {
    const alike = (this.#shelves.get(key) ?? NONE).filter((one) => one.etag === etag && one.coded === undefined);
    // Room for the forms of one may be made by dropping another.
    for (const entry of alike) if (this.#shelves.get(key)?.includes(entry) === true) this.#code(entry, coded);
  }

  drop(entry: Entry): Promise<void> {
    if (this.#shelves.get(entry.key)?.includes(entry) === true) this.#remove(entry);
    return Promise.resolve();
  }

  purge(tags: readonly Tag[], soft: boolean): Promise<number> {
    const concerned = tags.includes(ALL) ? [...this.#shelves.values()].flat() : this.#tags.find(tags);
    this.#fence.raise(tags, soft ? 'soft' : 'hard');
    const now = this.#options.clock.now();
    for (const entry of concerned) {
      if (soft) this.#exchange(entry, staleAt(entry, now));
      else this.#report(this.#remove(entry), 'purge');
    }
    return Promise.resolve(concerned.length);
  }

  generation(): Generation {
    return this.#fence.now();
  }

  size(): Held {
    return this.#tally.total();
  }

  held(): Readonly<Record<EntryKind, Held>> {
    return this.#tally.byKind();
  }

  count(scope: Tag): number {
    return scope === ALL ? this.#tally.total().entries : this.#tags.find([scope]).length;
  }

  close(): Promise<void> {
    for (const entry of [...this.#shelves.values()].flat()) this.#remove(entry);
    return Promise.resolve();
  }

  #put(given: Entry): boolean {
    const passage = this.#fence.passage(given.tags, given.generation);
    if (passage === 'barred') return false;
    const pinned = this.#options.pinned(given);
    const plain = pinned || this.#isWorthIts(entrySize(given)) ? given : withoutCodings(given);
    const size = entrySize(plain);
    if (!pinned && !this.#isWorthIts(size)) {
      this.#report(size, 'too-large');
      return false;
    }
    const compact = compactEntry(plain);
    const entry = passage === 'stale' ? staleAt(compact, this.#options.clock.now()) : compact;
    this.#clearPlace(entry);
    this.#makeRoom(size);
    this.#list(entry, size, pinned);
    return true;
  }

  /** One entry must not empty the store, nor may it come in where pinned ones leave no room. */
  #isWorthIts(size: Bytes): boolean {
    const maxBytes = this.#maxBytes;
    if (size > maxBytes / LARGEST_PART) return false;
    const looks = Math.min(this.#kept.size, MOST_LOOKS);
    for (let left = looks; left > 0 && this.#keptBytes() + size > maxBytes; left -= 1) this.#releaseOne();
    return this.#keptBytes() + size <= maxBytes;
  }

  #keptBytes(): number {
    return this.#tally.bytes - this.#lru.calculatedSize;
  }

  /** Takes out the entry that the new one replaces, else the last of too many variants. */
  #clearPlace(entry: Entry): void {
    const shelf = this.#shelves.get(entry.key) ?? NONE;
    const before = shelf.find((other) => other.variant === entry.variant);
    if (before !== undefined) this.#report(this.#remove(before), 'replaced');
    else if (shelf.length >= MOST_VARIANTS) {
      const oldest = shelf.at(-1);
      if (oldest !== undefined) this.#report(this.#remove(oldest), 'variants');
    }
  }

  #makeRoom(size: number): void {
    const most = this.#maxBytes - size;
    while (this.#tally.bytes > most) {
      this.#releaseOne();
      if (this.#lru.pop() === undefined) return;
    }
  }

  /** Looks at one pinned entry, each in its turn, and lets it go the way of the others when its pin has ended. */
  #releaseOne(): void {
    const next = this.#nextKept();
    if (next === undefined || this.#options.pinned(next[0])) return;
    const [entry, size] = next;
    this.#kept.delete(entry);
    if (this.#lru.calculatedSize + size <= this.#maxBytes) this.#lru.set(entry, size);
    else this.#letGo(entry, size);
  }

  /** Goes round without beginning anew each time: whoever begins at the first passes over all that have gone. */
  #nextKept(): readonly [Entry, Bytes] | undefined {
    let next = this.#turn.next();
    if (next.done === true) {
      this.#turn = this.#kept.entries();
      next = this.#turn.next();
    }
    return next.done === true ? undefined : next.value;
  }

  #list(entry: Entry, size: Bytes, pinned: boolean): void {
    this.#shelves.set(entry.key, [entry, ...(this.#shelves.get(entry.key) ?? NONE)]);
    this.#tags.add(entry);
    this.#tally.add(entry, size);
    if (pinned) this.#kept.set(entry, size);
    else this.#lru.set(entry, size);
  }

  #unlist(entry: Entry, size: Bytes): void {
    const rest = (this.#shelves.get(entry.key) ?? NONE).filter((other) => other !== entry);
    if (rest.length === 0) this.#shelves.delete(entry.key);
    else this.#shelves.set(entry.key, rest);
    this.#tags.remove(entry);
    this.#tally.remove(entry, size);
  }

  #remove(entry: Entry): Bytes {
    const size = this.#kept.get(entry) ?? this.#lru.peek(entry) ?? entrySize(entry);
    this.#kept.delete(entry);
    this.#lru.delete(entry);
    this.#unlist(entry, size);
    return size;
  }

  /** What finds no room with its forms has none from now on, and nobody makes them again. */
  #code(entry: Entry, coded: readonly CodedBody[]): void {
    const whole = compactEntry({ ...entry, coded });
    const size = entrySize(whole);
    if (!this.#kept.has(entry) && !this.#isWorthIts(size)) this.#exchange(entry, { ...entry, coded: [] });
    else this.#exchange(entry, whole, size);
  }

  /** Puts a copy in an entry's very place; of the same size where none is given. */
  #exchange(entry: Entry, copy: Entry, grown?: Bytes): void {
    const pinned = this.#kept.has(entry);
    const before = this.#shelves.get(entry.key) ?? NONE;
    const held = this.#remove(entry);
    const size = grown ?? held;
    this.#makeRoom(size);
    const left = new Set(this.#shelves.get(entry.key));
    this.#list(copy, size, pinned);
    this.#shelves.set(
      entry.key,
      before.flatMap((other) => (other === entry ? copy : left.has(other) ? other : [])),
    );
  }

  #report(size: Bytes, reason: EvictionReason): void {
    this.#options.observer.record({ kind: 'evicted', reason, count: 1, bytes: size });
  }
}

/**
 * Ends an entry's freshness now, unless it ended before; the windows of stale serving count from here. An entry keeps its age,
 * so callers see how old it is.
 */
function staleAt(entry: Entry, now: EpochMs): Entry {
  const age = entry.initialAge + Math.max(0, now - entry.receivedAt);
  return { ...entry, lifetime: { ...entry.lifetime, fresh: ms(Math.min(entry.lifetime.fresh, age)) } };
}

/** What is too much with its codings may still be worth its place without them. */
function withoutCodings(entry: Entry): Entry {
  const { coded: _, ...plain } = entry;
  return plain;
}
