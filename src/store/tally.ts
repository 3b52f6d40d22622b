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

  add(kind: EntryKind, size: Bytes): void {
    this.#change(kind, 1, size);
  }

  remove(kind: EntryKind, size: Bytes): void {
    this.#change(kind, -1, -size);
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

  #change(kind: EntryKind, entries: number, size: number): void {
    const sum = kind === 'other' ? this.#other : this.#public;
    sum.entries += entries;
    sum.bytes += size;
  }
}

const heldOf = (sum: { readonly entries: number; readonly bytes: number }): Held => ({
  entries: sum.entries,
  bytes: bytes(sum.bytes),
});
