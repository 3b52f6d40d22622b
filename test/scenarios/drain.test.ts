import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import http2 from 'node:http2';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type OriginServer, startOrigin } from '../support/origin-server.ts';
import { CARD, CARD_PATH, answers } from '../support/world.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/cardea', import.meta.url));

/** The real program, started by its launcher, with real signals. */
describe('bin/cardea under load and signals', () => {
  let folder: string;
  let origin: OriginServer;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cardea-drain-'));
    origin = await startOrigin(answers(CARD, { 'Cache-Control': 'max-age=600' }));
    const listen = 'listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }';
    const agent = `{ origin: "${origin.url}", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }`;
    await writeFile(
      path.join(folder, 'c.yaml'),
      `${listen}\nstate: ${folder}/state\nagents:\n  weather: ${agent}\nlog: { level: error }\n`,
    );
  });
  after(async () => {
    await origin.close();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (): Promise<{ daemon: ChildProcess; base: string; ops: string; output: string[] }> => {
    const daemon = spawn(LAUNCHER, ['serve', '--config', path.join(folder, 'c.yaml')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const output: string[] = [];
    const lines = createInterface({ input: daemon.stdout });
    lines.on('line', (line) => void output.push(line));
    const [first] = await once(lines, 'line');
    const started = JSON.parse(String(first));
    assert.equal(started.msg, 'started');
    assert.equal(started.pid, daemon.pid);
    return { daemon, base: `http://${started.agents[0]}`, ops: `http://${started.ops[0]}`, output };
  };

  test('SIGTERM loses no request that was accepted, and ends with 0', async () => {
    const { daemon, base } = await start();
    const ended = once(daemon, 'exit');
    let answered = 0;
    const lost: string[] = [];
    const client = async (): Promise<void> => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      for (;;) {
        const outcome = await fetchCard(base, agent);
        if (outcome === 'refused') return;
        if (outcome === 'whole') answered += 1;
        else lost.push(outcome);
        if (answered === 500) daemon.kill('SIGTERM');
      }
    };
    await Promise.all(Array.from({ length: 16 }, client));
    assert.deepEqual(lost, []);
    assert.ok(answered >= 500);
    assert.deepEqual(await ended, [0, null]);
  });

  test('streams that are open over h2c are finished', async () => {
    const { daemon, base } = await start();
    const ended = once(daemon, 'exit');
    const session = http2.connect(base);
    const all = Array.from({ length: 50 }, () => streamCard(session));
    await all[0];
    daemon.kill('SIGTERM');
    assert.ok((await Promise.all(all)).every((body) => body === CARD));
    session.close();
    assert.deepEqual(await ended, [0, null]);
  });

  test('SIGHUP ends nothing, and SIGUSR2 stops every card', async () => {
    const { daemon, base } = await start();
    const ended = once(daemon, 'exit');
    daemon.kill('SIGHUP');
    assert.equal(await fetchCard(base, new http.Agent()), 'whole');
    daemon.kill('SIGUSR2');
    while ((await statusOf(base + CARD_PATH)) !== 503);
    assert.equal(await statusOf(`${base}/agents`), 503);
    daemon.kill('SIGTERM');
    assert.deepEqual(await ended, [0, null]);
  });

  test('a second signal ends at once', async () => {
    const { daemon, base } = await start();
    const ended = once(daemon, 'exit');
    const waiting = http.get(base + CARD_PATH, { agent: new http.Agent({ keepAlive: true }) });
    waiting.on('error', () => undefined);
    daemon.kill('SIGINT');
    await new Promise((resolve) => setImmediate(resolve));
    daemon.kill('SIGINT');
    const [code] = await ended;
    assert.ok(code === 0 || code === 1);
  });

  test('a port that is taken is said, with the listener', async () => {
    const { daemon, base } = await start();
    const second = spawn(
      LAUNCHER,
      ['serve', '--config', path.join(folder, 'c.yaml'), '--listen-agents', new URL(base).host, '--state', 'memory'],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const [said] = await once(second.stderr, 'data');
    assert.match(String(said), /listener agents: cannot open .*the port is taken/);
    const [code] = await once(second, 'exit');
    assert.equal(code, 1);
    daemon.kill('SIGTERM');
    await once(daemon, 'exit');
  });
});

function fetchCard(base: string, agent: http.Agent): Promise<string> {
  return new Promise((resolve) => {
    const request = http.get(base + CARD_PATH, { agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', (error) => resolve(`broken: ${error.message}`));
      response.on('end', () => resolve(Buffer.concat(chunks).toString() === CARD ? 'whole' : 'half'));
    });
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' ? 'refused' : `lost: ${error.code}`),
    );
  });
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    http.get(url, { agent: false }, (got) => resolve(got.resume().statusCode)).on('error', reject);
  });
}

function streamCard(session: http2.ClientHttp2Session): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': CARD_PATH });
    let body = '';
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      body += chunk;
    });
    stream.on('error', reject);
    stream.on('end', () => resolve(body));
  });
}
