import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type OriginServer, startOrigin } from '../support/origin-server.ts';
import { answers, ask, CARD, CARD_PATH, OTHER_CARD } from '../support/world.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/cardea', import.meta.url));

interface Running {
  readonly daemon: ChildProcess;
  readonly started: { readonly agents: readonly string[]; readonly ops: readonly string[] };
  /** Resolves with the next log line of this message. */
  logged(msg: string): Promise<Record<string, unknown>>;
}

/** The real program, started by its launcher, with real signals. */
describe('bin/cardea, told to read its configuration again', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-reload-'));
  const file = path.join(folder, 'c.yaml');
  let [here, there]: OriginServer[] = [];
  const running = new Set<ChildProcess>();
  before(async () => {
    here = await startOrigin(answers(CARD, { 'Cache-Control': 'max-age=600' }));
    there = await startOrigin(answers(OTHER_CARD, { 'Cache-Control': 'no-cache' }));
  });
  // What a test that failed has left running holds the state folder.
  afterEach(async () => {
    for (const daemon of running) {
      daemon.kill('SIGKILL');
      if (daemon.exitCode === null && daemon.signalCode === null) await once(daemon, 'exit');
    }
    running.clear();
  });
  after(async () => {
    await here?.close();
    await there?.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const agentAt = (origin: OriginServer | undefined): string =>
    `{ origin: "${origin?.url}", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }`;
  const write = (agents: Readonly<Record<string, OriginServer | undefined>>, more = ''): void =>
    fs.writeFileSync(
      file,
      `listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: ${folder}/state
agents:
${Object.entries(agents)
  .map(([name, origin]) => `  ${name}: ${agentAt(origin)}\n`)
  .join('')}${more}`,
    );

  const start = async (): Promise<Running> => {
    const daemon = spawn(LAUNCHER, ['serve', '--config', file], { stdio: ['ignore', 'pipe', 'inherit'] });
    running.add(daemon);
    const lines = createInterface({ input: daemon.stdout });
    const seen: Record<string, unknown>[] = [];
    lines.on('line', (line) => {
      seen.push(JSON.parse(line) as Record<string, unknown>);
      daemon.emit('logged');
    });
    const ended = once(daemon, 'exit').then(([code]) => Promise.reject(new Error(`the daemon ended with ${code}`)));
    ended.catch(() => undefined);
    const logged = async (msg: string): Promise<Record<string, unknown>> => {
      for (;;) {
        const at = seen.findIndex((line) => line['msg'] === msg);
        const [found] = at === -1 ? [] : seen.splice(at, 1);
        if (found !== undefined) return found;
        await Promise.race([once(daemon, 'logged'), ended]);
      }
    };
    return { daemon, started: (await logged('started')) as unknown as Running['started'], logged };
  };
  const stop = async ({ daemon }: Running): Promise<void> => {
    daemon.kill('SIGTERM');
    assert.deepEqual(await once(daemon, 'exit'), [0, null]);
    running.delete(daemon);
  };

  test('loses no request over kept connections and h2c streams, however often it is told', async () => {
    write({ weather: here, busy: there });
    const run = await start();
    const base = `http://${run.started.agents[0]}`;
    const busy = CARD_PATH.replace('weather', 'busy');
    const wrong: string[] = [];
    const load = { over: false, answered: 0 };
    const check = (status: number, body: string): void => {
      load.answered += 1;
      if (status !== 200 || (body !== CARD && body !== OTHER_CARD)) wrong.push(`${status} ${body.slice(0, 200)}`);
    };
    const overHttp1 = async (target: string): Promise<void> => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      while (!load.over) {
        const got = await ask(base + target, { agent });
        check(got.status, got.body);
      }
      agent.destroy();
    };
    const overHttp2 = async (target: string): Promise<void> => {
      const session = http2.connect(base);
      while (!load.over) check(...(await stream(session, target)));
      session.close();
    };
    const clients = [CARD_PATH, busy].flatMap((target) => [overHttp1(target), overHttp1(target), overHttp2(target)]);
    for (let round = 0; round < 12; round += 1) {
      // Each of these makes one agent another one: its origin, its rules, or all of them by one more that may be named.
      const origins = round % 2 === 0 ? { weather: here, busy: there } : { weather: here, busy: here };
      const other = round % 3 === 0 ? { other: there } : {};
      const enough = load.answered + 20;
      write({ ...origins, ...other }, `limits: { redirects: ${1 + (round % 4)} }\n`);
      run.daemon.kill('SIGHUP');
      await run.logged('configuration adopted');
      while (load.answered < enough) await new Promise((resolve) => setImmediate(resolve));
    }
    load.over = true;
    await Promise.all(clients);
    assert.deepEqual(wrong, []);
    const metrics = await ask(`http://${run.started.ops[0]}/metrics`, {});
    assert.match(metrics.body, /^cardea_config_last_reload_successful 1$/m);
    await stop(run);
  });

  test('tells who orders it by command, and what is wrong', async () => {
    write({ weather: here });
    const run = await start();
    const command = (): Promise<{ readonly code: unknown; readonly out: string }> =>
      commandOf(['reload', '--config', file, '--reason', 'a drill']);
    write({ weather: here }, 'limits: { redirects: 2 }\n');
    const done = await command();
    assert.match(done.out, /^adopted sha256:/);
    write({ weather: here }, 'limts: {}\n');
    const refused = await commandOf(['reload', '--state', path.join(folder, 'state')]);
    assert.equal(refused.code, 1);
    assert.match(refused.out, /c\.yaml:\d+:1 limts: .*limits/);
    assert.equal((await ask(`http://${run.started.agents[0]}${CARD_PATH}`, {})).status, 200);
    await stop(run);
  });

  test('obeys a SIGHUP that comes while it is starting', async () => {
    write({ weather: here });
    fs.rmSync(path.join(folder, 'state'), { recursive: true, force: true });
    const daemon = spawn(LAUNCHER, ['serve', '--config', file], { stdio: ['ignore', 'pipe', 'inherit'] });
    running.add(daemon);
    const lines = createInterface({ input: daemon.stdout });
    // Once the state folder is there the program has begun, and its listeners are still to come.
    while (!fs.existsSync(path.join(folder, 'state'))) await new Promise((resolve) => setImmediate(resolve));
    daemon.kill('SIGHUP');
    const msgs: unknown[] = [];
    for await (const line of lines) {
      msgs.push((JSON.parse(line) as Record<string, unknown>)['msg']);
      if (msgs.at(-1) === 'configuration read again, nothing in it has changed') break;
    }
    assert.ok(msgs.includes('started'));
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
    running.delete(daemon);
  });
});

async function commandOf(args: readonly string[]): Promise<{ readonly code: unknown; readonly out: string }> {
  const command = spawn(LAUNCHER, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  command.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  command.stderr.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const [code] = await once(command, 'close');
  return { code, out };
}

function stream(session: http2.ClientHttp2Session, target: string): Promise<[status: number, body: string]> {
  return new Promise((resolve, reject) => {
    const request = session.request({ ':path': target });
    let status = 0;
    let body = '';
    request.on('response', (headers) => (status = Number(headers[':status'])));
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('error', reject);
    request.on('end', () => resolve([status, body]));
  });
}
