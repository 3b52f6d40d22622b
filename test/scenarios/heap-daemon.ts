import { closeSync, createWriteStream, openSync, writeSync } from 'node:fs';
import { once } from 'node:events';
import inspector from 'node:inspector/promises';
import process from 'node:process';
import { pipeline } from 'node:stream/promises';
import { writeHeapSnapshot } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { startDaemon } from '../../src/daemon.ts';
import type { ExtendedEntry, PartitionKey } from '../../src/kernel/extended-entry.ts';
import { bytes } from '../../src/kernel/units.ts';
import { createSystemClock } from '../../src/observe/system-clock.ts';
import type { ExtendedStore } from '../../src/ports/callers.ts';
import { createExtendedStore } from '../../src/store/extended.ts';
import { validConfig } from '../support/config.ts';

/*
 * A daemon in a process of its own that shows what is in its memory: `no-tokens-in-memory.long.test.ts` says what it is asked, one
 * message after the other. What is planted is planted so that the search can be seen to find it.
 */

const [, , config = '', log = ''] = process.argv;
const lines = createWriteStream(log);
const configured = await validConfig(config);
const daemon = await startDaemon(configured, { clock: createSystemClock(), log: lines }, async () => configured);
const planted: unknown[] = [];

/** The types of Node leave out what this one gives. */
interface Queried {
  readonly objects: { readonly objectId: string };
}

/** Gives everything of one prototype that the heap holds to a function in this process. */
async function withAll<Result>(prototype: object, use: (found: readonly never[]) => Result): Promise<Result> {
  const session = new inspector.Session();
  session.connect();
  Object.assign(globalThis, { wanted: prototype });
  const { result } = await session.post('Runtime.evaluate', { expression: 'globalThis.wanted', objectGroup: 'q' });
  const asked = { prototypeObjectId: result.objectId ?? '', objectGroup: 'q' };
  const queried = (await session.post('Runtime.queryObjects', asked)) as unknown as Queried;
  const hand = { objectId: queried.objects.objectId, functionDeclaration: 'function () { globalThis.found = this; }' };
  await session.post('Runtime.callFunctionOn', hand);
  const { found } = globalThis as unknown as { found: readonly never[] };
  const used = use(found);
  Object.assign(globalThis, { wanted: undefined, found: undefined });
  await session.post('Runtime.releaseObjectGroup', { objectGroup: 'q' });
  session.disconnect();
  return used;
}

/** The store of the daemon itself; one of the same kind says what to look for. */
function findStore(): Promise<ExtendedStore> {
  const other = createExtendedStore({
    clock: createSystemClock(),
    observer: { record: () => undefined },
    maxBytes: bytes(1_000_000),
  });
  return withAll(Object.getPrototypeOf(other) as object, (found: readonly ExtendedStore[]) => {
    const [store] = found.filter((each) => each !== other);
    if (store === undefined) throw new Error('there is no store');
    return store;
  });
}

/** Puts for every principal of whom one entry is held so many more, each of an agent of its own, in the way in which every entry comes in. */
async function fill(agents: number): Promise<object> {
  const store = await findStore();
  const held = await withAll(LRUCache.prototype, (found: readonly LRUCache<string, ExtendedEntry>[]) =>
    found.flatMap((each) => [...each.values()]).filter((each) => 'partition' in each),
  );
  for (const entry of held) {
    for (let agent = 1; agent < agents; agent += 1) {
      const tags = entry.tags.map((each) => (each.startsWith('agent:') ? (`agent:a${agent}` as typeof each) : each));
      const partition = `${entry.partition}-${agent}` as PartitionKey;
      store.put({ ...entry, partition, tags, generation: store.generation() });
    }
  }
  return store.held();
}

/** Writes the heap of every thread that is at work. */
async function dumpThreads(to: string): Promise<object> {
  const threads = await withAll(Worker.prototype, (found: readonly Worker[]) =>
    found.filter((each) => Object.hasOwn(each, 'performance') && each.threadId > 0),
  );
  for (const [at, thread] of threads.entries())
    await pipeline(await thread.getHeapSnapshot(), createWriteStream(`${to}.thread${at}.heap`));
  return { threads: threads.length };
}

/** Writes the heap and every buffer's bytes. */
async function dump(to: string): Promise<object> {
  writeHeapSnapshot(`${to}.heap`);
  const file = openSync(`${to}.buffers`, 'w');
  const buffers = await withAll(ArrayBuffer.prototype, (found: readonly ArrayBuffer[]) => {
    for (const each of found) writeSync(file, new Uint8Array(each));
    return found.length;
  });
  closeSync(file);
  return { buffers };
}

function plant(text: string): object {
  planted.push(text.slice(1, -1), Buffer.from(`held by mistake: ${text}`), Buffer.from(text, 'utf16le'));
  return {};
}

async function answer(order: { readonly does: string; readonly [more: string]: unknown }): Promise<object> {
  switch (order.does) {
    case 'plant':
      return plant(String(order['text']));
    case 'fill':
      return fill(Number(order['agents']));
    case 'dump threads':
      return dumpThreads(String(order['to']));
    case 'dump':
      return dump(String(order['to']));
    default:
      await daemon.drain();
      lines.end();
      await once(lines, 'finish');
      return {};
  }
}

process.on('message', (order: Parameters<typeof answer>[0]) => {
  void answer(order).then(
    (done) => process.send?.({ done }),
    (error: unknown) => process.send?.({ failed: String(error) }),
  );
});
process.send?.({ done: daemon.started });
