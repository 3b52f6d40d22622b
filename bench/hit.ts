/**
 * `npm run bench`: what a hit costs beside the floor, bare node:http and node:http2 on the same Node that answer the same bytes under as
 * many fields. CPU is the server's, the whole process, by the kernel's accounting; ratios are made round by round.
 *
 *   npm run bench -- [--node 24,26] [--rounds 7] [--requests 20000] [--only 304] [--record]
 */
import { build, cardUrl, REACH, startCardea } from './support/cardea.ts';
import { cardOf } from './support/card.ts';
import { startFloor } from './support/floors.ts';
import type { Load } from './support/load.ts';
import { type NodeName, nodeVersion } from './support/nodes.ts';
import { type Options, readOptions } from './support/options.ts';
import { answers, startOrigin } from './support/origin.ts';
import { isThere } from './support/machine.ts';
import { fieldOf, probe } from './support/probe.ts';
import { answer } from './support/results.ts';
import { type Contestant, type Standing, compete } from './support/rounds.ts';
import { type Scratch, withScratch } from './support/scratch.ts';

type Manner = Pick<Load, 'protocol' | 'connections'> & { readonly conditional: boolean };

const CASES: Readonly<Record<string, Manner>> = {
  'http/1.1, 1 connection': { protocol: 'http/1.1', connections: 1, conditional: false },
  'http/1.1, 16 connections': { protocol: 'http/1.1', connections: 16, conditional: false },
  'http/1.1, 64 connections': { protocol: 'http/1.1', connections: 64, conditional: false },
  '304, 16 connections': { protocol: 'http/1.1', connections: 16, conditional: true },
  'h2c, 16 connections': { protocol: 'h2c', connections: 16, conditional: false },
};
/** Enough for V8 to have compiled what a hit runs. */
const WARM = { rounds: 1, requests: 20_000 };

const options = readOptions(process.argv.slice(2), { rounds: 7, requests: 20_000, nodes: ['24'] });
if (!isThere('h2load', 'nghttp2-client')) process.exit(1);
build();
const figures: Record<string, Readonly<Record<string, unknown>>> = {};
for (const node of options.nodes)
  figures[`node ${node}`] = await withScratch((scratch) => hits(node, options, scratch));
const versions = Object.fromEntries(options.nodes.map((node) => [`node ${node}`, nodeVersion(node)]));
answer('hit', { figures, versions }, options);

async function hits(node: NodeName, { length, only }: Options, scratch: Scratch): Promise<Record<string, unknown>> {
  const pair = await startPair(node, scratch);
  const results: Record<string, Readonly<Record<string, Standing>>> = {};
  for (const [name, manner] of Object.entries(CASES).filter(([each]) => each.includes(only))) {
    const contestants = pair(manner);
    await compete(contestants, WARM, scratch);
    results[name] = await compete(contestants, length, scratch);
    console.error(`node ${node}, ${name}: ${JSON.stringify(results[name]['cardea'])}`);
  }
  return results;
}

/** Starts Cardea with one agent and both floors; what each is loaded with in a case. */
async function startPair(node: NodeName, scratch: Scratch): Promise<(manner: Manner) => readonly Contestant[]> {
  const card = JSON.stringify(cardOf('Bench', 'http://127.0.0.1/rpc', 3_072));
  const origin = await startOrigin(answers(card), scratch);
  const config = `state: memory\nagents: { bench: { origin: "${origin.url}", ${REACH} } }`;
  const cardea = await startCardea(config, node, scratch);
  const url = cardUrl(cardea, 'bench');
  const http1 = await startFloor('floor-http1.mjs', { url }, node, scratch);
  const h2c = await startFloor('floor-h2c.mjs', { url }, node, scratch);
  const etag = fieldOf(await probe(url), 'etag');
  return ({ conditional, ...manner }) => {
    const floor = manner.protocol === 'h2c' ? h2c : http1;
    const load = { ...manner, fields: conditional ? { 'If-None-Match': etag } : {} };
    return [
      { name: 'floor', pid: floor.pid, load: { ...load, url: floor.url } },
      { name: 'cardea', pid: cardea.pid, load: { ...load, url } },
    ];
  };
}
