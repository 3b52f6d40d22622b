import type { Entry } from '../kernel/entry.ts';
import type { EntryKey } from '../kernel/ids.ts';
import type { Packed } from './packed.ts';

/** The variants under each key, most recently stored first; those that were asked for lately stay open. */
export class Shelves {
  readonly #shelves = new Map<EntryKey, Shelf>();
  /** The latest that were opened, in turn. */
  readonly #open: (Shelf | undefined)[] = [];
  #turn = 0;

  on(key: EntryKey): readonly Packed[] {
    return this.#shelves.get(key)?.packed ?? NONE;
  }

  all(): readonly Packed[] {
    return [...this.#shelves.values()].flatMap(({ packed }) => packed);
  }

  /** Puts these on the shelf, in place of what is there. */
  set(key: EntryKey, packed: readonly Packed[]): void {
    const shelf = this.#shelves.get(key);
    if (shelf === undefined) {
      if (packed.length > 0) this.#shelves.set(key, { packed, entries: undefined });
      return;
    }
    shelf.packed = packed;
    shelf.entries = undefined;
    if (packed.length === 0) this.#shelves.delete(key);
  }

  /** Floor: one look-up; of what was not asked for lately its text is read and its body copied. */
  open(key: EntryKey): readonly Entry[] {
    const shelf = this.#shelves.get(key);
    if (shelf === undefined) return NO_ENTRIES;
    return shelf.entries ?? this.#opened(shelf);
  }

  #opened(shelf: Shelf): readonly Entry[] {
    const entries = shelf.packed.map((each) => each.open());
    const closed = this.#open[this.#turn];
    if (closed !== undefined) closed.entries = undefined;
    shelf.entries = entries;
    this.#open[this.#turn] = shelf;
    this.#turn = (this.#turn + 1) % MOST_OPEN;
    return entries;
  }
}

interface Shelf {
  packed: readonly Packed[];
  /** The same, opened. */
  entries: readonly Entry[] | undefined;
}

/** At some 5 KB for a card of 3 KB. */
export const MOST_OPEN = 1_024;

const NONE: readonly Packed[] = [];
const NO_ENTRIES: readonly Entry[] = [];
