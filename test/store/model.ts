import fc from 'fast-check';
import assert from 'node:assert/strict';
import type { Entry } from '../../src/kernel/entry.ts';
import { agentName, generation, tag, variantKey } from '../../src/kernel/ids.ts';
import { bytes } from '../../src/kernel/units.ts';
import { entrySize } from '../../src/store/entry-size.ts';
import { LARGEST_PART, MOST_VARIANTS, type MemoryStore, createMemoryStore } from '../../src/store/memory.ts';
import { ADMISSION, entryKey, entryOf } from '../support/entries.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingObserver } from '../support/recording-observer.ts';

/** One thing that is done to a store. */
export type Step =
  | {
      readonly do: 'put';
      readonly name: string;
      readonly variant: number;
      readonly size: number;
      /** Bytes of a coded form; 0 for none. */
      readonly coded: number;
      readonly late: number;
    }
  | { readonly do: 'peek'; readonly name: string }
  | { readonly do: 'drop'; readonly name: string }
  | { readonly do: 'purge'; readonly tag: string; readonly soft: boolean };

const NAMES = ['a', 'b', 'c', 'd', 'e'] as const;
/** These two are named agents, whose cards are pinned. */
const PINNED = new Set(['a', 'b']);
const ROOM = entrySize(entryOf('a')) * 8;

const name = fc.constantFrom(...NAMES);
export const steps = (maxLength: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('put' as const),
          name,
          variant: fc.oneof({ weight: 4, arbitrary: fc.nat(2) }, { weight: 1, arbitrary: fc.nat(MOST_VARIANTS * 2) }),
          size: fc.oneof({ weight: 5, arbitrary: fc.nat(400) }, { weight: 1, arbitrary: fc.nat(ROOM) }),
          coded: fc.oneof({ weight: 3, arbitrary: fc.nat(200) }, { weight: 1, arbitrary: fc.nat(ROOM) }),
          late: fc.nat(2),
        }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('peek' as const), name }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), name }) },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('purge' as const),
          tag: fc.constantFrom('all', ...NAMES.map((each) => `origin:${each}.example.com`)),
          soft: fc.boolean(),
        }),
      },
    ),
    // Left to itself fast-check makes short lists, which never fill the store.
    { maxLength, size: 'max' },
  );

/** What the store must hold, the slow and plain way: one list, least recently used first, searched from end to end. */
class Model {
  list: { entry: Entry; fresh: boolean; stored: number }[] = [];
  #purges: { tag: string; at: number; soft: boolean }[] = [];
  #stored = 0;
  generation = 0;

  get bytes(): number {
    return this.list.reduce((sum, { entry }) => sum + entrySize(entry), 0);
  }

  put(given: Entry): boolean {
    const since = this.#purges.filter(({ tag: each, at }) => at > given.generation && carries(given, each));
    if (since.some(({ soft }) => !soft)) return false;
    const entry = this.fits(given) ? given : { ...given, coded: [] };
    if (!this.fits(entry)) return false;
    const size = entrySize(entry);
    const shelf = this.shelf(entry.key);
    const before = shelf.find((held) => held.entry.variant === entry.variant);
    const out = before ?? (shelf.length >= MOST_VARIANTS ? shelf.at(-1) : undefined);
    this.list = this.list.filter((held) => held !== out);
    while (this.bytes + size > ROOM) {
      const victim = this.list.find((held) => !isPinned(held.entry));
      if (victim === undefined) break;
      this.list = this.list.filter((held) => held !== victim);
    }
    this.list.push({ entry, fresh: since.length === 0, stored: this.#stored++ });
    return true;
  }

  fits(entry: Entry): boolean {
    if (isPinned(entry)) return true;
    const size = entrySize(entry);
    const pinnedBytes = this.list.reduce((sum, held) => sum + (isPinned(held.entry) ? entrySize(held.entry) : 0), 0);
    return size <= ROOM / LARGEST_PART && pinnedBytes + size <= ROOM;
  }

  /** Latest stored first. */
  shelf(key: string): Model['list'] {
    return this.list.filter(({ entry }) => entry.key === key).toSorted((a, b) => b.stored - a.stored);
  }

  use(held: readonly Model['list'][number][]): void {
    for (const each of held) this.list = [...this.list.filter((other) => other !== each), each];
  }

  purge(by: string, soft: boolean): number {
    this.generation += 1;
    this.#purges.push({ tag: by, at: this.generation, soft });
    const concerned = this.list.filter(({ entry }) => carries(entry, by));
    if (soft) for (const held of concerned) held.fresh = false;
    else this.list = this.list.filter((held) => !concerned.includes(held));
    return concerned.length;
  }
}

const carries = (entry: Entry, by: string): boolean => by === 'all' || entry.tags.some((each) => String(each) === by);
const isPinned = ({ agent }: Entry): boolean => agent !== null;

/** Does the steps to the store and to the model, and holds one to the other after each. */
export async function follows(script: readonly Step[]): Promise<void> {
  const model = new Model();
  const clock = new FakeClock();
  const observer = new RecordingObserver();
  const store = createMemoryStore({ clock, observer, maxBytes: bytes(ROOM), pinned: isPinned });
  for (const step of script) {
    switch (step.do) {
      case 'put': {
        const entry = entryFor(step, model.generation);
        assert.equal(await store.put(entry), model.put(entry));
        break;
      }
      case 'peek': {
        const shelf = model.shelf(entryKey(step.name));
        const held = store.peek(entryKey(step.name));
        assert.deepEqual(
          held.map(identify),
          shelf.map((each) => identify(each.entry)),
        );
        assert.deepEqual(
          held.map(isFresh),
          shelf.map(({ fresh }) => fresh),
        );
        model.use(shelf);
        break;
      }
      case 'drop': {
        // Reading to find what to drop is use, in both.
        const [first] = store.peek(entryKey(step.name));
        const shelf = model.shelf(entryKey(step.name));
        model.use(shelf);
        if (first !== undefined) await store.drop(first);
        model.list = model.list.filter((held) => held !== shelf[0]);
        break;
      }
      case 'purge':
        assert.equal(await store.purge([tag(step.tag)], step.soft), model.purge(step.tag, step.soft));
        if (step.soft) useAll(model, store);
        break;
    }
    assert.deepEqual({ ...store.size() }, { entries: model.list.length, bytes: model.bytes });
    assert.equal(store.generation(), model.generation);
  }
}

/** A soft purge may reorder what it touched; reading all of it, by name, makes the order known again. */
function useAll(model: Model, store: MemoryStore): void {
  for (const each of NAMES) {
    store.peek(entryKey(each));
    model.use(model.shelf(entryKey(each)));
  }
}

const identify = ({ key, variant, body, coded = [] }: Entry): string =>
  `${key} ${variant} ${body.byteLength} ${coded.map((each) => each.body.byteLength).join()}`;
/** Nothing ages here: what is not fresh was purged softly. */
const isFresh = ({ lifetime }: Entry): boolean => lifetime.fresh > 0;

function entryFor(step: Extract<Step, { do: 'put' }>, now: number): Entry {
  const named = PINNED.has(step.name) && step.variant === 0;
  return entryOf(step.name, {
    variant: variantKey(`v${step.variant}`),
    body: new Uint8Array(step.size),
    coded: step.coded === 0 ? [] : [{ coding: 'gzip', body: new Uint8Array(step.coded), etag: '"gzip"' }],
    generation: generation(Math.max(0, now - step.late)),
    ...(named ? { agent: agentName(step.name), admission: ADMISSION } : {}),
  });
}
