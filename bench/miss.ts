/**
 * `npm run bench:miss`: what a miss and a revalidation add to a fetch from the origin itself, one client, one request at a time. The cards are 3 KB and
 * signed with ES256, and the signature is required: the time until the verdict is in it. Direct and through Cardea in turn, in chunks.
 *
 *   npm run bench:miss -- [--node 24,26] [--rounds 8] [--requests 50] [--record]
 */
import assert from 'node:assert/strict';
import { type Cardea, cardUrl, rested, startCardea } from './support/cardea.ts';
import { median, rounded } from './support/figures.ts';
import { run } from './support/load.ts';
import type { NodeName } from './support/nodes.ts';
import type { Options } from './support/options.ts';
import { fieldOf, probe } from './support/probe.ts';
import { answerByNode } from './support/question.ts';
import type { Scratch } from './support/scratch.ts';
import { startSignedAgents } from './support/signed-agents.ts';

/** Chunks before those that count: V8 has compiled what a miss runs after some fifteen hundred of them. */
const WARM = 32;

interface Added {
  /** Medians, in milliseconds. */
  readonly direct: number;
  readonly through: number;
  readonly added: number;
  /** The same of the first chunk after the start. */
  readonly atFirst: number;
}

await answerByNode(
  'miss',
  { rounds: 8, requests: 50, nodes: ['24', '26'] },
  { miss: misses, revalidation: revalidations },
);

/** Every card is asked for once. */
async function misses(node: NodeName, scratch: Scratch, { length }: Options): Promise<Added> {
  const { rounds, requests } = length;
  const count = (WARM + rounds) * requests + 1;
  const { cardea, direct, names } = await prepare({ node, count, cacheControl: 'max-age=3600' }, scratch);
  const chunk = (round: number): readonly string[] => names.slice(round * requests, (round + 1) * requests);
  const last = await probe(cardUrl(cardea, names.at(-1) ?? ''));
  assert.match(fieldOf(last, 'cache-status'), /fwd=uri-miss; fwd-status=200; stored/);
  assert.match(fieldOf(last, 'card-status'), /^verified/);
  const urls = (round: number): Urls => [chunk(round).map(direct), chunk(round).map((name) => cardUrl(cardea, name))];
  return compare(rounds, { urls, fields: {} }, scratch);
}

/** One card that must be validated each time; the client has none, the origin is asked whether Cardea's is still right. */
async function revalidations(node: NodeName, scratch: Scratch, { length }: Options): Promise<Added> {
  const { cardea, direct, names } = await prepare({ node, count: 1, cacheControl: 'no-cache' }, scratch);
  const name = names[0] ?? '';
  await probe(cardUrl(cardea, name));
  const again = await probe(cardUrl(cardea, name));
  assert.match(fieldOf(again, 'cache-status'), /fwd=stale; fwd-status=304/);
  const times = (url: string): readonly string[] => Array.from({ length: length.requests }, () => url);
  const fields = { 'If-None-Match': fieldOf(again, 'etag') };
  const urls = (): Urls => [times(direct(name)), times(cardUrl(cardea, name))];
  return compare(length.rounds, { urls, fields }, scratch);
}

interface Prepared {
  readonly cardea: Cardea;
  readonly names: readonly string[];
  readonly direct: (name: string) => string;
}

async function prepare(
  { node, count, cacheControl }: { readonly node: NodeName; readonly count: number; readonly cacheControl: string },
  scratch: Scratch,
): Promise<Prepared> {
  const agents = await startSignedAgents(count, { cacheControl, validators: true, bytes: 3_072 }, scratch);
  const config = `state: memory\ncache: { prefetch: false }\n${agents.config}`;
  const cardea = await startCardea(config, node, scratch);
  await rested();
  return { cardea, names: agents.names, direct: (name) => `${agents.origin.url}/${name}` };
}

type Urls = readonly [direct: readonly string[], through: readonly string[]];

interface Asked {
  readonly urls: (round: number) => Urls;
  readonly fields: Readonly<Record<string, string>>;
}

async function compare(counting: number, { urls, fields }: Asked, scratch: Scratch): Promise<Added> {
  const rounds: { readonly direct: number; readonly through: number }[] = [];
  for (let round = 0; round < WARM + counting; round += 1) {
    const [direct, through] = urls(round);
    const one = await timeOf(direct, fields, scratch);
    rounds.push({ direct: one, through: await timeOf(through, fields, scratch) });
  }
  const [first] = rounds;
  const counted = rounds.slice(WARM);
  return {
    direct: rounded(median(counted.map((each) => each.direct)), 3),
    through: rounded(median(counted.map((each) => each.through)), 3),
    added: rounded(median(counted.map((each) => each.through - each.direct)), 3),
    atFirst: rounded((first?.through ?? Number.NaN) - (first?.direct ?? 0), 3),
  };
}

async function timeOf(
  urls: readonly string[],
  fields: Readonly<Record<string, string>>,
  scratch: Scratch,
): Promise<number> {
  const load = { protocol: 'http/1.1', connections: 1, requests: urls.length, fields } as const;
  return (await run({ ...load, url: urls }, scratch)).p50 / 1_000;
}
