/**
 * `npm run bench:peers`: a hit and a 304 beside Debian's caches and undici's, everybody in turn in one run, and the same over h2c.
 * Each peer stands before the same origin with the same card; that the loads do not reach the origin is checked.
 *
 *   npm run bench:peers -- [--node 24,26] [--rounds 5] [--requests 20000] [--only 304] [--record]
 */
import assert from 'node:assert/strict';
import { build } from './support/cardea.ts';
import {
  type Entrant,
  type Manner,
  enterCardea,
  enterPeer,
  enterUndici,
  startCardOrigin,
} from './support/contestants.ts';
import { isThere } from './support/machine.ts';
import { versionsOf } from './support/nodes.ts';
import { type Options, readOptions } from './support/options.ts';
import type { Origin } from './support/origin.ts';
import { answer } from './support/results.ts';
import { type Standing, compete } from './support/rounds.ts';
import { type Scratch, withScratch } from './support/scratch.ts';

const CASES: Readonly<Record<string, Manner>> = {
  'HTTP/1.1, 16 connections': { protocol: 'http/1.1', connections: 16, conditional: false },
  '304, HTTP/1.1, 16 connections': { protocol: 'http/1.1', connections: 16, conditional: true },
  'h2c, 16 connections': { protocol: 'h2c', connections: 16, conditional: false },
};
const PEERS = ['nginx', 'nginx h2c', 'HAProxy', 'Varnish', 'Traffic Server', 'Squid'] as const;
/** Enough for V8 to have compiled what a hit runs. */
const WARM = { rounds: 1, requests: 20_000 };

/** A cache that looks at its origin once in a while pays nothing for that beside so many hits. */
const MOST_ASKED = 10;

const options = readOptions(process.argv.slice(2), { rounds: 5, requests: 20_000, nodes: ['24', '26'] });
if (!isThere('h2load', 'nghttp2-client')) process.exit(1);
build();
const figures = await withScratch((scratch) => measure(options, scratch));
answer('peers', { figures, versions: versionsOf(options.nodes) }, options);

async function measure({ length, only }: Options, scratch: Scratch): Promise<Record<string, unknown>> {
  const origin = await startCardOrigin(scratch);
  const entrants = await enterAll(origin, scratch);
  const results: Record<string, Readonly<Record<string, Standing>>> = {};
  for (const [name, manner] of Object.entries(CASES).filter(([each]) => each.includes(only))) {
    const contestants = entrants.map((enter) => enter(manner)).filter((each) => each !== null);
    await compete(contestants, WARM, scratch);
    const before = origin.asked();
    results[name] = await compete(contestants, length, scratch);
    assert.ok(origin.asked() - before <= MOST_ASKED, `${name}: the origin was asked, so that not everything was a hit`);
  }
  return results;
}

async function enterAll(origin: Origin, scratch: Scratch): Promise<readonly Entrant[]> {
  const entrants: Entrant[] = [];
  for (const node of options.nodes) entrants.push(...(await enterCardea(node, origin, scratch)));
  for (const node of options.nodes) entrants.push(await enterUndici(node, origin, scratch));
  for (const name of PEERS) entrants.push(...(await enterPeer(name, origin, scratch)));
  return entrants;
}
