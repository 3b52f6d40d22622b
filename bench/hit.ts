/**
 * `npm run bench`: CPU per cache hit, as a ratio against the floor (bare node:http, same Node, same bytes), in interleaved rounds on
 * loopback. CPU is the server process's own, by the operating system's accounting: the figure that survives a noisy machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROUNDS = 5;
const REQUESTS = 20_000;
const CONNECTIONS = 16;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CARD_PATH = '/agents/bench/.well-known/agent-card.json';

interface Server {
  readonly process: ChildProcess;
  readonly url: string;
}

const scratch = mkdtempSync(path.join(os.tmpdir(), 'cardea-bench-'));
const body = card(3_072);
const origin = http.createServer((_request, response) => {
  response
    .writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'max-age=3600', ETag: '"bench"' })
    .end(body);
});
origin.listen(0, '127.0.0.1');
await once(origin, 'listening');
const floor = await startBare();
const cardea = await startCardea();
try {
  const etag = await warm(cardea.url);
  await warm(floor.url);
  const figures: { readonly floor: number; readonly hit: number; readonly notModified: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    figures.push({
      floor: await cpuPer100k(floor, {}),
      hit: await cpuPer100k(cardea, {}),
      notModified: await cpuPer100k(cardea, { 'If-None-Match': etag }),
    });
  }
  const result = {
    node: process.version,
    requests: REQUESTS,
    connections: CONNECTIONS,
    bytes: body.length,
    cpuSecondsPer100k: {
      floor: median(figures.map((each) => each.floor)),
      hit: median(figures.map((each) => each.hit)),
      notModified: median(figures.map((each) => each.notModified)),
    },
    ratioToFloor: {
      hit: median(figures.map((each) => each.hit / each.floor)),
      notModified: median(figures.map((each) => each.notModified / each.floor)),
    },
    idleMegabytes: { floor: memory(floor), cardea: memory(cardea) },
  };
  console.log(JSON.stringify(result, null, 2));
} finally {
  for (const server of [floor, cardea]) server.process.kill('SIGTERM');
  origin.close();
  origin.closeAllConnections();
  rmSync(scratch, { recursive: true, force: true });
}

async function startBare(): Promise<Server> {
  const child = spawn(process.execPath, [path.join(ROOT, 'bench/bare.mjs'), String(body.length)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { process: child, url: `http://127.0.0.1:${await firstLine(child)}/` };
}

async function startCardea(): Promise<Server> {
  const address = origin.address();
  if (address === null || typeof address === 'string') throw new Error('the origin has no port');
  const config = path.join(scratch, 'cardea.yaml');
  writeFileSync(
    config,
    `listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
agents:
  bench: { origin: "http://127.0.0.1:${address.port}", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }
`,
  );
  const child = spawn(path.join(ROOT, 'bin/cardea'), ['serve', '--config', config], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const started = JSON.parse(await firstLine(child, '"msg":"started"')) as { readonly agents: readonly [string] };
  return { process: child, url: `http://${started.agents[0]}${CARD_PATH}` };
}

async function firstLine(child: ChildProcess, having = ''): Promise<string> {
  if (child.stdout === null) throw new Error('no output');
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes(having)) continue;
    child.stdout.resume();
    return line;
  }
  throw new Error('the server ended before it had started');
}

async function warm(url: string): Promise<string> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let etag = '';
  for (let round = 0; round < 2_000; round += 1) etag = await get(url, agent, {});
  agent.destroy();
  return etag;
}

/** CPU seconds, user and system, that the server spends on 100,000 requests. */
async function cpuPer100k(server: Server, headers: http.OutgoingHttpHeaders): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const before = cpuTicks(server);
  let left = REQUESTS;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await get(server.url, agent, headers);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  agent.destroy();
  return ((cpuTicks(server) - before) / 100 / REQUESTS) * 100_000;
}

/** Fields 14 and 15 of /proc/PID/stat, in hundredths of a second. */
function cpuTicks({ process: { pid } }: Server): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** Proportional memory (PSS), in MB. */
function memory({ process: { pid } }: Server): number {
  const pss = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return Math.round(Number(pss) / 1024);
}

function get(url: string, agent: http.Agent, headers: http.OutgoingHttpHeaders): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.headers.etag ?? ''));
    });
    request.once('error', reject);
  });
}

function median(values: readonly number[]): number {
  const middle = values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
  return Number((middle ?? 0).toFixed(2));
}

/** A plain card of about so many bytes. */
function card(size: number): string {
  const skill = { id: 'a', name: 'Answer', description: 'x'.repeat(size - 420), tags: ['bench'] };
  return JSON.stringify({
    name: 'Bench',
    description: 'Answers.',
    version: '1.0.0',
    supportedInterfaces: [{ url: 'http://127.0.0.1/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [skill],
  });
}
