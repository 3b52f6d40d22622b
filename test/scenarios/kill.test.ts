import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { tag } from '../../src/kernel/ids.ts';
import { scenario } from '../support/scenario.ts';
import { CARD, CARD_PATH, World, type WorldOptions, answers, ask } from '../support/world.ts';

const MINUTE = { origin: answers(CARD, { 'Cache-Control': 'max-age=60' }) };

async function kill(world: World, scope: string): Promise<string> {
  const engaged = await world.daemon.killSwitch.engage({ scope: tag(scope), reason: 'drill', by: 'admin' });
  assert.ok(engaged.ok);
  return engaged.value.kill.id;
}
const lift = (world: World, id: string) => world.daemon.killSwitch.lift({ id, reason: 'drill over', by: 'admin' });
const folder = (): string => fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-kill-'));

describe('a kill of everything', () => {
  scenario('refuses every path of the agents listener but the pages that explain it', MINUTE, async (world) => {
    await world.card();
    await kill(world, 'all');
    for (const target of [CARD_PATH, '/agents', '/agents/stranger/x', '/agents/weather/message:send', '/', '/kill']) {
      const got = await world.get(target);
      assert.deepEqual([target, got.status, got.code], [target, 503, 'killed']);
      assert.equal(got.headers['retry-after'], '30');
    }
    const page = await world.get('/problems/killed');
    assert.equal(page.status, 200);
    assert.equal(world.origin.asked.length, 1);
  });

  scenario('says so to a JSON-RPC caller in its own form', MINUTE, async (world) => {
    await kill(world, 'all');
    const got = await world.post('/agents/weather', '{"jsonrpc":"2.0","id":7,"method":"message/send"}');
    const { id, error } = JSON.parse(got.body) as { id: number; error: { data: { reason: string }[] } };
    assert.deepEqual([got.status, id, error.data[0]?.reason], [503, 7, 'KILLED']);
  });

  scenario('shows in metrics, and readiness stays', MINUTE, async (world) => {
    await kill(world, 'all');
    await world.card();
    assert.match((await world.metric(/^cardea_kill_switch_active\{scope="all"\}/)) ?? '', / 1$/);
    assert.match((await world.metric(/^cardea_kill_switch_active\{scope="agent"\}/)) ?? '', / 0$/);
    assert.match((await world.metric(/^cardea_kill_switch_denials_total\{scope="all"\}/)) ?? '', / 1$/);
    assert.match((await world.metric(/^cardea_kill_persisted/)) ?? '', / 0$/); // state: memory
    assert.match((await world.metric(/^cardea_card_state\{agent="weather",state="killed"\}/)) ?? '', / 1$/);
    assert.match((await world.metric(/result="killed"/)) ?? '', / 1$/);
    assert.equal((await world.get(`http://${world.daemon.started.ops[0]}/readyz`)).status, 200);
  });

  scenario('leaves a receipt, and its lift another', MINUTE, async (world) => {
    const id = await kill(world, 'all');
    await lift(world, id);
    const lines = world
      .logged('switch')
      .map(({ action, kill: about, reason, scope }) => [action, about, reason, scope]);
    assert.deepEqual(lines, [
      ['kill', id, 'drill', 'all'],
      ['lift', id, 'drill over', 'all'],
    ]);
  });
});

describe('a scoped kill', () => {
  scenario('stops its agent, shows it in the list, and lets the others be', MINUTE, async (world) => {
    await kill(world, 'agent:weather');
    assert.equal((await world.card()).code, 'killed');
    const { agents } = JSON.parse((await world.get('/agents')).body) as { agents: { state: string }[] };
    assert.equal(agents[0]?.state, 'killed');
    assert.equal((await world.get('/agents/stranger/x')).code, 'unknown-agent');
    assert.equal(world.origin.asked.length, 0);
  });

  scenario('scopes add up: lifting one leaves the other', MINUTE, async (world) => {
    const one = await kill(world, 'agent:weather');
    const two = await kill(world, 'origin:127.0.0.1');
    assert.ok((await lift(world, one)).ok);
    assert.equal((await world.card()).code, 'killed');
    assert.ok((await lift(world, two)).ok);
    assert.equal((await world.card()).status, 200);
    const again = await lift(world, two);
    assert.equal(again.ok ? '' : again.refusal.code, 'not-found');
  });

  scenario('of another agent, origin, tenant or key changes nothing', MINUTE, async (world) => {
    for (const scope of ['agent:other', 'origin:127.0.0.2', 'tenant:acme', 'kid:k']) await kill(world, scope);
    assert.equal((await world.card()).status, 200);
  });
});

