import assert from 'node:assert/strict';
import { test } from 'node:test';
import v8 from 'node:v8';
import vm from 'node:vm';
import { tag, variantKey } from '../../src/kernel/ids.ts';
import { bytes } from '../../src/kernel/units.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { cardOf, entryKey, entryOf } from '../support/entries.ts';
import { FakeClock } from '../support/fake-clock.ts';

v8.setFlagsFromString('--expose-gc');
const collect: unknown = vm.runInNewContext('gc');

const MIB = 1024 * 1024;
const MINUTE = 60_000;
const WEEKS = 2 * 7 * 24 * 60;
const ROOM = bytes(4 * MIB);

test('two weeks of new names, variants, purges and drops leaves no more behind than a day', async () => {
  assert.ok(typeof collect === 'function');
  const clock = new FakeClock();
  const observer = { record: () => undefined };
  const store = createMemoryStore({ clock, observer, maxBytes: ROOM, pinned: ({ agent }) => agent !== null });
  const live = async (minute: number): Promise<void> => {
    const name = `host-${minute}`;
    const at = { generation: store.generation(), body: new Uint8Array(minute % 2_000) };
    for (const variant of ['en', 'de']) await store.put(entryOf(name, { ...at, variant: variantKey(variant) }));
    await store.put(cardOf(`agent-${minute % 20}`, { ...at, etag: `"${minute}"` }));
    if (minute % 7 === 0) await store.purge([tag(`origin:host-${minute - 3}.example.com`)], minute % 2 === 0);
    if (minute % 11 === 0) for (const entry of store.peek(entryKey(name))) await store.drop(entry);
    assert.ok(store.size().bytes <= ROOM);
  };
  const heapAfter = async (from: number, to: number): Promise<number> => {
    for (let minute = from; minute < to; minute += 1) await live(minute);
    await clock.advance((to - from) * MINUTE);
    collect();
    return process.memoryUsage().heapUsed;
  };
  const day = await heapAfter(0, 24 * 60);
  const weeks = await heapAfter(24 * 60, WEEKS);
  // They add 18,720 names: 78 forgotten bytes for each would show. What the engine keeps for itself varies by half a MiB.
  assert.ok(weeks - day < 1.4 * MIB, `the heap grew by ${weeks - day} bytes`);
  await store.purge([tag('all')], false);
  assert.deepEqual({ ...store.size() }, { entries: 0, bytes: 0 });
});
