/**
 * `npm run conformance`: the public HTTP caching suite against the real daemon, on loopback. Every test's answer is compared with
 * the one on record in test/conformance/; any other answer fails, a better one too, so that the record is never behind.
 * The suite waits in real time, 25 tests at once, and a machine that is busy answers some of them late. So a run that differs is
 * printed and repeated, and what differs in every run is a change. `npm run conformance -- --record` writes the record.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SUITE = 'http-cache-tests@0.4.5';
/** Enough for two runs that a busy machine spoiled; each takes half a minute. */
const MOST_RUNS = 3;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RECORD = path.join(ROOT, 'test/conformance/result.json');
const CACHE = path.join(ROOT, '.cache/conformance');
const FOLDER = path.join(CACHE, 'node_modules/http-cache-tests');

interface SuiteTest {
  readonly id: string;
  readonly kind?: 'required' | 'optimal' | 'check';
  readonly browser_only?: boolean;
}

type Answers = Readonly<Record<string, 'yes' | 'no'>>;

/** What one run gave: each test's answer, and what the suite says of those that it did not pass. */
interface Run {
  readonly answers: Answers;
  readonly said: Readonly<Record<string, string>>;
}

installSuite();
const scratch = mkdtempSync(path.join(os.tmpdir(), 'cardea-conformance-'));
const children: ChildProcess[] = [];
try {
  const port = await freePort();
  startSuiteServer(port);
  const base = await startCardea(port);
  await answering(port);
  process.exitCode = process.argv.includes('--record')
    ? record((await runSuite(base)).answers)
    : await compareRuns(base);
} finally {
  for (const child of children) child.kill('SIGTERM');
  rmSync(scratch, { recursive: true, force: true });
}

/** The suite stays out of node_modules: it brings a package manager of its own, which would stand first in every script's PATH. */
function installSuite(): void {
  if (existsSync(FOLDER)) return;
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(path.join(CACHE, 'package.json'), '{ "private": true }\n');
  const done = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', CACHE, SUITE], {
    stdio: 'inherit',
  });
  if (done.status !== 0) throw new Error(`${SUITE} could not be installed`);
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

/** The suite's server listens everywhere; a preload keeps it on loopback. */
function startSuiteServer(port: number): void {
  const preload = path.join(scratch, 'loopback.mjs');
  writeFileSync(
    preload,
    `import net from 'node:net';
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (port) { return listen.call(this, Number(port), '127.0.0.1'); };
`,
  );
  const env = {
    ...process.env,
    npm_config_protocol: 'http',
    npm_config_port: String(port),
    npm_config_pidfile: path.join(scratch, 'pid'),
  };
  const args = ['--no-warnings', '--import', pathToFileURL(preload).href, 'server/server.mjs'];
  children.push(spawn(process.execPath, args, { cwd: FOLDER, env, stdio: 'ignore' }));
}

async function answering(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const socket = net.connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await pause(100);
  }
  throw new Error('the suite server does not answer');
}

/** The daemon as a user starts it: one origin of any content on a port of its own, no default lifetime. */
async function startCardea(origin: number): Promise<string> {
  const config = path.join(scratch, 'cardea.yaml');
  const match = `http://127.0.0.1:${origin}`;
  writeFileSync(
    config,
    `listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
origins:
  - { match: "${match}", content: any, listen: "127.0.0.1:0", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }
cache: { defaultTtl: 0s }
log: { level: error }
`,
  );
  const daemon = spawn(path.join(ROOT, 'bin/cardea'), ['serve', '--config', config], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(daemon);
  for await (const line of createInterface({ input: daemon.stdout })) {
    if (!line.includes('"msg":"started"')) continue;
    daemon.stdout.resume();
    return `http://${(JSON.parse(line) as { listeners: Record<string, string> }).listeners[`origin:${match}`]}`;
  }
  throw new Error('cardea did not start');
}

async function runSuite(base: string): Promise<Run> {
  const env = { ...process.env, npm_config_base: base, npm_config_id: '', npm_package_config_id: '' };
  const cli = spawn(process.execPath, ['--no-warnings', 'cli.mjs'], {
    cwd: FOLDER,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(cli);
  let text = '';
  cli.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(cli, 'close');
  const raw = Object.entries(JSON.parse(text) as Record<string, unknown>).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return {
    answers: Object.fromEntries(raw.map(([id, answer]) => [id, answer === true ? 'yes' : 'no'] as const)),
    said: Object.fromEntries(raw.filter(([, answer]) => answer !== true).map(([id, why]) => [id, JSON.stringify(why)])),
  };
}

function record(answers: Answers): number {
  writeFileSync(
    RECORD,
    `${JSON.stringify({ suite: SUITE, command: 'npm run conformance -- --record', answers }, null, 2)}\n`,
  );
  return 0;
}

/** Runs the suite until one run is as on record; after the last, what differed in every run is what changed. */
async function compareRuns(base: string): Promise<number> {
  let changed: ReadonlySet<string> | undefined;
  for (let run = 1; run <= MOST_RUNS; run += 1) {
    const problems = await compare(await runSuite(base));
    const earlier = changed;
    changed = new Set([...problems].filter((problem) => earlier?.has(problem) ?? true));
    if (changed.size === 0) return 0;
    console.log(`run ${run} of ${MOST_RUNS} differs from the record:`);
    for (const problem of changed) console.log(`  ${problem}`);
  }
  return 1;
}

/** Prints the score of one run, and returns what it has against the record. */
async function compare({ answers, said }: Run): Promise<ReadonlySet<string>> {
  const { answers: before } = JSON.parse(readFileSync(RECORD, 'utf8')) as { answers: Answers };
  const { EXCEPTIONS } = (await import('../test/conformance/exceptions.ts')) as {
    EXCEPTIONS: Readonly<Record<string, string>>;
  };
  const problems = new Set<string>();
  const passed = { required: 0, optimal: 0, check: 0 };
  const total = { required: 0, optimal: 0, check: 0 };
  for (const [id, kind] of await testKinds()) {
    const answer = answers[id] ?? 'no';
    total[kind] += 1;
    if (answer === 'yes') passed[kind] += 1;
    if (answer !== before[id]) {
      problems.add(`${kind} ${id}: ${before[id] ?? 'not on record'} before, ${answer} now`);
      console.log(`${kind} ${id}: ${said[id] ?? 'passed'}`);
    }
    if (kind !== 'check' && answer === 'no' && EXCEPTIONS[id] === undefined)
      problems.add(`${kind} ${id}: not passed, and no reason is listed`);
    if (answer === 'yes' && EXCEPTIONS[id] !== undefined)
      problems.add(`${kind} ${id}: passes now; take it off the exceptions`);
  }
  console.log(
    `required ${passed.required}/${total.required}, optimal ${passed.optimal}/${total.optimal}, check ${passed.check}/${total.check}`,
  );
  return problems;
}

/** Each test that a command line can run, with its kind. */
async function testKinds(): Promise<ReadonlyMap<string, 'required' | 'optimal' | 'check'>> {
  const suites = (await import(pathToFileURL(path.join(FOLDER, 'tests/index.mjs')).href)) as {
    default: readonly { tests: readonly SuiteTest[] }[];
  };
  const tests = suites.default.flatMap((suite) => suite.tests).filter((test) => test.browser_only !== true);
  return new Map(tests.map((test) => [test.id, test.kind ?? 'required']));
}
