/**
 * `npm run bench`: what a hit costs beside the floor, bare node:http and node:http2 on the same Node that answer the same bytes under as
 * many fields. CPU is the server's, the whole process, by the kernel's accounting; ratios are made round by round.
 *
 *   npm run bench -- [--node 24,26] [--rounds 7] [--requests 20000] [--only 304] [--record]
 */
import { build } from './support/cardea.ts';
import { type Manner, enterCardea, enterExtended, startCardOrigin } from './support/contestants.ts';
import { isThere } from './support/machine.ts';
import { type NodeName, versionsOf } from './support/nodes.ts';
import { type Options, readOptions } from './support/options.ts';
import { answer } from './support/results.ts';
import { type Contestant, type Standing, compete } from './support/rounds.ts';
import { type Scratch, withScratch } from './support/scratch.ts';

const CASES: Readonly<Record<string, Manner>> = {
  'HTTP/1.1, 1 connection': { protocol: 'http/1.1', connections: 1, conditional: false },
  'HTTP/1.1, 16 connections': { protocol: 'http/1.1', connections: 16, conditional: false },
  'HTTP/1.1, 64 connections': { protocol: 'http/1.1', connections: 64, conditional: false },
  'HTTP/1.1, 16 connections, read each time': {
    protocol: 'http/1.1',
    connections: 16,
    conditional: false,
    fields: { 'X-Unknown': '1' },
  },
  'HTTP/1.1, 16 connections, traced': {
    protocol: 'http/1.1',
    connections: 16,
    conditional: false,
    fields: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  },
  '304, HTTP/1.1, 16 connections': { protocol: 'http/1.1', connections: 16, conditional: true },
  'h2c, 16 connections': { protocol: 'h2c', connections: 16, conditional: false },
  'h2c, 16 connections, after HTTP/1.1': { protocol: 'h2c', connections: 16, conditional: false, afterOther: true },
};
/** Enough for V8 to have compiled what a hit runs. */
const WARM = { rounds: 1, requests: 20_000 };
const EXTENDED = 'extended card by a JWT, HTTP/1.1, 16 connections';

const options = readOptions(process.argv.slice(2), { rounds: 7, requests: 20_000, nodes: ['24', '26'] });
if (!isThere('h2load', 'nghttp2-client')) process.exit(1);
build();
const figures: Record<string, Readonly<Record<string, Standing>>> = {};
for (const node of options.nodes) await withScratch((scratch) => measure(node, options, scratch));
answer('hit', { figures, versions: versionsOf(options.nodes) }, options);

async function measure(node: NodeName, { length, only }: Options, scratch: Scratch): Promise<void> {
  const entrants = await enterCardea(node, await startCardOrigin(scratch), scratch);
  const cases = Object.entries(CASES).map(([name, manner]): [string, readonly Contestant[]] => [
    name,
    entrants.map((enter) => enter(manner)).filter((each) => each !== null),
  ]);
  cases.push([EXTENDED, await enterExtended(node, scratch)]);
  for (const [name, contestants] of cases.filter(([each]) => each.includes(only))) {
    await compete(contestants, WARM, scratch);
    const standings = await compete(contestants, length, scratch);
    figures[name] = { ...figures[name], ...standings };
    console.error(`${name}: ${JSON.stringify(standings[`Cardea, Node ${node}`])}`);
  }
}
