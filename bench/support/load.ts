import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { percentile } from './figures.ts';
import { LOAD_CPU, onCpu } from './machine.ts';
import type { Scratch } from './scratch.ts';

/** Loads on one URL by h2load: so many requests, so that every contestant does the same work however busy the machine is. */

/** What a load is made of. One request at a time on each connection. */
export interface Load {
  /** Where to; several are asked in turn. */
  readonly url: string | readonly string[];
  readonly protocol: 'http/1.1' | 'h2c';
  readonly connections: number;
  readonly requests: number;
  /** Further request fields. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** What came of it; times in microseconds. */
export interface Loaded {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Requests that got no answer or one that was neither 2xx nor 3xx. */
  readonly failed: number;
}

/** A load that takes longer is killed: a server that slow has failed. */
const LONGEST_MS = 120_000;

/** Runs a load to its end; throws where a request failed: a figure over failures says nothing. */
export async function run(load: Load, scratch: Scratch): Promise<Loaded> {
  // In a folder of its own: a daemon looks after the one that its configuration is in, and would hear of every line.
  const folder = scratch.file('load');
  fs.mkdirSync(folder, { recursive: true });
  const log = path.join(folder, 'h2load.log');
  fs.rmSync(log, { force: true }); // h2load adds to what is there
  const urls = scratch.write('urls.txt', [load.url].flat().join('\n'));
  const output = await finish('h2load', [...argumentsOf(load), `--log-file=${log}`, `--input-file=${urls}`]);
  const loaded = readH2load(output, fs.readFileSync(log, 'latin1'));
  if (loaded.failed > 0 || loaded.requests < load.requests) {
    const what = `${loaded.requests} of ${load.requests} were answered, ${loaded.failed} badly`;
    throw new Error(`${[load.url].flat()[0]}: ${what}: ${output.slice(0, 1_000)}`);
  }
  return loaded;
}

function argumentsOf({ protocol, connections, requests, fields = {} }: Load): readonly string[] {
  const size = ['-t1', '-m1', `-c${connections}`, `-n${requests}`];
  const more = Object.entries(fields).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  return [...(protocol === 'h2c' ? [] : ['--h1']), ...size, ...more];
}

/** Reads h2load's summary and its log: a line `start<TAB>status<TAB>microseconds` for each answer. */
export function readH2load(output: string, log: string): Loaded {
  const rows = log.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t').slice(1).map(Number)]));
  const times = rows.map(([, microseconds = Number.NaN]) => microseconds);
  const bad = rows.filter(([status = 0]) => status < 200 || status > 399).length;
  const rate = /finished in .*?, ([\d.]+) req\/s/.exec(output)?.[1];
  const unanswered = /(\d+) failed, (\d+) errored, (\d+) timeout/.exec(output)?.[1];
  if (rate === undefined || unanswered === undefined)
    throw new Error(`h2load reported nothing: ${output.slice(0, 500)}`);
  return {
    requests: rows.length,
    perSecond: Number(rate),
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    // What was answered badly is in both.
    failed: Math.max(bad, Number(unanswered)),
  };
}

async function finish(program: string, args: readonly string[]): Promise<string> {
  const [command, ...all] = onCpu(LOAD_CPU, [program, ...args]);
  const child = spawn(command, all, { stdio: ['ignore', 'pipe', 'pipe'], timeout: LONGEST_MS });
  const failed = new Promise<never>((_, reject) => void child.once('error', reject));
  const [output, errors] = await Promise.race([Promise.all([text(child.stdout), text(child.stderr)]), failed]);
  return output + errors;
}
