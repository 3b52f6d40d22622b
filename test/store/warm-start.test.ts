import assert from 'node:assert/strict';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import type { Entry } from '../../src/kernel/entry.ts';
import { type EntryKey, tag, urlId, variantKey } from '../../src/kernel/ids.ts';
import { bytes, epochMs } from '../../src/kernel/units.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { type TieredStore, createTieredStore } from '../../src/store/tiered.ts';
import { cardOf, entryOf } from '../support/entries.ts';
import { type OpenedState, openState, temporaryFolder } from './ledger-world.ts';

interface Opened extends OpenedState {
  readonly store: TieredStore;
  close(): Promise<void>;
}

async function open(folder: string): Promise<Opened> {
  const opened = await openState(folder);
  const { clock, state } = opened;
  const observer = { record: () => undefined };
  const memory = createMemoryStore({ clock, observer, maxBytes: bytes(1_000_000), pinned: () => true });
  assert.ok(state.archive);
  const store = createTieredStore(memory, state.archive);
  const close = async (): Promise<void> => {
    await store.close();
    await state.close();
  };
  return { ...opened, store, close };
}

const nothing = (): boolean => false;

const card = (agent: string, more: Partial<Entry> = {}): Entry => {
  const entry = cardOf(agent, more);
  return { ...entry, key: `card\0${agent}\0https://${agent}.example.com/card` as EntryKey };
};

/** Keeps entries, ends, and starts again. */
async function restarted(folder: string, entries: readonly Entry[]): Promise<Opened> {
  const before = await open(folder);
  for (const entry of entries) assert.equal(await before.store.put(entry), true);
  await before.close();
  return open(folder);
}

describe('what a restart serves from', () => {
  test('is every accepted card as it was: bytes, fields, verdict, times', async (t) => {
    const weather = card('weather', {
      body: new TextEncoder().encode('{"name":"Wetter ☀"}'),
      receivedAt: epochMs(1_799_999_000_000),
    });
    const old = card('weather', { variant: variantKey('a2a-version=0.3') });
    const { store, close } = await restarted(await temporaryFolder(t), [weather, old, card('planner')]);
    t.after(close);
    assert.equal(store.peek(weather.key).length, 0);
    assert.equal(await store.warm(nothing), 3);
    const found = store.peek(weather.key);
    assert.equal(found.length, 2);
    assert.deepEqual(
      found.find(({ variant }) => variant === weather.variant),
      { ...weather, generation: store.generation() },
    );
  });

  test('is the newest of each variant', async (t) => {
    const one = card('weather', { receivedAt: epochMs(1) });
    const { store, close } = await restarted(await temporaryFolder(t), [one, { ...one, receivedAt: epochMs(2) }]);
    t.after(close);
    assert.equal(await store.warm(nothing), 1);
    assert.equal(store.peek(one.key)[0]?.receivedAt, 2);
  });

  test('is never more than eight variants', async (t) => {
    const many = Array.from({ length: 12 }, (_, n) => card('weather', { variant: variantKey(`v=${n}`) }));
    const { store, close } = await restarted(await temporaryFolder(t), many);
    t.after(close);
    assert.equal(await store.warm(nothing), 8);
  });

  test('is no extended card, no answer of an origin and nothing without a verdict, byte by byte', async (t) => {
    const folder = await temporaryFolder(t);
    const secret = new TextEncoder().encode('canary-extended-card');
    const others = [
      entryOf('idp', { body: secret }),
      { ...card('weather', { body: secret }), key: 'extended\0weather\0alice' as EntryKey },
      { ...card('weather', { body: secret }), admission: null },
    ];
    const { store, close } = await restarted(folder, others);
    assert.equal(await store.warm(nothing), 0);
    await close();
    for (const name of await readdir(folder)) {
      assert.ok(!(await readFile(path.join(folder, name))).includes('canary'), name);
    }
  });

  test('leaves out what is barred, and forgets it', async (t) => {
    const folder = await temporaryFolder(t);
    const first = await restarted(folder, [card('weather'), card('gone')]);
    assert.equal(await first.store.warm(({ agent }) => agent === 'gone'), 1);
    await first.close();
    const second = await open(folder);
    t.after(second.close);
    assert.equal(await second.store.warm(nothing), 1);
  });

  test('is key sets with the time when they were fetched', async (t) => {
    const folder = await temporaryFolder(t);
    const keys = {
      name: 'example',
      url: urlId('https://example.com/jwks'),
      fetchedAt: epochMs(5),
      body: new Uint8Array([1]),
    };
    const before = await open(folder);
    before.state.archive?.saveKeySet(keys);
    before.state.archive?.saveKeySet({ ...keys, fetchedAt: epochMs(6) });
    await before.close();
    const after = await open(folder);
    t.after(after.close);
    assert.deepEqual(await after.state.archive?.loadKeySets(), [{ ...keys, fetchedAt: 6 }]);
  });
});

