import type { Entry } from '../kernel/entry.ts';
import { type EntryKey, type Tag, tag } from '../kernel/ids.ts';
import type { Bytes } from '../kernel/units.ts';
import type { Bodies } from './bodies.ts';
import { compactEntry } from './compact.ts';
import type { EntryKind } from './tally.ts';
import type { InUse } from './use-order.ts';

/** A stored entry, in whatever form. */
export interface Stored extends InUse<Stored> {
  readonly key: EntryKey;
  readonly kind: EntryKind;
  readonly variant: Entry['variant'];
  /** What it is found by, besides `all`. */
  readonly tags: readonly Tag[];
  open(): Entry;
  /** True for what it was opened as. */
  is(entry: Entry): boolean;
  /** Gives back what it takes: it cannot be opened any more. */
  release(): void;
}

const ALL = tag('all');

export const tagsBesideAll = (tags: readonly Tag[]): readonly Tag[] => tags.filter((each) => each !== ALL);

export const kindOf = ({ admission }: Pick<Entry, 'admission'>): EntryKind => (admission === null ? 'other' : 'public');

/** One that stays open: the card of an agent of the configuration, of which there are so many and no more. */
export class OpenEntry implements Stored {
  readonly size: Bytes;
  older: Stored | null = null;
  newer: Stored | null = null;
  readonly #bodies: Bodies<Uint8Array>;
  readonly #entry: Entry;

  constructor(bodies: Bodies<Uint8Array>, entry: Entry, size: Bytes) {
    this.#bodies = bodies;
    this.#entry = compactEntry(entry, bodies.hold);
    this.size = size;
  }

  get key(): EntryKey {
    return this.#entry.key;
  }

  get kind(): EntryKind {
    return kindOf(this.#entry);
  }

  get variant(): Entry['variant'] {
    return this.#entry.variant;
  }

  get tags(): readonly Tag[] {
    return tagsBesideAll(this.#entry.tags);
  }

  open(): Entry {
    return this.#entry;
  }

  is(entry: Entry): boolean {
    return this.#entry === entry;
  }

  release(): void {
    const { body, coded = [] } = this.#entry;
    for (const each of [body, ...coded.map((form) => form.body)]) this.#bodies.release(each);
  }
}
