import type { CodedBody, Entry } from '../kernel/entry.ts';
import type { EvictionReason } from '../kernel/event.ts';
import { type EntryKey, type Generation, type Tag, tag } from '../kernel/ids.ts';
import { type Bytes, type EpochMs, ms } from '../kernel/units.ts';
import type { Clock, Observer, Store } from '../ports.ts';
import { createOpenBodies } from './bodies.ts';
import { entrySize } from './entry-size.ts';
import { createFence } from './fence.ts';
import { createPack } from './packed.ts';
import { Shelves } from './shelves.ts';
import { OpenEntry, type Stored } from './stored.ts';
import { createTagIndex } from './tag-index.ts';
import { type EntryKind, type Held, Tally } from './tally.ts';
import { UseOrder } from './use-order.ts';

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
  readonly #bodies = createOpenBodies();
  readonly #pack = createPack(this.#bodies);
  readonly #shelves = new Shelves();
  readonly #tags = createTagIndex<Stored>();
  readonly #fence = createFence();
  readonly #tally = new Tally();
  readonly #kept = new Set<Stored>();
  #turn = this.#kept.values();
  /** What may go when room is wanted; pinned entries stand apart. */
  readonly #order = new UseOrder<Stored>();
  #maxBytes: Bytes;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes;
  }

  resize(maxBytes: Bytes): void {
    this.#maxBytes = maxBytes;
    // For what cannot stay others need not go.
    for (const stored of this.#order.members()) if (stored.size > maxBytes) this.#letGo(stored);
    this.#makeRoom(0);
  }

  #letGo(stored: Stored): void {
    this.#report(this.#remove(stored), 'size');
  }

  peek(key: EntryKey): readonly Entry[] {
    for (const stored of this.#shelves.on(key)) this.#order.use(stored);
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
    for (const stored of uncoded) if (this.#shelves.on(key).includes(stored)) this.#code(stored, coded);
  }

  drop(entry: Entry): Promise<void> {
    const stored = this.#shelves.on(entry.key).find((each) => each.is(entry));
    if (stored !== undefined) this.#remove(stored);
    return Promise.resolve();
  }

  purge(tags: readonly Tag[], soft: boolean): Promise<number> {
    const concerned = tags.includes(ALL) ? this.#shelves.all() : this.#tags.find(tags);
    this.#fence.raise(tags, soft ? 'soft' : 'hard');
    const now = this.#options.clock.now();
    for (const stored of concerned) {
      if (soft) this.#exchange(stored, staleAt(stored.open(), now), stored.size);
      else this.#report(this.#remove(stored), 'purge');
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
    for (const stored of this.#shelves.all()) this.#remove(stored);
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
    const stored = this.#form(entry, size, pinned);
    this.#list(stored, pinned);
    this.#shelves.set(stored.key, [stored, ...this.#shelves.on(entry.key)]);
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
    return this.#tally.bytes - this.#order.bytes;
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
      const { oldest } = this.#order;
      if (oldest === null) return;
      this.#letGo(oldest);
    }
  }

  /** Looks at one pinned entry, each in its turn, and lets it go the way of the others when its pin has ended. */
  #releaseOne(): void {
    const next = this.#nextKept();
    if (next === undefined || this.#options.pinned(next.open())) return;
    this.#kept.delete(next);
    if (this.#order.bytes + next.size <= this.#maxBytes) this.#order.add(next);
    else this.#letGo(next);
  }

  /** Goes round without beginning anew each time: whoever begins at the first passes over all that have gone. */
  #nextKept(): Stored | undefined {
    let next = this.#turn.next();
    if (next.done === true) {
      this.#turn = this.#kept.values();
      next = this.#turn.next();
    }
    return next.done === true ? undefined : next.value;
  }

  /** What stays stays open, and what a caller may ask for or not is packed. */
  #form(entry: Entry, size: Bytes, pinned: boolean): Stored {
    return pinned ? new OpenEntry(this.#bodies, entry, size) : this.#pack(entry, size);
  }

  #list(stored: Stored, pinned: boolean): void {
    this.#tags.add(stored);
    this.#tally.add(stored.kind, stored.size);
    if (pinned) this.#kept.add(stored);
    else this.#order.add(stored);
  }

  #unlist(stored: Stored): void {
    const rest = this.#shelves.on(stored.key).filter((other) => other !== stored);
    this.#shelves.set(stored.key, rest);
    this.#tags.remove(stored);
    this.#tally.remove(stored.kind, stored.size);
    stored.release();
  }

  #remove(stored: Stored): Bytes {
    this.#kept.delete(stored);
    this.#order.remove(stored);
    this.#unlist(stored);
    return stored.size;
  }

  /** What finds no room with its forms has none from now on, and nobody makes them again. */
  #code(stored: Stored, coded: readonly CodedBody[]): void {
    const entry = stored.open();
    const whole = { ...entry, coded };
    const size = entrySize(whole);
    if (!this.#kept.has(stored) && !this.#isWorthIts(size))
      this.#exchange(stored, { ...entry, coded: [] }, stored.size);
    else this.#exchange(stored, whole, size);
  }

  /** Puts another in an entry's very place. */
  #exchange(stored: Stored, other: Entry, size: Bytes): void {
    const pinned = this.#kept.has(stored);
    const before = this.#shelves.on(stored.key);
    this.#remove(stored);
    this.#makeRoom(size);
    const left = new Set(this.#shelves.on(stored.key));
    const exchanged = this.#form(other, size, pinned);
    this.#list(exchanged, pinned);
    this.#shelves.set(
      exchanged.key,
      before.flatMap((each) => (each === stored ? exchanged : left.has(each) ? each : [])),
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
