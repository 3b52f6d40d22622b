import { LRUCache } from 'lru-cache';
import type { EvictionReason } from '../kernel/event.ts';
import type { ExtendedEntry, PartitionKey } from '../kernel/extended-entry.ts';
import { type Generation, type Tag, tag } from '../kernel/ids.ts';
import { type Bytes, type EpochMs, bytes, ms } from '../kernel/units.ts';
import type { Clock, Observer } from '../ports.ts';
import type { ExtendedStore } from '../ports/callers.ts';
import { createFence } from './fence.ts';
import { createTagIndex } from './tag-index.ts';

export interface ExtendedStoreOptions {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly maxBytes: Bytes;
}

/** What V8 keeps for one entry beside its body: its objects, strings and places in the indexes. `npm run bench:extended` says 1,923. */
const OVERHEAD = 2_048;
/** An entry that would fill more than this part of the store is not worth what it pushes out. */
const LARGEST_PART = 4;

/** The ExtendedStore, as large as the configuration says. */
export interface SizedExtendedStore extends ExtendedStore {
  /** Holds so much from now on; what has no room any more goes, the least recently used first. */
  resize(maxBytes: Bytes): void;
  /** How many entries carry the tag, and of how many principals. */
  count(scope: Tag): { readonly entries: number; readonly principals: number };
}

/** Keeps extended cards in memory; the least recently used goes first. */
export const createExtendedStore = (options: ExtendedStoreOptions): SizedExtendedStore => new Extended(options);

/** Bytes that one or more entries have. */
interface Shared {
  readonly body: Uint8Array;
  users: number;
}

class Extended implements SizedExtendedStore {
  readonly #options: ExtendedStoreOptions;
  readonly #tags = createTagIndex<ExtendedEntry>();
  readonly #fence = createFence();
  readonly #bodies = new Map<string, Shared>();
  readonly #principals = new Map<Tag, number>();
  #maxBytes: Bytes;
  #entries: LRUCache<PartitionKey, ExtendedEntry>;

  constructor(options: ExtendedStoreOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes;
    this.#entries = this.#makeLru();
  }

  resize(maxBytes: Bytes): void {
    if (maxBytes === this.#maxBytes) return;
    const before = [...this.#entries.rvalues()].filter((entry) => entry !== undefined);
    this.#maxBytes = maxBytes;
    this.#entries = this.#makeLru();
    for (const entry of before) {
      // The cache takes nothing that is larger than itself, and says nothing of it.
      if (chargeOf(entry) > maxBytes) this.#letGo(entry);
      else this.#entries.set(entry.partition, entry);
    }
  }

  /** Its size is fixed when it is made. */
  #makeLru(): LRUCache<PartitionKey, ExtendedEntry> {
    return new LRUCache({
      maxSize: this.#maxBytes,
      // The whole body for each: what is charged must not tell whether another caller has the same.
      sizeCalculation: chargeOf,
      dispose: (entry, _partition, why) => (why === 'evict' ? this.#letGo(entry) : this.#unlist(entry)),
    });
  }

  #letGo(entry: ExtendedEntry): void {
    this.#unlist(entry);
    this.#report(entry, 'size');
  }

  get(partition: PartitionKey): ExtendedEntry | undefined {
    return this.#entries.get(partition);
  }

  put(given: ExtendedEntry): boolean {
    const passage = this.#fence.passage(given.tags, given.generation);
    if (passage === 'barred') return false;
    if (chargeOf(given) > this.#maxBytes / LARGEST_PART) {
      this.#report(given, 'too-large');
      return false;
    }
    const entry = passage === 'stale' ? staleAt(given, this.#options.clock.now()) : given;
    this.#list(entry);
    return true;
  }

  isEnded({ tags, generation }: Pick<ExtendedEntry, 'tags' | 'generation'>): boolean {
    return this.#fence.passage(tags, generation) === 'barred';
  }

  drop(entry: ExtendedEntry): void {
    if (this.#entries.peek(entry.partition) === entry) this.#entries.delete(entry.partition);
  }

  purge(tags: readonly Tag[], soft: boolean): number {
    const concerned = this.#tags.find(tags);
    this.#fence.raise(tags, soft ? 'soft' : 'hard');
    const now = this.#options.clock.now();
    for (const entry of concerned) {
      if (soft) this.#list(staleAt(entry, now));
      else {
        this.#entries.delete(entry.partition);
        this.#report(entry, 'purge');
      }
    }
    return concerned.length;
  }

  generation(): Generation {
    return this.#fence.now();
  }

  held(): ReturnType<ExtendedStore['held']> {
    const { size, calculatedSize } = this.#entries;
    return { entries: size, bytes: bytes(calculatedSize), principals: this.#principals.size };
  }

  count(scope: Tag): { readonly entries: number; readonly principals: number } {
    const found = this.#tags.find([scope]);
    return { entries: found.length, principals: new Set(found.map(principalOf)).size };
  }

  #list(given: ExtendedEntry): void {
    const entry = { ...given, body: this.#share(given) };
    this.#entries.set(entry.partition, entry);
    this.#tags.add(entry);
    const principal = principalOf(entry);
    this.#principals.set(principal, (this.#principals.get(principal) ?? 0) + 1);
  }

  #unlist(entry: ExtendedEntry): void {
    this.#tags.remove(entry);
    this.#release(entry);
    const principal = principalOf(entry);
    const left = (this.#principals.get(principal) ?? 0) - 1;
    if (left > 0) this.#principals.set(principal, left);
    else this.#principals.delete(principal);
  }

  /** The entity tag is the SHA-256 of the bytes. */
  #share({ etag, body }: ExtendedEntry): Uint8Array {
    const known = this.#bodies.get(etag);
    if (known !== undefined) {
      known.users += 1;
      return known.body;
    }
    const own = body.buffer.byteLength === body.byteLength ? body : new Uint8Array(body);
    this.#bodies.set(etag, { body: own, users: 1 });
    return own;
  }

  #release({ etag }: ExtendedEntry): void {
    const shared = this.#bodies.get(etag);
    if (shared === undefined) return;
    shared.users -= 1;
    if (shared.users === 0) this.#bodies.delete(etag);
  }

  #report(entry: ExtendedEntry, reason: EvictionReason): void {
    this.#options.observer.record({ kind: 'evicted', reason, count: 1, bytes: chargeOf(entry) });
  }
}

const chargeOf = ({ body }: ExtendedEntry): Bytes => bytes(OVERHEAD + body.byteLength);

/** The first tag that names the caller: every extended entry has one. */
const principalOf = ({ tags, partition }: ExtendedEntry): Tag =>
  tags.find((each) => each.startsWith('principal:')) ?? tag(partition);

/** Ends an entry's freshness now, unless it ended before. */
function staleAt(entry: ExtendedEntry, now: EpochMs): ExtendedEntry {
  const age = entry.initialAge + Math.max(0, now - entry.receivedAt);
  return { ...entry, lifetime: { ...entry.lifetime, fresh: ms(Math.min(entry.lifetime.fresh, age)) } };
}
