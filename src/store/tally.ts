import type { Entry } from '../kernel/entry.ts';
import { type Bytes, bytes } from '../kernel/units.ts';

/** What an entry is, for metrics: a card that was judged, or a response of an origin with `content: any`. */
export type EntryKind = 'public' | 'other';

/** How many entries, and the bytes charged for them. */
export interface Held {
  readonly entries: number;
  readonly bytes: Bytes;
}

/** Adds up what is held, by kind. */
export class Tally {
  readonly #public = { entries: 0, bytes: 0 };
  readonly #other = { entries: 0, bytes: 0 };

  add(entry: Entry, size: Bytes): void {
    this.#change(entry, 1, size);
  }

  remove(entry: Entry, size: Bytes): void {
    this.#change(entry, -1, -size);
  }

  get bytes(): number {
    return this.#public.bytes + this.#other.bytes;
  }

  total(): Held {
    return { entries: this.#public.entries + this.#other.entries, bytes: bytes(this.bytes) };
  }

  byKind(): Readonly<Record<EntryKind, Held>> {
    return { public: heldOf(this.#public), other: heldOf(this.#other) };
  }

  #change(entry: Entry, entries: number, size: number): void {
    const kind = entry.admission === null ? this.#other : this.#public;
    kind.entries += entries;
    kind.bytes += size;
  }
}

const heldOf = (sum: { readonly entries: number; readonly bytes: number }): Held => ({
  entries: sum.entries,
  bytes: bytes(sum.bytes),
});