describe('while it is being served', () => {
  scenario('kept connections and open HTTP/2 sessions', MINUTE, async (world) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const session = http2.connect(world.base);
    const two = (): Promise<number> =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':path': CARD_PATH });
        stream.on('response', (headers) => resolve(Number(headers[':status']))).on('error', reject);
        stream.resume();
      });
    try {
      assert.equal((await ask(world.base + CARD_PATH, { agent })).status, 200);
      assert.equal(await two(), 200);
      const engaging = kill(world, 'all');
      // Before the acknowledgement, even: memory comes first.
      assert.equal((await ask(world.base + CARD_PATH, { agent })).status, 503);
      assert.equal(await two(), 503);
      await engaging;
    } finally {
      agent.destroy();
      session.destroy();
    }
  });

  /** Some 12 MB: more than the two machines' buffers hold. */
  const skill = { name: 'S', description: 'x'.repeat(60_000), tags: ['t'] };
  const skills = Array.from({ length: 200 }, (_, index) => ({ id: `s${index}`, ...skill }));
  const HUGE = JSON.stringify({ ...JSON.parse(CARD), skills });
  const roomy = { origin: answers(HUGE), config: 'limits: { cardBytes: 16MiB }' };
  scenario('a client that reads slowly gets no byte more than its machine has taken already', roomy, async (world) => {
    assert.equal((await world.card()).status, 200);
    const got = await new Promise<http.IncomingMessage>((resolve) => http.get(world.base + CARD_PATH, resolve));
    await turn();
    await kill(world, 'all');
    let received = 0;
    got.on('data', (chunk: Buffer) => (received += chunk.length));
    await new Promise((resolve) => got.once('error', resolve).once('aborted', resolve));
    assert.ok(received < HUGE.length, `${received} of ${HUGE.length} bytes came`);
    assert.equal(got.complete, false);
  });

  scenario('an HTTP/2 client that reads slowly is cut off too', roomy, async (world) => {
    assert.equal((await world.card()).status, 200);
    const session = http2.connect(world.base);
    const stream = session.request({ ':path': CARD_PATH });
    await new Promise((resolve) => stream.once('response', resolve));
    await kill(world, 'agent:weather');
    const code = await new Promise((resolve) => {
      stream.on('error', () => undefined).once('close', () => resolve(stream.rstCode));
      stream.resume();
    });
    assert.notEqual(code, 0);
    session.destroy();
  });
});

describe('while it is being fetched', () => {
  /** An origin that answers when `let` is called. */
  function slow() {
    const waiting: (() => void)[] = [];
    let left = 0;
    const origin: NonNullable<WorldOptions['origin']> = (request, response) => {
      response.once('close', () => (left += response.writableFinished ? 0 : 1));
      waiting.push(() => answers(CARD, { 'Cache-Control': 'max-age=60' })(request, response));
    };
    return { origin, answer: () => waiting.shift()?.(), left: () => left };
  }

  for (const scope of ['all', 'agent:weather', 'origin:127.0.0.1']) {
    const server = slow();
    scenario(`a slow fetch ends at once, and those who wait are told: ${scope}`, server, async (world) => {
      const waiting = [world.card(), world.card()];
      await world.asked(1);
      await kill(world, scope);
      for (const got of await Promise.all(waiting)) assert.equal(got.code, 'killed');
      while (server.left() === 0) await turn(); // the origin sees the connection go
      assert.equal(world.origin.asked.length, 1);
    });
  }

  const late = slow();
  scenario('a fetch from before a kill and its lift puts nothing back', late, async (world) => {
    const waiting = world.card();
    await world.asked(1);
    const id = await kill(world, 'kid:somebody'); // moves the generation, and stops nothing of this
    late.answer();
    assert.equal((await waiting).status, 200);
    await lift(world, id);
    assert.match(String((await world.card()).headers['cache-status']), /hit/);
  });

  const prefetched = slow();
  scenario('the first prefetch', { ...prefetched, config: 'cache: { prefetch: true }' }, async (world) => {
    await world.asked(1);
    await kill(world, 'all');
    prefetched.answer();
    await world.quiet();
    assert.equal((await world.card()).code, 'killed');
    assert.equal(world.logged('exchange')[0]?.['outcome'], 'superseded');
  });

  scenario(
    'nothing is fetched behind while it holds; after the lift everything is, and judged anew',
    { ...MINUTE, config: 'cache: { prefetch: true }', prefetch: true },
    async (world) => {
      const id = await kill(world, 'agent:weather');
      await world.pass(300);
      assert.equal(world.origin.asked.length, 1);
      assert.ok((await lift(world, id)).ok);
      await world.quiet();
      assert.equal(world.origin.asked.length, 2);
      assert.match(String((await world.card()).headers['cache-status']), /hit/);
    },
  );
});

