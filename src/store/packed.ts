import { Buffer } from 'node:buffer';
import type { CodedBody, Entry } from '../kernel/entry.ts';
import type { EntryKey, Tag } from '../kernel/ids.ts';
import type { Bytes } from '../kernel/units.ts';
import { type Alike, type AlikeBook, createAlikeBook } from './alike.ts';
import { type Arena, type Spot, createArena } from './arena.ts';
import { type Bodies, createOpenBodies, createPackedBodies } from './bodies.ts';
import { again } from './compact.ts';
import { type Row, entryOfRow, rowOf, tagsOf } from './entry-row.ts';
import { type Stored, kindOf, tagsBesideAll } from './stored.ts';
import type { EntryKind } from './tally.ts';

/** Packs entries, in memory that they share. */
export type Pack = (entry: Entry, size: Bytes) => Stored;

/** A larger body is held by itself: that costs it little, and it is not copied whenever it is asked for. */
const LARGEST_PACKED = 8 * 1024;

export function createPack(open: Bodies<Uint8Array> = createOpenBodies(), arena: Arena = createArena()): Pack {
  const bodies = { packed: createPackedBodies(arena), open };
  const shared = { arena, bodies, book: createAlikeBook(), opened: new WeakMap<Entry, Stored>() };
  return (entry, size) => new Packed(shared, entry, size);
}

interface Shared {
  readonly arena: Arena;
  readonly bodies: { readonly packed: Bodies<Spot>; readonly open: Bodies<Uint8Array> };
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
  readonly #words: Spot;
  readonly #body: Spot | Uint8Array;
  readonly #coded: readonly CodedBody[] | undefined;

  constructor(shared: Shared, entry: Entry, size: Bytes) {
    const { body, coded, ...said } = entry;
    const { arena, bodies, book } = shared;
    this.key = again(said.key); // a text that was joined keeps its parts
    this.size = size;
    this.kind = kindOf(entry);
    this.#shared = shared;
    this.#alike = book.use(entry);
    this.#words = arena.keep(Buffer.from(JSON.stringify(rowOf(said))));
    this.#body = body.byteLength > LARGEST_PACKED ? bodies.open.hold(body) : bodies.packed.hold(body);
    this.#coded = coded?.map((each) => ({ ...each, body: bodies.open.hold(each.body) }));
  }

  get variant(): Entry['variant'] {
    return this.#alike.variant;
  }

  get tags(): readonly Tag[] {
    return tagsBesideAll(tagsOf(this.#row(), this.key));
  }

  /** Another object each time. */
  open(): Entry {
    const plain = entryOfRow(this.#row(), { key: this.key, body: this.#bytes(), alike: this.#alike });
    const entry = this.#coded === undefined ? plain : { ...plain, coded: this.#coded };
    this.#shared.opened.set(entry, this);
    return entry;
  }

  is(entry: Entry): boolean {
    return this.#shared.opened.get(entry) === this;
  }

  release(): void {
    const { arena, bodies, book } = this.#shared;
    arena.free(this.#words);
    if (typeof this.#body === 'number') bodies.packed.release(this.#body);
    else bodies.open.release(this.#body);
    for (const { body } of this.#coded ?? []) bodies.open.release(body);
    book.release(this.#alike);
  }

  #bytes(): Uint8Array {
    return typeof this.#body === 'number' ? new Uint8Array(this.#shared.arena.read(this.#body)) : this.#body;
  }

  #row(): Row {
    const { buffer, byteOffset, byteLength } = this.#shared.arena.read(this.#words);
    return JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString()) as Row;
  }
}
