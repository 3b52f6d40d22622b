import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Entry } from '../../src/kernel/entry.ts';
import { agentName, tag, variantKey } from '../../src/kernel/ids.ts';
import { bytes } from '../../src/kernel/units.ts';
import { entrySize } from '../../src/store/entry-size.ts';
import { LARGEST_PART, MOST_VARIANTS, type MemoryStore, createMemoryStore } from '../../src/store/memory.ts';
import { storeContract } from '../contracts/store.contract.ts';
import { cardOf, entryKey, entryOf } from '../support/entries.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { RecordingObserver } from '../support/recording-observer.ts';

const ONE = entrySize(entryOf('a'));

storeContract('the memory store', (clock) =>
  Promise.resolve(
    createMemoryStore({
      clock,
      observer: new RecordingObserver(),
      maxBytes: bytes(ONE * 100),
      pinned: () => false,
    }),
  ),
);

interface Given {
  readonly store: MemoryStore;
  readonly observer: RecordingObserver;
}

/** A store with room for so many small entries of origins. */
function storeFor(entries: number, pinned: (entry: Entry) => boolean = () => false): Given {
  const observer = new RecordingObserver();
  const store = createMemoryStore({ clock: new FakeClock(), observer, maxBytes: bytes(ONE * entries), pinned });
  return { store, observer };
}

const holds = (store: MemoryStore, name: string): boolean => store.peek(entryKey(name)).length > 0;
const reasons = (observer: RecordingObserver): readonly string[] => observer.of('evicted').map(({ reason }) => reason);
const isCard = (entry: Entry): boolean => entry.agent !== null;

