/**
 * `npm run bench:growth`: whether a hit costs more where there is more. Hits on one agent of 10, 1,000 and as many as a configuration may hold, and hits on
 * 10, 1,000 and 10,000 cards in turn, each beside the floor; and what the store in memory takes for a look, a put and a purge among 10 and up to a
 * million entries, with the bytes that an entry of 3 KB takes.
 *
 *   npm run bench:growth -- [--node 24] [--rounds 5] [--requests 10000] [--record]
 */
import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Entry } from '../src/kernel/entry.ts';
import { tag } from '../src/kernel/ids.ts';
import { bytes } from '../src/kernel/units.ts';
import { createSystemClock } from '../src/observe/system-clock.ts';
import { type MemoryStore, createMemoryStore } from '../src/store/memory.ts';
import { entryKey, entryOf } from '../test/support/entries.ts';
import { build, type Cardea, cardUrl, REACH, startCardea } from './support/cardea.ts';
import { startCardOrigin } from './support/contestants.ts';
import { median, rounded } from './support/figures.ts';
import { startFloor } from './support/floors.ts';
import { run } from './support/load.ts';
import { isThere } from './support/machine.ts';
import { type NodeName, versionsOf } from './support/nodes.ts';
import { readOptions } from './support/options.ts';
import { answer } from './support/results.ts';
import { compete } from './support/rounds.ts';
import { type Scratch, withScratch } from './support/scratch.ts';

/** A configuration has at most 4 MiB, and these fill it. */
const AGENTS = [10, 1_000, 100_000] as const;
/** Cards that are asked for one after the other: more than anything remembers answers of. */
const IN_TURN = [10, 1_000, 10_000] as const;
const ENTRIES = [10, 1_000, 100_000, 1_000_000] as const;
const BODY = 3_072;
/** Those of the million share one body: their indexes are what is measured. */
const MOST_BODIES = 100_000;
const LOOKS = 200_000;
const PURGES = 51;

const options = readOptions(process.argv.slice(2), { rounds: 5, requests: 10_000, nodes: ['24'] });
if (!isThere('h2load', 'nghttp2-client')) process.exit(1);
setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');
const figures: Record<string, Readonly<Record<string, number>>> = {};
// What is compiled for the first entries is not what they cost.
await storeOf(20_000);
for (const entries of ENTRIES) figures[`store, ${entries} entries`] = await storeOf(entries);
build();
for (const node of options.nodes)
  for (const agents of AGENTS)
    figures[`hits, ${agents} agents, Node ${node}`] = await withScratch((scratch) => hits(agents, node, scratch));
for (const node of options.nodes)
  for (const cards of IN_TURN)
    figures[`hits on ${cards} cards in turn, Node ${node}`] = await withScratch((scratch) =>
      hitsInTurn(cards, node, scratch),
    );
answer('growth', { figures, versions: versionsOf(options.nodes) }, options);

async function hits(agents: number, node: NodeName, scratch: Scratch): Promise<Readonly<Record<string, number>>> {
  const origin = await startCardOrigin(scratch);
  const others = Array.from({ length: agents - 1 }, (_, at) => `  a${at}: {origin: https://a${at}.test}`);
  const config = `state: memory\ncache: { prefetch: false }\nagents:\n  bench: { origin: "${origin.url}", ${REACH} }\n${others.join('\n')}`;
  const began = performance.now();
  const cardea = await startCardea(config, node, scratch);
  const startMs = Math.round(performance.now() - began);
  const url = cardUrl(cardea, 'bench');
  const measured = await besideFloor({ cardea, node, connections: 16 }, [url], scratch);
  return { startMs, ...measured };
}

