import type { Entry } from '../kernel/entry.ts';
import type { EntryKey } from '../kernel/ids.ts';
import type { Stored } from './stored.ts';

/** The variants under each key, most recently stored first; those that were asked for lately stay open. */
export class Shelves {
  /** One that is alone and closed stands without a shelf, which would take 100 bytes: most do. */
  readonly #shelves = new Map<EntryKey, Stored | Shelf>();
  /** The latest that were opened, in turn. */
  readonly #open: (Shelf | undefined)[] = [];
  #turn = 0;

  on(key: EntryKey): readonly Stored[] {
    const found = this.#shelves.get(key);
    return found === undefined ? NONE : storedOn(found);
  }

  all(): readonly Stored[] {
    return [...this.#shelves.values()].flatMap(storedOn);
  }

  /** Puts these on the shelf, in place of what is there. */
  set(key: EntryKey, stored: readonly Stored[]): void {
    const before = this.#shelves.get(key);
    const [first] = stored;
    if (before instanceof Shelf) before.put(stored);
    if (first === undefined) this.#shelves.delete(key);
    else if (before instanceof Shelf) return;
    else this.#shelves.set(key, stored.length === 1 ? first : new Shelf(key, stored));
  }

  /** Floor: one look-up; of what was not asked for lately its words are read and its body copied. */
  open(key: EntryKey): readonly Entry[] {
    const found = this.#shelves.get(key);
    if (found === undefined) return NO_ENTRIES;
    return (found instanceof Shelf ? found.entries : undefined) ?? this.#opened(key, found);
  }

  #opened(key: EntryKey, found: Stored | Shelf): readonly Entry[] {
    const shelf = found instanceof Shelf ? found : new Shelf(key, [found]);
    const longest = this.#open[this.#turn];
    if (longest !== undefined) this.#close(longest);
    this.#shelves.set(key, shelf);
    this.#open[this.#turn] = shelf;
    this.#turn = (this.#turn + 1) % MOST_OPEN;
    return shelf.open();
  }

  #close(shelf: Shelf): void {
    shelf.entries = undefined;
    const [only, ...others] = shelf.stored;
    const isThere = this.#shelves.get(shelf.key) === shelf;
    if (isThere && only !== undefined && others.length === 0) this.#shelves.set(shelf.key, only);
  }
}

/** Shelves that are open at one time, at some 5 KB for a card of 3 KB. */
export const MOST_OPEN = 1_024;

const NONE: readonly Stored[] = [];
const NO_ENTRIES: readonly Entry[] = [];

class Shelf {
  readonly key: EntryKey;
  stored: readonly Stored[];
  /** The same, where they are open. */
  entries: readonly Entry[] | undefined = undefined;

  constructor(key: EntryKey, stored: readonly Stored[]) {
    this.key = key;
    this.stored = stored;
  }

  open(): readonly Entry[] {
    return (this.entries = this.stored.map((each) => each.open()));
  }

  /** What is open and stays is the same object as before. */
  put(stored: readonly Stored[]): void {
    const { stored: before, entries } = this;
    this.stored = stored;
    if (entries !== undefined) this.entries = stored.map((each) => entries[before.indexOf(each)] ?? each.open());
  }
}

const storedOn = (found: Stored | Shelf): readonly Stored[] => (found instanceof Shelf ? found.stored : [found]);