describe('room', () => {
  test('as many entries as fit stay, to the byte, and one more pushes one out', async () => {
    const { store, observer } = storeFor(8);
    for (const name of 'abcdefgh') await store.put(entryOf(name));
    assert.deepEqual({ ...store.size() }, { entries: 8, bytes: ONE * 8 });
    assert.deepEqual(reasons(observer), []);
    await store.put(entryOf('i'));
    assert.deepEqual({ ...store.size() }, { entries: 8, bytes: ONE * 8 });
    assert.deepEqual(observer.of('evicted'), [{ kind: 'evicted', reason: 'size', count: 1, bytes: ONE }]);
  });

  test('one byte more than fits pushes out two', async () => {
    const { store } = storeFor(8);
    for (const name of 'abcdefgh') await store.put(entryOf(name));
    await store.put(entryOf('i', { body: new Uint8Array(101) }));
    assert.deepEqual([holds(store, 'a'), holds(store, 'b'), holds(store, 'c')], [false, false, true]);
  });

  test('the least recently used goes, and reading is use', async () => {
    const { store } = storeFor(4);
    for (const name of 'abcd') await store.put(entryOf(name));
    store.peek(entryKey('a'));
    await store.put(entryOf('e'));
    assert.deepEqual(
      [...'abcde'].filter((name) => holds(store, name)),
      [...'acde'],
    );
  });

  test('an entry that replaces a smaller one makes its own room', async () => {
    const { store } = storeFor(5);
    for (const name of 'abcde') await store.put(entryOf(name));
    await store.put(entryOf('e', { body: new Uint8Array(200) }));
    assert.deepEqual(
      [...'abcde'].filter((name) => holds(store, name)),
      [...'bcde'],
    );
    assert.equal(store.size().bytes, ONE * 4 + 100);
  });

  test('an entry of more than its part is not taken and pushes nothing out', async () => {
    const { store, observer } = storeFor(8);
    for (const name of 'abcdefgh') await store.put(entryOf(name));
    const limit = (ONE * 8) / LARGEST_PART;
    const body = (size: number): Uint8Array => new Uint8Array(size - (ONE - 100));
    assert.equal(await store.put(entryOf('i', { body: body(limit + 1) })), false);
    assert.equal(store.size().entries, 8);
    assert.deepEqual(reasons(observer), ['too-large']);
    assert.equal(await store.put(entryOf('i', { body: body(limit) })), true);
    assert.equal(store.size().entries, 7);
  });

  test('what is too large leaves what it would have replaced', async () => {
    const { store } = storeFor(8);
    await store.put(entryOf('a'));
    assert.equal(await store.put(entryOf('a', { body: new Uint8Array(ONE * 3) })), false);
    assert.equal(store.peek(entryKey('a'))[0]?.body.byteLength, 100);
  });

  test('a body that is a window on a larger buffer is kept without the buffer', async () => {
    const { store } = storeFor(8);
    const slab = new Uint8Array(65_536).fill(7);
    await store.put(entryOf('a', { body: slab.subarray(1_000, 1_100) }));
    const body = store.peek(entryKey('a'))[0]?.body;
    assert.deepEqual(body, new Uint8Array(100).fill(7));
    assert.equal(body?.buffer.byteLength, 100);
  });

  test('coded forms are charged for, and kept without the buffers that they came in', async () => {
    const { store } = storeFor(8);
    const slab = new Uint8Array(65_536).fill(7);
    const coded = [{ coding: 'br', body: slab.subarray(10, 20), etag: '"br"' }] as const;
    await store.put(entryOf('a', { coded }));
    const [entry] = store.peek(entryKey('a'));
    assert.equal(entry?.coded?.[0]?.body.buffer.byteLength, 10);
    assert.equal(store.size().bytes, entrySize(entryOf('a', { coded })));
    assert.ok(store.size().bytes > ONE + 10);
    await store.purge([tag('all')], false);
    assert.equal(store.size().bytes, 0);
  });

  test('forms that come later are charged for, in the very place of what they are of', async () => {
    const { store } = storeFor(8);
    for (const variant of ['x', 'y']) await store.put(entryOf('a', { variant: variantKey(variant), etag: '"a"' }));
    await store.put(entryOf('a', { variant: variantKey('z'), etag: '"other"' }));
    const slab = new Uint8Array(65_536);
    const coded = [{ coding: 'br', body: slab.subarray(10, 20), etag: '"br"' }] as const;
    store.code(entryKey('a'), '"a"', coded);
    const shelf = store.peek(entryKey('a'));
    assert.deepEqual(
      shelf.map(({ variant, coded: forms }) => [variant, forms?.[0]?.body.buffer.byteLength]),
      [
        ['z', undefined],
        ['y', 10],
        ['x', 10],
      ],
    );
    assert.equal(
      store.size().bytes,
      shelf.reduce((sum, entry) => sum + entrySize(entry), 0),
    );
    store.code(entryKey('a'), '"a"', []);
    assert.equal(store.peek(entryKey('a'))[1]?.coded?.length, 1, 'they are made once');
  });

  test('forms that come later make their room, and are left out where they are too large', async () => {
    const { store } = storeFor(5);
    for (const name of 'bcdea') await store.put(entryOf(name, { etag: `"${name}"` }));
    store.code(entryKey('a'), '"a"', [{ coding: 'br', body: new Uint8Array(1), etag: '"br"' }]);
    assert.deepEqual(
      [...'abcde'].filter((name) => holds(store, name)),
      [...'acde'],
    );
    store.code(entryKey('e'), '"e"', [{ coding: 'br', body: new Uint8Array(ONE), etag: '"br"' }]);
    assert.deepEqual(store.peek(entryKey('e'))[0]?.coded, []);
    assert.deepEqual(
      [...'abcde'].filter((name) => holds(store, name)),
      [...'acde'],
    );
  });

  test('what is only too large with its coded forms is kept without them', async () => {
    const { store, observer } = storeFor(8);
    const coded = [{ coding: 'gzip', body: new Uint8Array(ONE * 2), etag: '"gzip"' }] as const;
    assert.equal(await store.put(entryOf('a', { coded })), true);
    assert.equal(store.peek(entryKey('a'))[0]?.coded, undefined);
    assert.equal(store.size().bytes, ONE);
    assert.deepEqual(reasons(observer), []);
  });

  test('closed, it holds nothing', async () => {
    const { store } = storeFor(8, isCard);
    await store.put(entryOf('a'));
    await store.put(cardOf('b'));
    await store.close();
    assert.deepEqual({ ...store.size() }, { entries: 0, bytes: 0 });
  });
});

