import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decideReuse } from '../../src/http/reuse.ts';
import { NO_DIRECTIVES } from '../../src/http/cache-control.ts';
import type { Entry } from '../../src/kernel/entry.ts';
import { type Tag, tag, variantKey } from '../../src/kernel/ids.ts';
import { epochMs, ms } from '../../src/kernel/units.ts';
import type { Clock, Store } from '../../src/ports.ts';
import { cardOf, entryKey, entryOf } from '../support/entries.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** Opens an empty store with room for a hundred small entries. */
export type OpenStore = (clock: Clock) => Promise<Store>;

/** What every Store promises, whatever it keeps entries on. */
export function storeContract(name: string, open: OpenStore): void {
  const withStore = async (run: (store: Store, clock: FakeClock) => Promise<void>): Promise<void> => {
    const clock = new FakeClock();
    const store = await open(clock);
    try {
      await run(store, clock);
    } finally {
      await store.close();
    }
  };
  const cases: Readonly<Record<string, (store: Store, clock: FakeClock) => Promise<void>>> = {
    ...KEEPING,
    ...PURGING,
    ...FENCING,
  };
  describe(`${name} is a Store`, () => {
    for (const [title, run] of Object.entries(cases)) test(title, () => withStore(run));
  });
}

const ORIGIN_A = tag('origin:a.example.com');
const ORIGIN_B = tag('origin:b.example.com');

/** Reads both ways, which must agree once an entry is in memory. */
async function read(store: Store, key: Entry['key']): Promise<readonly Entry[]> {
  const found = await store.find(key);
  assert.deepEqual(store.peek(key), found);
  return found;
}

const useOf = (entry: Entry | undefined, clock: Clock): string | undefined =>
  entry && decideReuse({ entry, request: NO_DIRECTIVES, now: clock.now() }).use;

type Case = (store: Store, clock: FakeClock) => Promise<void>;

const KEEPING: Readonly<Record<string, Case>> = {
  'an unknown key has nothing': async (store) => assert.deepEqual(await read(store, entryKey('a')), []),

  'what is put is found, member by member': async (store) => {
    const entry = cardOf('a', { body: new TextEncoder().encode('{"name":"é"}'), etag: '"x"' });
    assert.equal(await store.put(entry), true);
    assert.deepEqual(await read(store, entry.key), [entry]);
  },

  'keys do not meet': async (store) => {
    await store.put(entryOf('a'));
    assert.deepEqual(await read(store, entryKey('b')), []);
  },

  'the same key and variant are replaced, another variant stands beside it, the latest first': async (store) => {
    const english = entryOf('a', { variant: variantKey('en') });
    const german = entryOf('a', { variant: variantKey('de') });
    const newer = entryOf('a', { variant: variantKey('en'), etag: '"2"' });
    for (const entry of [english, german, newer]) await store.put(entry);
    assert.deepEqual(await read(store, english.key), [newer, german]);
    assert.equal(store.size().entries, 2);
  },

  'a dropped entry is gone and its sibling stays': async (store) => {
    const [english, german] = [variantKey('en'), variantKey('de')];
    await store.put(entryOf('a', { variant: english }));
    await store.put(entryOf('a', { variant: german }));
    const [first] = await read(store, entryKey('a'));
    assert.ok(first);
    await store.drop(first);
    assert.deepEqual(
      (await read(store, entryKey('a'))).map((entry) => entry.variant),
      [english],
    );
  },

  'what took the place of an entry is not dropped in its stead': async (store) => {
    await store.put(entryOf('a'));
    const [before] = await read(store, entryKey('a'));
    assert.ok(before);
    await store.put(entryOf('a', { etag: '"2"' }));
    await store.drop(before);
    assert.deepEqual(
      (await read(store, entryKey('a'))).map((entry) => entry.etag),
      ['"2"'],
    );
  },

  'it counts what it holds, to nothing when all is gone': async (store) => {
    assert.deepEqual({ ...store.size() }, { entries: 0, bytes: 0 });
    await store.put(entryOf('a'));
    const one = store.size();
    assert.ok(one.entries === 1 && one.bytes >= 100);
    await store.put(entryOf('a', { body: new Uint8Array(300) }));
    assert.deepEqual({ ...store.size() }, { entries: 1, bytes: one.bytes + 200 });
    await store.purge([ORIGIN_A], false);
    assert.deepEqual({ ...store.size() }, { entries: 0, bytes: 0 });
  },
};

