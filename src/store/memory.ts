import { LRUCache } from 'lru-cache';
import type { CodedBody, Entry } from '../kernel/entry.ts';
import type { EvictionReason } from '../kernel/event.ts';
import { type EntryKey, type Generation, type Tag, tag } from '../kernel/ids.ts';
import { type Bytes, type EpochMs, ms } from '../kernel/units.ts';
import type { Clock, Observer, Store } from '../ports.ts';
import { entrySize } from './entry-size.ts';
import { createFence } from './fence.ts';
import { type Packed, createPack } from './packed.ts';
import { Shelves } from './shelves.ts';
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

class Memory implements MemoryStore {
  readonly #options: MemoryStoreOptions;
  readonly #pack = createPack();
  readonly #shelves = new Shelves();
  readonly #tags = createTagIndex<Packed>();
  readonly #fence = createFence();
  readonly #tally = new Tally();
  readonly #kept = new Set<Packed>();
  #turn = this.#kept.values();
  #maxBytes: Bytes;
  #lru: LRUCache<Packed, Bytes>;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes;
    this.#lru = this.#makeLru();
  }

  resize(maxBytes: Bytes): void {
    if (maxBytes === this.#maxBytes) return;
    const before = [...this.#lru.rkeys()];
    this.#maxBytes = maxBytes;
    this.#lru = this.#makeLru();
    for (const packed of before) this.#lru.set(packed, packed.size);
    // The cache takes nothing that is larger than itself, and says nothing of it.
    for (const packed of before) if (packed.size > maxBytes) this.#letGo(packed);
    this.#makeRoom(0);
  }

  /** Its size is fixed when it is made. */
  #makeLru(): LRUCache<Packed, Bytes> {
    return new LRUCache<Packed, Bytes>({
      maxSize: this.#maxBytes,
      sizeCalculation: (size) => size,
      dispose: (_size, packed, why) => (why === 'evict' ? this.#letGo(packed) : undefined),
    });
  }

  #letGo(packed: Packed): void {
    this.#unlist(packed);
    this.#report(packed.size, 'size');
  }

  peek(key: EntryKey): readonly Entry[] {
    for (const packed of this.#shelves.on(key)) this.#lru.get(packed);
    return this.#shelves.open(key);
  }

  find(key: EntryKey): Promise<readonly Entry[]> {
    return Promise.resolve(this.peek(key));
  }

  put(entry: Entry): Promise<boolean> {
    return Promise.resolve(this.#put(entry));
  }

  code(key: EntryKey, etag: string, coded: readonly CodedBody[]): void {
    const uncoded = this.#shelves.on(key).filter((one) => {
      const entry = one.open();
      return entry.etag === etag && entry.coded === undefined;
    });
    // Room for the forms of one may be made by dropping another.
    for (const packed of uncoded) if (this.#shelves.on(key).includes(packed)) this.#code(packed, coded);
  }

  drop(entry: Entry): Promise<void> {
    const packed = this.#shelves.on(entry.key).find((each) => each.is(entry));
    if (packed !== undefined) this.#remove(packed);
    return Promise.resolve();
  }

  purge(tags: readonly Tag[], soft: boolean): Promise<number> {
    const concerned = tags.includes(ALL) ? this.#shelves.all() : this.#tags.find(tags);
    this.#fence.raise(tags, soft ? 'soft' : 'hard');
    const now = this.#options.clock.now();
    for (const packed of concerned) {
      if (soft) this.#exchange(packed, staleAt(packed.open(), now), packed.size);
      else this.#report(this.#remove(packed), 'purge');
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
    for (const packed of this.#shelves.all()) this.#remove(packed);
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
    const entry = passage === 'stale' ? staleAt(plain, this.#options.clock.now()) : plain;
    this.#clearPlace(entry);
    this.#makeRoom(size);
    const packed = this.#pack(entry, size);
    this.#list(packed, pinned);
    this.#shelves.set(entry.key, [packed, ...this.#shelves.on(entry.key)]);
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
    const shelf = this.#shelves.on(entry.key);
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
    if (next === undefined || this.#options.pinned(next.open())) return;
    this.#kept.delete(next);
    if (this.#lru.calculatedSize + next.size <= this.#maxBytes) this.#lru.set(next, next.size);
    else this.#letGo(next);
  }

  /** Goes round without beginning anew each time: whoever begins at the first passes over all that have gone. */
  #nextKept(): Packed | undefined {
    let next = this.#turn.next();
    if (next.done === true) {
      this.#turn = this.#kept.values();
      next = this.#turn.next();
    }
    return next.done === true ? undefined : next.value;
  }

  #list(packed: Packed, pinned: boolean): void {
    this.#tags.add(packed);
    this.#tally.add(packed.kind, packed.size);
    if (pinned) this.#kept.add(packed);
    else this.#lru.set(packed, packed.size);
  }

  #unlist(packed: Packed): void {
    const rest = this.#shelves.on(packed.key).filter((other) => other !== packed);
    this.#shelves.set(packed.key, rest);
    this.#tags.remove(packed);
    this.#tally.remove(packed.kind, packed.size);
    packed.release();
  }

  #remove(packed: Packed): Bytes {
    this.#kept.delete(packed);
    this.#lru.delete(packed);
    this.#unlist(packed);
    return packed.size;
  }

  /** What finds no room with its forms has none from now on, and nobody makes them again. */
  #code(packed: Packed, coded: readonly CodedBody[]): void {
    const entry = packed.open();
    const whole = { ...entry, coded };
    const size = entrySize(whole);
    if (!this.#kept.has(packed) && !this.#isWorthIts(size))
      this.#exchange(packed, { ...entry, coded: [] }, packed.size);
    else this.#exchange(packed, whole, size);
  }

  /** Puts another in an entry's very place. */
  #exchange(packed: Packed, other: Entry, size: Bytes): void {
    const pinned = this.#kept.has(packed);
    const before = this.#shelves.on(packed.key);
    this.#remove(packed);
    this.#makeRoom(size);
    const left = new Set(this.#shelves.on(packed.key));
    const exchanged = this.#pack(other, size);
    this.#list(exchanged, pinned);
    this.#shelves.set(
      packed.key,
      before.flatMap((each) => (each === packed ? exchanged : left.has(each) ? each : [])),
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
