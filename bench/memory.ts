/**
 * `npm run bench:memory`: proportional memory (PSS) of a daemon at rest, as it comes and without a state folder, beside a bare node:http process on the
 * same Node; and what distinct public cards of 3 KB, fetched, judged and kept, take beside their bytes.
 *
 *   npm run bench:memory -- [--node 24,26] [--requests 30000] [--record]      --requests: how many cards; 100,000 take some six minutes a Node
 */
import { setTimeout as pause } from 'node:timers/promises';
import { cardUrl, REACH, startCardea, type Cardea } from './support/cardea.ts';
import { cardOf } from './support/card.ts';
import { rounded } from './support/figures.ts';
import { startFloor } from './support/floors.ts';
import { run } from './support/load.ts';
import type { NodeName } from './support/nodes.ts';
import type { Options } from './support/options.ts';
import { answers, startOrigin } from './support/origin.ts';
import { pssBytes } from './support/process-tree.ts';
import { answerByNode } from './support/question.ts';
import type { Scratch } from './support/scratch.ts';

/** Long enough for the heap to settle after a start. */
const SETTLE_MS = 15_000;
/** Long enough for the ledger's thread to end and for V8 to give its pages back: 5 s, and up to twice 8. */
const REST_MS = 30_000;
const MIB = 1024 ** 2;
/** Cards that are fetched before whatever is made once has been made. */
const FIRST = 1_000;
/** URLs in one run of the load. */
const AT_ONCE = 10_000;

interface Rest {
  /** In MiB. */
  readonly floor: number;
  readonly stateless: number;
  readonly asItComes: number;
}

interface Filled {
  readonly entries: number;
  readonly bytesOfBodies: number;
  readonly bytesTaken: number;
  readonly ratio: number;
  readonly bytesPer1000: number;
}

await answerByNode<Rest | Filled>(
  'memory',
  { rounds: 1, requests: 30_000, nodes: ['24', '26'] },
  { 'at rest': atRest, 'public cards': filled },
);

/** Everybody runs at once, so that each has its share of the pages of the same program. */
async function atRest(node: NodeName, scratch: Scratch): Promise<Rest> {
  const origin = await startOrigin(answers(JSON.stringify(cardOf('Bench', 'http://127.0.0.1/rpc', 3_072))), scratch);
  const agents = `agents: { bench: { origin: "${origin.url}", ${REACH} } }`;
  const stateless = await startCardea(`state: memory\n${agents}`, node, scratch);
  const asItComes = await startCardea(`state: ${scratch.file('state')}\n${agents}`, node, scratch);
  const floor = await startFloor('floor-http1.mjs', { url: cardUrl(stateless, 'bench') }, node, scratch);
  await pause(REST_MS);
  const mebibytes = ({ pid }: { readonly pid: number }): number => rounded(pssBytes(pid) / MIB, 1);
  return { floor: mebibytes(floor), stateless: mebibytes(stateless), asItComes: mebibytes(asItComes) };
}

/** Every card has another name, so that no body is another's. */
async function filled(node: NodeName, scratch: Scratch, { length }: Options): Promise<Filled> {
  const entries = length.requests;
  const size = JSON.stringify(cardOf('/card/100000', 'http://127.0.0.1/rpc', 3_072)).length;
  const origin = await startOrigin(
    (request, response) =>
      answers(JSON.stringify(cardOf(request.url ?? '', 'http://127.0.0.1/rpc', 3_072)))(request, response),
    scratch,
  );
  const config = `state: memory\norigins: [{ match: "${origin.url}", content: card, ${REACH} }]\ncache: { maxBytes: 4GiB }`;
  const cardea = await startCardea(config, node, scratch);
  const { host } = new URL(origin.url);
  const url = (at: number): string => `${cardea.agents}/origins/http/${host}/card/${at}`;
  const many = (from: number, to: number): readonly string[] =>
    Array.from({ length: to - from }, (_, at) => url(from + at));
  // Whatever is made once is made before the first look.
  await fetchAll(many(entries, entries + FIRST), scratch);
  const before = await settled(cardea);
  await fetchAll(many(0, entries), scratch);
  const taken = (await settled(cardea)) - before;
  await assertHeld(cardea, FIRST + entries);
  const bodies = size * entries;
  return {
    entries,
    bytesOfBodies: bodies,
    bytesTaken: taken,
    ratio: rounded(taken / bodies),
    bytesPer1000: Math.round((taken / entries) * 1_000),
  };
}

/** Over one connection: of several each would walk the list from its beginning, and all would ask for the same. */
async function fetchAll(urls: readonly string[], scratch: Scratch): Promise<void> {
  for (let at = 0; at < urls.length; at += AT_ONCE) {
    const url = urls.slice(at, at + AT_ONCE);
    await run({ url, protocol: 'http/1.1', connections: 1, requests: url.length }, scratch);
  }
}

/** As many are held as were asked for, or the figures are of something else. */
async function assertHeld({ ops }: Cardea, entries: number): Promise<void> {
  const metrics = await (await fetch(`${ops}/metrics`)).text();
  const held = /^cardea_cache_entries\{kind="public"\} (\d+)$/m.exec(metrics)?.[1];
  if (Number(held) !== entries) throw new Error(`${held} entries are held, ${entries} were fetched`);
}

async function settled({ pid }: Cardea): Promise<number> {
  await pause(SETTLE_MS);
  return pssBytes(pid);
}
