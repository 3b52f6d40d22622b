/**
 * `npm run bench:loop`: how late the event loop is while 1,000 signed cards are refreshed, each a whole new fetch and a verification, and somebody asks on.
 *
 *   npm run bench:loop -- [--node 24,26] [--rounds 3] [--record]
 */
import { setTimeout as pause } from 'node:timers/promises';
import { cardUrl, startCardea } from './support/cardea.ts';
import { median, rounded } from './support/figures.ts';
import { run } from './support/load.ts';
import type { NodeName } from './support/nodes.ts';
import type { Options } from './support/options.ts';
import { probe } from './support/probe.ts';
import { answerByNode } from './support/question.ts';
import type { Scratch } from './support/scratch.ts';
import { startSignedAgents } from './support/signed-agents.ts';

/** Cards are fresh for so long: when it is over, all of them are refreshed at the next request for each. */
const FRESH_SECONDS = 1;

/** In milliseconds. */
interface Turn {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

interface Lateness extends Turn {
  readonly cards: number;
}

await answerByNode('loop', { rounds: 3, requests: 1_000, nodes: ['24', '26'] }, { '': refreshes });

async function refreshes(node: NodeName, scratch: Scratch, { length }: Options): Promise<Lateness> {
  const { rounds, requests } = length;
  const manner = { cacheControl: `max-age=${FRESH_SECONDS}`, validators: false, bytes: 3_072 };
  const agents = await startSignedAgents(requests, manner, scratch);
  const cardea = await startCardea(`state: memory\n${agents.config}`, node, scratch, { watchLoop: true });
  while ((await probe(`${cardea.ops}/readyz`)).status !== 200); // until every card is there
  const url = agents.names.map((name) => cardUrl(cardea, name));
  const turns: Turn[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    await pause(FRESH_SECONDS * 1_500);
    await cardea.ask('reset');
    await run({ url, protocol: 'http/1.1', connections: 8, requests }, scratch);
    await pause(1_000); // what is refreshed behind has ended
    turns.push((await cardea.ask('read')) as Turn);
  }
  const counted = turns.slice(1); // the first one warms up
  const middle = (member: 'p50' | 'p99' | 'max'): number => rounded(median(counted.map((turn) => turn[member])), 1);
  return { cards: requests, p50: middle('p50'), p99: middle('p99'), max: middle('max') };
}
