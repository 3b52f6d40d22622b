/**
 * `npm run bench:start`: how long a fresh process needs, with every origin down, until it serves the last accepted card of every agent.
 * Real processes on loopback. Time is counted from the start of the process and from the start line to the last card; CPU, the process's own
 * by the operating system's accounting, is the figure that survives a busy machine. `stale since` must be what it was.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { answer } from './support/results.ts';

const ROUNDS = 5;
const AGENTS = 50;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NAMES = Array.from({ length: AGENTS }, (_, at) => `agent-${at}`);

interface Running {
  readonly process: ChildProcess;
  readonly agents: string;
  readonly ops: string;
  /** Until the start line, in ms. */
  readonly started: number;
  readonly began: number;
}

const scratch = mkdtempSync(path.join(os.tmpdir(), 'cardea-bench-'));
const config = path.join(scratch, 'cardea.yaml');
const origin = http.createServer((request, response) => {
  const skills = [{ id: 'echo', name: 'Echo', description: 'x'.repeat(2_000), tags: ['t'] }];
  const body = JSON.stringify({ ...CARD, name: `Agent at ${request.url}`, skills });
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=1' }).end(body);
});
const CARD = {
  description: 'Echoes.',
  version: '1.0.0',
  supportedInterfaces: [{ url: 'http://127.0.0.1/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
};
try {
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  writeFileSync(config, configuration((origin.address() as AddressInfo).port));
  const first = await start();
  await allCards(first);
  await stop(first);
  origin.close();
  origin.closeAllConnections();
  await new Promise((resolve) => setTimeout(resolve, 1_100)); // now every card is stale
  const figures: { readonly started: number; readonly served: number; readonly cpu: number }[] = [];
  let since: readonly string[] | undefined;
  for (let round = 0; round < ROUNDS; round += 1) {
    const again = await start();
    const answers = await allCards(again);
    figures.push({ started: again.started, served: performance.now() - again.began, cpu: cpuMs(again) });
    assert.ok(
      answers.every((cacheStatus) => cacheStatus.includes('stale-if-error')),
      answers[0],
    );
    const seen = await staleSince(again);
    assert.equal(seen.length, AGENTS);
    assert.deepEqual(seen, since ?? seen);
    since = seen;
    await stop(again);
  }
  const restart = {
    agents: AGENTS,
    msUntilStartLine: median(figures.map(({ started }) => started)),
    msFromStartLineToLastCard: median(figures.map(({ started, served }) => served - started)),
    cpuMsUntilLastCard: median(figures.map(({ cpu }) => cpu)),
    staleSince: 'unchanged over all starts',
  };
  const result = { figures: { restart }, versions: { Node: process.version } };
  answer('start', result, { record: process.argv.includes('--record') });
} finally {
  origin.close();
  rmSync(scratch, { recursive: true, force: true });
}

function configuration(port: number): string {
  const reach = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
  const agents = NAMES.map((name) => `  ${name}: { card: "http://127.0.0.1:${port}/${name}", ${reach} }`);
  return `listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: ./state
cache: { staleWhileRevalidate: 0s }
log: { level: error }
agents:
${agents.join('\n')}
`;
}

async function start(): Promise<Running> {
  const began = performance.now();
  const child = spawn(path.join(ROOT, 'bin/cardea'), ['serve', '--config', config], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as { msg: string; agents: string[]; ops: string[] };
    if (said.msg !== 'started') continue;
    const [agents = '', ops = ''] = [...said.agents, ...said.ops];
    child.stdout.resume();
    return { process: child, agents, ops, started: performance.now() - began, began };
  }
  throw new Error('no start line');
}

async function stop({ process: child }: Running): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Asks for every card until it is there; the Cache-Status of each. */
function allCards(running: Running): Promise<readonly string[]> {
  return Promise.all(
    NAMES.map(async (name) => {
      const url = `http://${running.agents}/agents/${name}/.well-known/agent-card.json`;
      const response = await fetch(url);
      await response.arrayBuffer();
      assert.equal(response.status, 200, url);
      return response.headers.get('cache-status') ?? '';
    }),
  );
}

async function staleSince({ ops }: Running): Promise<readonly string[]> {
  const response = await fetch(`http://${ops}/metrics`);
  const lines = (await response.text()).split('\n');
  return lines.filter((line) => line.startsWith('cardea_card_stale_since_timestamp_seconds{') && !line.endsWith(' 0'));
}

/** User and system time of a process; the kernel counts in hundredths of a second. */
function cpuMs({ process: child }: Running): number {
  const [, after = ''] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ');
  const fields = after.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function median(values: readonly number[]): number {
  return Math.round(values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0);
}