const PURGING: Readonly<Record<string, Case>> = {
  'a purge takes out all variants of what carries the tag, says how many, and leaves the rest': async (store) => {
    await store.put(entryOf('a', { variant: variantKey('en') }));
    await store.put(entryOf('a', { variant: variantKey('de') }));
    await store.put(entryOf('b'));
    assert.equal(await store.purge([ORIGIN_A], false), 2);
    assert.deepEqual(await read(store, entryKey('a')), []);
    assert.equal((await read(store, entryKey('b'))).length, 1);
  },

  'an entry with two of the tags is counted once': async (store) => {
    await store.put(cardOf('a'));
    assert.equal(await store.purge([ORIGIN_A, tag('agent:a')], false), 1);
  },

  'a purge of what nobody carries concerns nothing': async (store) => {
    await store.put(entryOf('a'));
    assert.equal(await store.purge([tag('origin:elsewhere.example.com')], false), 0);
    assert.equal((await read(store, entryKey('a'))).length, 1);
  },

  'all means all, even what does not say so': async (store) => {
    await store.put(entryOf('a'));
    await store.put(entryOf('b', { tags: [ORIGIN_B] }));
    assert.equal(await store.purge([tag('all')], false), 2);
    assert.equal(store.size().entries, 0);
  },

  'an error page is purged like any other': async (store) => {
    await store.put(entryOf('a', { status: 404 }));
    assert.equal(await store.purge([ORIGIN_A], false), 1);
    assert.deepEqual(await read(store, entryKey('a')), []);
  },

  'a soft purge makes stale: still served while a refresh runs, and no longer than its window from now': async (
    store,
    clock,
  ) => {
    await store.put(entryOf('a'));
    await clock.advance(60_000);
    const [before] = await read(store, entryKey('a'));
    assert.equal(useOf(before, clock), 'fresh');
    assert.equal(await store.purge([ORIGIN_A], true), 1);
    const [after] = await read(store, entryKey('a'));
    assert.equal(useOf(after, clock), 'stale-while-revalidate');
    await clock.advance(30_000);
    assert.equal(useOf(after, clock), 'stale-while-revalidate');
    await clock.advance(1);
    assert.equal(useOf(after, clock), 'validate');
  },

  'a soft purge keeps bytes, age and order, and never makes fresher what is stale': async (store, clock) => {
    await store.put(entryOf('a', { variant: variantKey('en') }));
    await store.put(entryOf('a', { variant: variantKey('de') }));
    await clock.advance(310_000);
    const before = await read(store, entryKey('a'));
    await store.purge([ORIGIN_A], true);
    assert.deepEqual(await read(store, entryKey('a')), before);
  },

  'a soft purge under a clock that was set back leaves nothing fresh': async (store, clock) => {
    const ahead = epochMs(clock.now() + 60_000);
    await store.put(entryOf('a', { receivedAt: ahead, initialAge: ms(5_000) }));
    await store.purge([ORIGIN_A], true);
    const [after] = await read(store, entryKey('a'));
    assert.equal(useOf(after, clock), 'stale-while-revalidate');
  },
};

/** A fetch began; a purge came; the fetch wants to store what it got. */
const late = async (store: Store, purged: readonly Tag[], soft: boolean): Promise<boolean> => {
  const since = store.generation();
  await store.purge(purged, soft);
  return store.put(entryOf('a', { generation: since }));
};

const FENCING: Readonly<Record<string, Case>> = {
  'a purge moves the generation': async (store) => {
    const before = store.generation();
    await store.purge([ORIGIN_A], false);
    assert.ok(store.generation() > before);
  },

  'what was fetched before a purge of its tag does not come back': async (store) => {
    assert.equal(await late(store, [ORIGIN_A], false), false);
    assert.deepEqual(await read(store, entryKey('a')), []);
  },

  'nor before a purge of all, whether it says `all` or not': async (store) => {
    const since = store.generation();
    await store.purge([tag('all')], false);
    assert.equal(await store.put(entryOf('a', { generation: since })), false);
    assert.equal(await store.put(entryOf('a', { generation: since, tags: [ORIGIN_A] })), false);
  },

  'a purge of another tag bars nothing': async (store) => {
    assert.equal(await late(store, [ORIGIN_B], false), true);
  },

  'what is fetched after the purge comes in': async (store) => {
    await late(store, [ORIGIN_A], false);
    assert.equal(await store.put(entryOf('a', { generation: store.generation() })), true);
  },

  'what is barred does not take the place of what is there': async (store) => {
    const since = store.generation();
    await store.purge([ORIGIN_A], false);
    await store.put(entryOf('a', { generation: store.generation(), etag: '"new"' }));
    assert.equal(await store.put(entryOf('a', { generation: since, etag: '"old"' })), false);
    const [kept] = await read(store, entryKey('a'));
    assert.equal(kept?.etag, '"new"');
  },

  'what was fetched before a soft purge comes in stale': async (store, clock) => {
    assert.equal(await late(store, [ORIGIN_A], true), true);
    const [entry] = await read(store, entryKey('a'));
    assert.equal(useOf(entry, clock), 'stale-while-revalidate');
  },

  'what is fetched after a soft purge is fresh': async (store, clock) => {
    await store.purge([ORIGIN_A], true);
    await store.put(entryOf('a', { generation: store.generation() }));
    const [entry] = await read(store, entryKey('a'));
    assert.equal(useOf(entry, clock), 'fresh');
  },
};