describe('variants', () => {
  const put = async (store: MemoryStore, variants: readonly number[]): Promise<void> => {
    for (const variant of variants) await store.put(entryOf('a', { variant: variantKey(`v${variant}`) }));
  };
  const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, variant) => variant);

  test(`${MOST_VARIANTS} stay, one more pushes out the one stored longest ago`, async () => {
    const { store, observer } = storeFor(100);
    await put(store, upTo(MOST_VARIANTS));
    assert.deepEqual(reasons(observer), []);
    await put(store, [MOST_VARIANTS]);
    assert.deepEqual(reasons(observer), ['variants']);
    const kept = store.peek(entryKey('a')).map(({ variant }) => String(variant));
    assert.equal(kept.length, MOST_VARIANTS);
    assert.ok(!kept.includes('v0') && kept[0] === `v${MOST_VARIANTS}`);
  });

  test('a validated variant is not the oldest any more', async () => {
    const { store } = storeFor(100);
    await put(store, [...upTo(MOST_VARIANTS), 0, MOST_VARIANTS]);
    const kept = store.peek(entryKey('a')).map(({ variant }) => String(variant));
    assert.deepEqual([kept.includes('v0'), kept.includes('v1')], [true, false]);
  });
});

describe('pinned entries', () => {
  test('stay while everything else goes', async () => {
    const { store } = storeFor(4, isCard);
    await store.put(cardOf('card'));
    for (const name of 'abcdefghij') await store.put(entryOf(name));
    assert.ok(holds(store, 'card'));
    assert.ok(store.size().bytes <= ONE * 4);
  });

  test('push out the others, and are taken though nothing is left to push out', async () => {
    const { store } = storeFor(4, isCard);
    for (const name of 'abcd') await store.put(entryOf(name));
    for (const name of ['one', 'two', 'three', 'four', 'five']) assert.ok(await store.put(cardOf(name)));
    assert.equal(store.size().entries, 5);
    assert.deepEqual({ ...store.held().other }, { entries: 0, bytes: 0 });
  });

  test('leave no room to others when they fill the store', async () => {
    const { store, observer } = storeFor(4, isCard);
    for (const name of ['one', 'two', 'three', 'four']) await store.put(cardOf(name));
    const full = store.size();
    assert.equal(await store.put(entryOf('a')), false);
    assert.deepEqual(reasons(observer), ['too-large']);
    assert.deepEqual(store.size(), full);
  });

  test('are taken however large', async () => {
    const { store } = storeFor(4, isCard);
    assert.ok(await store.put(cardOf('card', { body: new Uint8Array(ONE * 3) })));
    assert.ok(holds(store, 'card'));
  });

  test('are purged and dropped like any other', async () => {
    const { store } = storeFor(4, isCard);
    await store.put(cardOf('one'));
    await store.put(cardOf('two'));
    assert.equal(await store.purge([tag('agent:one')], false), 1);
    await store.drop(store.peek(entryKey('two'))[0] ?? cardOf('none'));
    assert.deepEqual({ ...store.size() }, { entries: 0, bytes: 0 });
  });

  test('stay pinned through a soft purge', async () => {
    const { store } = storeFor(4, isCard);
    await store.put(cardOf('card'));
    await store.purge([tag('agent:card')], true);
    for (const name of 'abcdefgh') await store.put(entryOf(name));
    assert.ok(holds(store, 'card'));
  });

  test('go like the others once their pin has ended', async () => {
    const named = new Set([agentName('one'), agentName('two')]);
    const { store } = storeFor(4, ({ agent }) => agent !== null && named.has(agent));
    for (const name of ['one', 'two']) await store.put(cardOf(name));
    named.delete(agentName('one'));
    for (const name of 'abcdefgh') await store.put(entryOf(name));
    assert.deepEqual([holds(store, 'one'), holds(store, 'two')], [false, true]);
    assert.ok(store.size().bytes <= ONE * 4);
  });

  test('larger than the store, one whose pin has ended is dropped outright', async () => {
    let named = true;
    const { store } = storeFor(8, (entry) => named && isCard(entry));
    await store.put(cardOf('card', { body: new Uint8Array(ONE * 9) }));
    named = false;
    await store.put(cardOf('other'));
    assert.deepEqual([holds(store, 'card'), holds(store, 'other')], [false, true]);
  });
});

