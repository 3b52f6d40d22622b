/**
 * `npm run bench:scrape`: what one look at /metrics costs a daemon of 1,000 agents whose cards are all there.
 *
 *   npm run bench:scrape -- [--node 24,26] [--rounds 5] [--requests 10] [--record]
 */
import { REACH, startCardea } from './support/cardea.ts';
import { cardOf } from './support/card.ts';
import { median, rounded } from './support/figures.ts';
import { run } from './support/load.ts';
import type { NodeName } from './support/nodes.ts';
import type { Options } from './support/options.ts';
import { answers, startOrigin } from './support/origin.ts';
import { probe } from './support/probe.ts';
import { cpuSeconds } from './support/process-tree.ts';
import { answerByNode } from './support/question.ts';
import type { Scratch } from './support/scratch.ts';

const AGENTS = 1_000;

interface Scrape {
  readonly agents: number;
  readonly bytes: number;
  readonly series: number;
  /** Of the process, in milliseconds. */
  readonly cpuMs: number;
  /** Until the answer, in milliseconds: for so long nobody else is served. */
  readonly p50: number;
}

await answerByNode('scrape', { rounds: 5, requests: 10, nodes: ['24', '26'] }, { '': scrapes });

async function scrapes(node: NodeName, scratch: Scratch, { length }: Options): Promise<Scrape> {
  const origin = await startOrigin(answers(JSON.stringify(cardOf('Bench', 'http://127.0.0.1/rpc', 1_024))), scratch);
  const agents = Array.from({ length: AGENTS }, (_, at) => `  a-${at}: { card: "${origin.url}/${at}", ${REACH} }`);
  const cardea = await startCardea(`state: memory\nagents:\n${agents.join('\n')}`, node, scratch);
  while ((await probe(`${cardea.ops}/readyz`)).status !== 200); // until every card is there
  const url = `${cardea.ops}/metrics`;
  const turns: { readonly cpu: number; readonly p50: number }[] = [];
  const { rounds, requests } = length;
  for (let round = 0; round <= rounds; round += 1) {
    const before = cpuSeconds(cardea.pid);
    const { p50 } = await run({ url, protocol: 'http/1.1', connections: 1, requests }, scratch);
    turns.push({ cpu: ((cpuSeconds(cardea.pid) - before) / requests) * 1_000, p50: p50 / 1_000 });
  }
  const body = (await probe(url)).body.toString();
  const counted = turns.slice(1); // the first one warms up
  return {
    agents: AGENTS,
    bytes: body.length,
    series: body.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
    cpuMs: rounded(median(counted.map((turn) => turn.cpu)), 1),
    p50: rounded(median(counted.map((turn) => turn.p50)), 1),
  };
}
