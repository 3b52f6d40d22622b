import { Buffer } from 'node:buffer';
import type { CodedBody, Entry } from '../kernel/entry.ts';
import { type EntryKey, type Tag, tag } from '../kernel/ids.ts';
import type { Bytes } from '../kernel/units.ts';
import { type Alike, type AlikeBook, createAlikeBook } from './alike.ts';
import { type Arena, type Spot, createArena } from './arena.ts';
import type { EntryKind } from './tally.ts';
import { type Row, entryOfRow, rowOf, tagsOf } from './entry-row.ts';

/** Packs entries, in memory that they share. */
export type Pack = (entry: Entry, size: Bytes) => Packed;

/** A larger body is held by itself: that costs it little, and it is not copied whenever it is asked for. */
const LARGEST_PACKED = 8 * 1024;
const ALL = tag('all');

export function createPack(): Pack {
  const shared = { arena: createArena(), book: createAlikeBook() };
  return (entry, size) => new Packed(shared, entry, size);
}

interface Shared {
  readonly arena: Arena;
  readonly book: AlikeBook;
}

/**
 * A stored entry while nobody asks for it: its own words and its body in memory that all share, what it says like others held once for
 * all. As objects and texts it would take nearly as much again as its body, and every collection of garbage would look at them.
 */
export class Packed {
  readonly key: EntryKey;
  /** What it is charged for. */
  readonly size: Bytes;
  readonly kind: EntryKind;
  readonly #shared: Shared;
  readonly #alike: Alike;
  /** Its words, and behind them its body unless that is held by itself. */
  readonly #spot: Spot;
  readonly #words: number;
  readonly #body: Uint8Array | null;
  readonly #coded: readonly CodedBody[] | undefined;
  #opened: WeakRef<Entry> | undefined = undefined;

  constructor(shared: Shared, entry: Entry, size: Bytes) {
    const { key, body, coded, ...said } = entry;
    const words = Buffer.from(JSON.stringify(rowOf(said)));
    const isLarge = body.byteLength > LARGEST_PACKED;
    this.key = structuredClone(key); // a text that was joined keeps its parts
    this.size = size;
    this.kind = entry.admission === null ? 'other' : 'public';
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

  /** What it is found by, besides `all`. */
  get tags(): readonly Tag[] {
    return tagsOf(this.#row(this.#shared.arena.read(this.#spot))).filter((each) => each !== ALL);
  }

  /** The entry: the very object that it was opened as before, while anybody has that. */
  open(): Entry {
    const before = this.#opened?.deref();
    if (before !== undefined) return before;
    const entry = this.#unpack();
    this.#opened = new WeakRef(entry);
    return entry;
  }

  /** True for the object that it was opened as. */
  is(entry: Entry): boolean {
    return this.#opened?.deref() === entry;
  }

  /** Gives back what it takes: it cannot be opened any more. */
  release(): void {
    this.#shared.arena.free(this.#spot);
    this.#shared.book.release(this.#alike);
  }

  #row(kept: Uint8Array): Row {
    return JSON.parse(Buffer.from(kept.buffer, kept.byteOffset, this.#words).toString()) as Row;
  }

  #unpack(): Entry {
    const kept = this.#shared.arena.read(this.#spot);
    const body = this.#body ?? new Uint8Array(kept.subarray(this.#words));
    const entry = entryOfRow(this.#row(kept), { key: this.key, body, alike: this.#alike });
    return this.#coded === undefined ? entry : { ...entry, coded: this.#coded };
  }
}

/** 100 bytes off a socket would keep 64 KiB. */
const ownBytes = (body: Uint8Array): Uint8Array =>
  body.buffer.byteLength === body.byteLength ? body : new Uint8Array(body);
