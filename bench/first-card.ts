/**
 * `npm run bench:first-card`: from the start of the process until it serves its first verified card: cold, fetched from its origin, and warm, from
 * the state folder with the origin down. One agent whose card is signed; CPU is the process's own.
 *
 *   npm run bench:first-card -- [--node 24,26] [--rounds 5] [--record]
 */
import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { build, cardUrl, startCardea } from './support/cardea.ts';
import { median } from './support/figures.ts';
import { type NodeName, versionsOf } from './support/nodes.ts';
import { readOptions } from './support/options.ts';
import { fieldOf, probe } from './support/probe.ts';
import { cpuSeconds } from './support/process-tree.ts';
import { answer } from './support/results.ts';
import { type Scratch, withScratch } from './support/scratch.ts';
import { startSignedAgents } from './support/signed-agents.ts';

interface First {
  /** Medians, in milliseconds. */
  readonly untilStartLine: number;
  readonly untilCard: number;
  readonly cpu: number;
}

const options = readOptions(process.argv.slice(2), { rounds: 5, requests: 1, nodes: ['24', '26'] });
build();
const figures: Record<string, First> = {};
for (const node of options.nodes) await withScratch((scratch) => measure(node, scratch));
answer('first-card', { figures, versions: versionsOf(options.nodes) }, options);

async function measure(node: NodeName, scratch: Scratch): Promise<void> {
  const manner = { cacheControl: 'max-age=3600', validators: true, bytes: 3_072 };
  const agents = await startSignedAgents(1, manner, scratch);
  const rounds = Array.from({ length: options.length.rounds }, (_, round) => scratch.file(`state-${round}`));
  const cold: First[] = [];
  for (const folder of rounds) cold.push(await first(folder));
  await agents.origin.end();
  const warm: First[] = [];
  for (const folder of rounds) warm.push(await first(folder));
  figures[`cold, Node ${node}`] = middle(cold);
  figures[`warm, Node ${node}`] = middle(warm);

  async function first(folder: string): Promise<First> {
    const began = performance.now();
    const cardea = await startCardea(`state: ${folder}\n${agents.config}`, node, scratch);
    const untilStartLine = performance.now() - began;
    let card = await probe(cardUrl(cardea, 'a-0'));
    while (card.status !== 200) {
      await pause(5);
      card = await probe(cardUrl(cardea, 'a-0'));
    }
    const untilCard = performance.now() - began;
    assert.match(fieldOf(card, 'card-status'), /^verified/);
    const cpu = cpuSeconds(cardea.pid) * 1_000;
    await cardea.end();
    return { untilStartLine, untilCard, cpu };
  }
}

function middle(firsts: readonly First[]): First {
  const of = (member: keyof First): number => Math.round(median(firsts.map((each) => each[member])));
  return { untilStartLine: of('untilStartLine'), untilCard: of('untilCard'), cpu: of('cpu') };
}