/** Over one connection: of several each would walk the list from its beginning. */
async function hitsInTurn(cards: number, node: NodeName, scratch: Scratch): Promise<Readonly<Record<string, number>>> {
  const origin = await startCardOrigin(scratch);
  const config = `state: memory\norigins: [{ match: "${origin.url}", content: card, ${REACH} }]\ncache: { maxBytes: 1GiB }`;
  const cardea = await startCardea(config, node, scratch);
  const { host } = new URL(origin.url);
  const urls = Array.from({ length: cards }, (_, at) => `${cardea.agents}/origins/http/${host}/card/${at}`);
  await run({ url: urls, protocol: 'http/1.1', connections: 1, requests: cards }, scratch);
  return besideFloor({ cardea, node, connections: 1 }, urls, scratch);
}

interface Served {
  readonly cardea: Cardea;
  readonly node: NodeName;
  readonly connections: number;
}

async function besideFloor({ cardea, node, connections }: Served, urls: readonly string[], scratch: Scratch) {
  const floor = await startFloor('floor-http1.mjs', { url: urls[0] ?? '' }, node, scratch);
  const load = { protocol: 'http/1.1', connections } as const;
  const contestants = [
    { name: 'floor', pid: floor.pid, load: { ...load, url: floor.url } },
    { name: 'cardea', pid: cardea.pid, load: { ...load, url: urls } },
  ];
  await compete(contestants, { rounds: 1, requests: 20_000 }, scratch);
  const { cardea: standing } = await compete(contestants, options.length, scratch);
  return { cpuPer100k: standing?.cpuPer100k ?? Number.NaN, toFloor: standing?.toFloor.cpu ?? Number.NaN };
}

async function storeOf(entries: number): Promise<Readonly<Record<string, number>>> {
  const store = createMemoryStore({
    clock: createSystemClock(),
    observer: { record: () => undefined },
    maxBytes: bytes(16 * 1024 ** 3),
    pinned: () => false,
  });
  const shared = new Uint8Array(BODY);
  const before = heap();
  const began = performance.now();
  for (let at = 0; at < entries; at += 1)
    assert.ok(await store.put(entryAt(at, entries <= MOST_BODIES ? new Uint8Array(BODY) : shared)));
  const putUs = ((performance.now() - began) / entries) * 1_000;
  const taken = entries <= MOST_BODIES ? { bytesPerEntry: Math.round((heap() - before) / entries) } : {};
  return {
    putUs: rounded(putUs, 2),
    // What was asked for lately, and what is opened for it.
    peekUs: rounded(peekTime(store, entries, 1_000), 3),
    openUs: rounded(peekTime(store, entries, 10_000), 3),
    purgeUs: rounded(await purgeTime(store, entries), 1),
    ...taken,
  };
}

function entryAt(at: number, body: Uint8Array): Entry {
  const tags = [tag('all'), tag(`agent:agent-${at}`), tag(`origin:agent-${at}.example.com`)];
  return entryOf(`agent-${at}`, { body, tags });
}

/** One look, at so many keys in turn. */
function peekTime(store: MemoryStore, entries: number, among: number): number {
  const keys = Array.from({ length: Math.min(entries, among) }, (_, at) =>
    entryKey(`agent-${Math.floor((at / Math.min(entries, among)) * entries)}`),
  );
  const began = performance.now();
  for (let look = 0; look < LOOKS; look += 1) store.peek(keys[look % keys.length] ?? entryKey(''));
  return ((performance.now() - began) / LOOKS) * 1_000;
}

/** Purging one entry by its tag, and putting it back: the median. */
async function purgeTime(store: MemoryStore, entries: number): Promise<number> {
  const times: number[] = [];
  for (let purge = 0; purge < PURGES; purge += 1) {
    const at = Math.floor((purge / PURGES) * entries);
    const began = performance.now();
    const purged = await store.purge([tag(`agent:agent-${at}`)], false);
    times.push((performance.now() - began) * 1_000);
    assert.equal(purged, 1);
    await store.put({ ...entryAt(at, new Uint8Array(BODY)), generation: store.generation() });
  }
  return median(times);
}

function heap(): number {
  if (typeof collect === 'function') collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