describe('what it tells', () => {
  test('every way out has its reason', async () => {
    const { store, observer } = storeFor(4);
    await store.put(entryOf('a'));
    await store.put(entryOf('a'));
    await store.purge([tag('origin:a.example.com')], false);
    assert.deepEqual(reasons(observer), ['replaced', 'purge']);
  });

  test('cards and other responses are counted apart', async () => {
    const { store } = storeFor(10);
    await store.put(entryOf('a'));
    await store.put(cardOf('b'));
    const { public: cards, other } = store.held();
    assert.deepEqual([cards.entries, other.entries], [1, 1]);
    assert.equal(other.bytes, ONE);
    assert.equal(cards.bytes + other.bytes, store.size().bytes);
  });

  test('a hit allocates no list: the same one is handed out until something changes', async () => {
    const { store } = storeFor(10);
    await store.put(entryOf('a'));
    assert.equal(store.peek(entryKey('a')), store.peek(entryKey('a')));
    assert.equal(store.peek(entryKey('none')), store.peek(entryKey('nothing')));
  });
});

describe('another size', () => {
  test('smaller: the least recently used go until the rest fits', async () => {
    const { store, observer } = storeFor(8);
    for (const name of 'abcdefgh') await store.put(entryOf(name));
    store.peek(entryKey('a'));
    store.resize(bytes(ONE * 3));
    assert.deepEqual({ ...store.size() }, { entries: 3, bytes: ONE * 3 });
    assert.deepEqual(
      [...'agh'].map((name) => holds(store, name)),
      [true, true, true],
    );
    assert.deepEqual(
      reasons(observer),
      Array.from({ length: 5 }, () => 'size'),
    );
  });

  test('smaller than an entry: that one goes, and what fits stays', async () => {
    const { store } = storeFor(40);
    await store.put(entryOf('large', { body: new Uint8Array(ONE * 8) }));
    await store.put(entryOf('small'));
    store.resize(bytes(ONE * 4));
    assert.deepEqual([holds(store, 'large'), holds(store, 'small')], [false, true]);
    assert.equal(store.size().entries, 1);
  });

  test('pinned entries stay, whatever the size, and make room for nothing else', async () => {
    const { store } = storeFor(8, isCard);
    await store.put(cardOf('card', { body: new Uint8Array(ONE * 2) }));
    await store.put(entryOf('a'));
    store.resize(bytes(ONE));
    assert.deepEqual([holds(store, 'card'), holds(store, 'a')], [true, false]);
  });

  test('larger: everything stays and more comes in', async () => {
    const { store } = storeFor(4);
    for (const name of 'abcd') await store.put(entryOf(name));
    store.resize(bytes(ONE * 8));
    for (const name of 'efgh') await store.put(entryOf(name));
    assert.equal(store.size().entries, 8);
    await store.put(entryOf('i'));
    assert.deepEqual([holds(store, 'a'), holds(store, 'b')], [false, true]);
  });
});

describe('pinned entries without end', () => {
  test('cost one that comes in no more than a few looks, and go within a few rounds when their pins end', async () => {
    let looks = 0;
    let isPinned = true;
    const { store } = storeFor(50, (entry) => {
      looks += 1;
      return isPinned && isCard(entry);
    });
    for (let at = 0; at < 500; at += 1) await store.put(cardOf(`card-${at}`));
    looks = 0;
    assert.equal(await store.put(entryOf('a')), false, 'no room is left');
    assert.ok(looks > 10 && looks < 200, `${looks} looks`);
    isPinned = false;
    for (let round = 0; round < 12; round += 1) await store.put(entryOf(`later-${round}`));
    assert.ok(holds(store, 'later-11'));
    assert.ok(store.size().bytes <= ONE * 50);
  });
});
