/**
 * `npm run bench:storm`: a thousand clients ask at once for a card that nobody has asked for yet. How often the origin is asked, and when the clients have it.
 *
 *   npm run bench:storm -- [--node 24,26] [--rounds 3] [--requests 1000] [--record]
 */
import { cardUrl, REACH, startCardea } from './support/cardea.ts';
import { cardOf } from './support/card.ts';
import { median, rounded } from './support/figures.ts';
import { run } from './support/load.ts';
import type { NodeName } from './support/nodes.ts';
import type { Options } from './support/options.ts';
import { answers, startOrigin } from './support/origin.ts';
import { cpuSeconds } from './support/process-tree.ts';
import { answerByNode } from './support/question.ts';
import type { Scratch } from './support/scratch.ts';

/** How long the origin takes: long enough that everybody has asked. */
const ORIGIN_MS = 500;

interface Storm {
  readonly clients: number;
  /** The most in any round. */
  readonly originAsked: number;
  /** From a client's request to its answer, in milliseconds; the origin's own time is in it. */
  readonly p50: number;
  readonly p99: number;
  readonly cpuMs: number;
}

await answerByNode('storm', { rounds: 3, requests: 1_000, nodes: ['24', '26'] }, { '': storms });

async function storms(node: NodeName, scratch: Scratch, { length }: Options): Promise<Storm> {
  const { rounds, requests } = length;
  const card = answers(JSON.stringify(cardOf('Bench', 'http://127.0.0.1/rpc', 3_072)));
  const origin = await startOrigin((request, response) => void setTimeout(card, ORIGIN_MS, request, response), scratch);
  const agents = Array.from({ length: rounds }, (_, at) => `  a-${at}: { card: "${origin.url}/${at}", ${REACH} }`);
  const cardea = await startCardea(
    `state: memory\ncache: { prefetch: false }\nagents:\n${agents.join('\n')}`,
    node,
    scratch,
  );
  const turns: Omit<Storm, 'clients'>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [asked, cpu] = [origin.asked(), cpuSeconds(cardea.pid)];
    const load = { url: cardUrl(cardea, `a-${round}`), protocol: 'http/1.1', connections: requests, requests } as const;
    const { p50, p99 } = await run(load, scratch);
    const cpuMs = (cpuSeconds(cardea.pid) - cpu) * 1_000;
    turns.push({ originAsked: origin.asked() - asked, p50: p50 / 1_000, p99: p99 / 1_000, cpuMs });
  }
  const middle = (member: 'p50' | 'p99' | 'cpuMs'): number => rounded(median(turns.map((turn) => turn[member])), 0);
  const originAsked = Math.max(...turns.map((turn) => turn.originAsked));
  return { clients: requests, originAsked, p50: middle('p50'), p99: middle('p99'), cpuMs: middle('cpuMs') };
}
