import { Buffer } from 'node:buffer';
import type { CodedBody, Entry } from '../kernel/entry.ts';
import type { EntryKey, Tag } from '../kernel/ids.ts';
import type { Bytes } from '../kernel/units.ts';
import { type Alike, type AlikeBook, createAlikeBook } from './alike.ts';
import { type Arena, type Spot, createArena } from './arena.ts';
import { again, ownBytes } from './compact.ts';
import { type Row, entryOfRow, rowOf, tagsOf } from './entry-row.ts';
import { type Stored, kindOf, tagsBesideAll } from './stored.ts';
import type { EntryKind } from './tally.ts';

/** Packs entries, in memory that they share. */
export type Pack = (entry: Entry, size: Bytes) => Stored;

/** A larger body is held by itself: that costs it little, and it is not copied whenever it is asked for. */
const LARGEST_PACKED = 8 * 1024;

export function createPack(): Pack {
  const shared = { arena: createArena(), book: createAlikeBook(), opened: new WeakMap<Entry, Stored>() };
  return (entry, size) => new Packed(shared, entry, size);
}

interface Shared {
  readonly arena: Arena;
  readonly book: AlikeBook;
  /** What each object was opened from that somebody still has. */
  readonly opened: WeakMap<Entry, Stored>;
}

/**
 * A stored entry while nobody asks for it: its own words and its body in memory that all share, what it says like others held once for
 * all. As objects and texts it would take nearly as much again as its body, and every collection of garbage would look at them.
 */
class Packed implements Stored {
  readonly key: EntryKey;
  readonly size: Bytes;
  readonly kind: EntryKind;
  older: Stored | null = null;
  newer: Stored | null = null;
  readonly #shared: Shared;
  readonly #alike: Alike;
  /** Its words, and behind them its body unless that is held by itself. */
  readonly #spot: Spot;
  readonly #words: number;
  readonly #body: Uint8Array | null;
  readonly #coded: readonly CodedBody[] | undefined;

  constructor(shared: Shared, entry: Entry, size: Bytes) {
    const { key, body, coded, ...said } = entry;
    const words = Buffer.from(JSON.stringify(rowOf(said)));
    const isLarge = body.byteLength > LARGEST_PACKED;
    this.key = again(key); // a text that was joined keeps its parts
    this.size = size;
    this.kind = kindOf(entry);
    this.#shared = shared;
    this.#alike = shared.book.use(entry);
    this.#spot = shared.arena.keep(isLarge ? [words] : [words, body]);
    this.#words = words.byteLength;
    this.#body = isLarge ? ownBytes(body) : null;
    this.#coded = coded?.map((each) => ({ ...each, body: ownBytes(each.body) }));
  }

  get variant(): Entry['variant'] {
    return this.#alike.variant;
  }

  get tags(): readonly Tag[] {
    return tagsBesideAll(tagsOf(this.#row(this.#shared.arena.read(this.#spot))));
  }

  /** Another object each time. */
  open(): Entry {
    const kept = this.#shared.arena.read(this.#spot);
    const body = this.#body ?? new Uint8Array(kept.subarray(this.#words));
    const plain = entryOfRow(this.#row(kept), { key: this.key, body, alike: this.#alike });
    const entry = this.#coded === undefined ? plain : { ...plain, coded: this.#coded };
    this.#shared.opened.set(entry, this);
    return entry;
  }

  is(entry: Entry): boolean {
    return this.#shared.opened.get(entry) === this;
  }

  release(): void {
    this.#shared.arena.free(this.#spot);
    this.#shared.book.release(this.#alike);
  }

  #row(kept: Uint8Array): Row {
    return JSON.parse(Buffer.from(kept.buffer, kept.byteOffset, this.#words).toString()) as Row;
  }
}