describe('what was taken away stays away', () => {
  test('by a purge of a tag, or of everything', async (t) => {
    for (const [tags, left] of [
      [[tag('agent:weather')], 1],
      [[tag('all')], 0],
      [[tag('agent:nobody')], 2],
    ] as const) {
      const folder = await temporaryFolder(t);
      const before = await open(folder);
      await before.store.put(card('weather'));
      await before.store.put(card('planner'));
      await before.store.purge(tags, false);
      await before.close();
      const after = await open(folder);
      assert.equal(await after.store.warm(nothing), left);
      await after.close();
    }
  });

  test('by a drop', async (t) => {
    const folder = await temporaryFolder(t);
    const before = await open(folder);
    const weather = card('weather');
    await before.store.put(weather);
    await before.store.drop(weather);
    await before.close();
    const after = await open(folder);
    t.after(after.close);
    assert.equal(await after.store.warm(nothing), 0);
  });

  test('and what was made stale is stale', async (t) => {
    const folder = await temporaryFolder(t);
    const before = await open(folder);
    const weather = card('weather');
    await before.store.put(weather);
    await before.clock.advance(7_000);
    await before.store.purge([tag('agent:weather')], true);
    await before.close();
    const after = await open(folder);
    t.after(after.close);
    await after.store.warm(nothing);
    assert.equal(after.store.peek(weather.key)[0]?.lifetime.fresh, 7_000);
  });
});

describe('a file that cannot be read is a cold start', () => {
  const damages: readonly (readonly [name: string, damage: (file: string) => Promise<void> | void, aside: string])[] = [
    ['garbage', (file) => writeFile(file, 'x'.repeat(9_000)), 'cards.db.corrupt'],
    ['of a newer program', (file) => run(file, 'pragma user_version = 99'), 'cards.db.future'],
  ];
  for (const [name, damage, aside] of damages) {
    test(`${name}: put aside with a line in the log, and kept from then on`, async (t) => {
      const folder = await temporaryFolder(t);
      await (await restarted(folder, [card('weather')])).close();
      await damage(path.join(folder, 'cards.db'));
      const cold = await open(folder);
      assert.match(cold.said().join(), /put aside: a cold start/);
      assert.equal(await cold.store.warm(nothing), 0);
      await cold.store.put(card('weather'));
      await cold.close();
      assert.ok((await readdir(folder)).includes(aside));
      const warm = await open(folder);
      t.after(warm.close);
      assert.equal(await warm.store.warm(nothing), 1);
    });
  }
  const heads: readonly (readonly [name: string, head: string])[] = [
    ['another format', `'{"format":2,"head":{}}'`],
    ['no JSON', `'x'`],
    ['no entry', `'{"format":1,"head":{"key":1}}'`],
    ['no verdict', `json_remove(head, '$.head.admission')`],
    ['a lifetime that is no number', `json_set(head, '$.head.lifetime.fresh', 'long')`],
  ];
  for (const [name, head] of heads) {
    test(`an entry with ${name} is left out`, async (t) => {
      const folder = await temporaryFolder(t);
      await (await restarted(folder, [card('weather'), card('planner')])).close();
      run(path.join(folder, 'cards.db'), `update cards set head = ${head} where tags like '%planner%'`);
      const after = await open(folder);
      t.after(after.close);
      assert.equal(await after.store.warm(nothing), 1);
      assert.deepEqual(after.said(), ['stored cards of another format are fetched anew']);
    });
  }
  function run(file: string, statement: string): void {
    const db = new DatabaseSync(file);
    db.exec(statement);
    db.close();
  }
});