describe('the kill file', () => {
  test('stops everything while nobody lifts it, and is looked at before anything is served', async () => {
    const file = path.join(folder(), 'run', 'KILL');
    const options = { ...MINUTE, config: `kill: { file: ${file} }` };
    const world = await World.start(options);
    try {
      assert.equal((await world.card()).status, 200); // file and folder are missing
      fs.mkdirSync(path.dirname(file));
      fs.writeFileSync(file, '');
      while ((await world.card()).code !== 'killed') await world.clock.advance(250);
      const [found, ...others] = world.daemon.killSwitch.active();
      assert.deepEqual([found?.by, found?.scope, others.length], ['file', 'all', 0]);
      const early = await lift(world, found?.id ?? '');
      assert.equal(early.ok ? '' : early.refusal.code, 'conflict');
      fs.rmSync(file);
      await world.clock.advance(1_000);
      assert.equal((await world.card()).code, 'killed'); // taking it away lifts nothing
      assert.ok((await lift(world, found?.id ?? '')).ok);
      assert.equal((await world.card()).status, 200);
      fs.writeFileSync(file, '');
    } finally {
      await world.stop();
    }
    const next = await World.start(options);
    try {
      assert.equal((await next.card()).code, 'killed');
      assert.equal(next.origin.asked.length, 0);
    } finally {
      await next.stop();
    }
  });
});

describe('a restart', () => {
  test('finds the kills that were in force, before it serves a byte', async () => {
    const options = { ...MINUTE, state: folder(), config: 'cache: { prefetch: true }' };
    const first = await World.start(options);
    const id = await kill(first, 'agent:weather');
    assert.match((await first.metric(/^cardea_kill_persisted/)) ?? '', / 1$/);
    await first.stop();
    const second = await World.start(options);
    try {
      assert.equal((await second.card()).code, 'killed');
      await second.daemon.prefetched;
      assert.equal(second.origin.asked.length, 0);
      assert.ok((await lift(second, id)).ok);
      await second.quiet();
      assert.equal((await second.card()).status, 200);
    } finally {
      await second.stop();
    }
  });

  test('over a damaged record serves nothing, and says how to lift', async () => {
    const state = folder();
    fs.writeFileSync(path.join(state, 'kills.json'), '{"version":1,"kills":[');
    const world = await World.start({ ...MINUTE, state });
    try {
      assert.equal((await world.card()).code, 'killed');
      const id = world.daemon.killSwitch.active()[0]?.id ?? '';
      assert.ok(world.log.some((line) => line.includes(`cardea lift ${id}`)));
      assert.ok((await lift(world, id)).ok);
      assert.equal((await world.card()).status, 200);
    } finally {
      await world.stop();
    }
  });

  test('losing the state folder meanwhile lifts nothing, and the next kill says that it is not persisted', async () => {
    const state = path.join(folder(), 'state');
    const world = await World.start({ ...MINUTE, state });
    try {
      await kill(world, 'agent:weather');
      fs.rmSync(state, { recursive: true });
      assert.equal((await world.card()).code, 'killed');
      const engaged = await world.daemon.killSwitch.engage({ scope: tag('all'), reason: 'drill', by: 'admin' });
      assert.equal(engaged.ok && engaged.value.persisted, false);
      assert.equal((await world.card()).code, 'killed');
      assert.match((await world.metric(/^cardea_kill_persisted/)) ?? '', / 0$/);
    } finally {
      await world.stop();
    }
  });
});
