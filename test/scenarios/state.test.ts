import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { tag } from '../../src/kernel/ids.ts';
import { CARD, type Got, World, type WorldOptions, answers, ask, breaks } from '../support/world.ts';

const MINUTE = { origin: answers(CARD, { 'Cache-Control': 'max-age=60' }) };
const folder = (): string => fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-state-'));

/** Runs a dialogue in a world of its own, stopped whatever happens. */
async function inWorld(options: WorldOptions, run: (world: World) => Promise<void>): Promise<void> {
  const world = await World.start(options);
  try {
    await run(world);
  } finally {
    await world.stop();
  }
}

/** Asks the admin API with the token that the state folder or the start gave. */
function admin(world: World, order: string, body?: object, state?: string): Promise<Got> {
  const [method = 'GET', target = ''] = order.split(' ');
  const token =
    state === undefined ? world.daemon.token : fs.readFileSync(path.join(state, 'admin-token'), 'utf8').trim();
  const text = body === undefined ? '' : JSON.stringify(body);
  const typed = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  const headers = { Authorization: `Bearer ${token}`, ...(body === undefined ? {} : typed) };
  const url = `http://${world.daemon.started.admin[0]}${target}`;
  return ask(url, { method, headers }, text);
}

describe('the admin API of a running daemon', () => {
  test('kills, lists and lifts, each with a receipt that is found again', async () => {
    const state = folder();
    await inWorld({ ...MINUTE, state }, async (world) => {
      await world.card();
      const killed = await admin(world, 'POST /kill', { scope: 'agent:weather', reason: 'drill' }, state);
      const { id, persisted } = JSON.parse(killed.body) as { id: string; persisted: boolean };
      assert.deepEqual([killed.status, persisted], [200, true]);
      assert.equal((await world.card()).code, 'killed');
      assert.match((await admin(world, 'GET /kill', undefined, state)).body, new RegExp(id));
      const explained = await admin(world, 'GET /explain?target=weather', undefined, state);
      assert.match(explained.body, /Stopped: agent:weather, by admin: drill/);
      assert.equal((await admin(world, `DELETE /kill/${id}`, { reason: 'over' }, state)).status, 200);
      assert.equal((await world.card()).status, 200);
      const { receipts } = JSON.parse((await admin(world, 'GET /receipts', undefined, state)).body) as {
        receipts: { kind: string; action?: string }[];
      };
      assert.deepEqual(
        receipts.filter(({ kind }) => kind === 'switch').map(({ action }) => action),
        ['lift', 'kill'],
      );
      assert.ok(receipts.some(({ kind }) => kind === 'exchange'));
      const chain = await admin(world, 'GET /receipts/verify', undefined, state);
      assert.equal((JSON.parse(chain.body) as { whole: boolean }).whole, true);
    });
  });

  test('purges, refreshes and shows the card; nothing without the token, and nothing from the agents side', async () => {
    await inWorld(MINUTE, async (world) => {
      await world.card();
      const purged = await admin(world, 'POST /purge', { tags: ['agent:weather'], reason: 'drill' });
      assert.equal((JSON.parse(purged.body) as { purged: number }).purged, 1);
      assert.equal((await admin(world, 'GET /agents/weather/card')).status, 404);
      const refreshed = await admin(world, 'POST /agents/weather/refresh', {});
      assert.equal((JSON.parse(refreshed.body) as { outcome: string }).outcome, 'stored');
      assert.equal((await admin(world, 'GET /agents/weather/card')).body, CARD);
      assert.match((await admin(world, 'GET /config')).body, /"digest"/);
      assert.match((await admin(world, 'POST /reload', {})).body, /"digest":"sha256:/);
      const url = `http://${world.daemon.started.admin[0]}/kill`;
      assert.equal((await ask(url, {})).code, 'unauthorized');
      assert.equal((await ask(url, { headers: { Authorization: 'Bearer x' } })).code, 'unauthorized');
      for (const method of ['GET', 'POST', 'DELETE']) {
        for (const target of ['/kill', '/admin/kill', '/kill/x', '/agents/weather/%2e%2e/kill'])
          assert.ok((await world.get(target, { Authorization: `Bearer ${world.daemon.token}` }, method)).status >= 400);
      }
      assert.deepEqual(world.daemon.killSwitch.active(), []);
    });
  });

  test('drains, answering first', async () => {
    const world = await World.start(MINUTE);
    const got = await admin(world, 'POST /drain', {});
    assert.equal(got.status, 202);
    await world.clock.advance(500);
    await world.origin.close();
    await world.daemon.drained;
  });
});

describe('a start with every origin down', () => {
  test('serves the last accepted card, as stale as it was, judged again', async () => {
    const state = folder();
    let port = 0;
    await inWorld({ ...MINUTE, state }, async (world) => {
      port = world.origin.port;
      assert.equal((await world.card()).status, 200);
    });
    await inWorld({ state, port, origin: breaks }, async (world) => {
      await world.clock.advance(120_000);
      const stale = await world.metric(/^cardea_card_stale_since_timestamp_seconds/);
      const got = await world.card();
      assert.deepEqual([got.status, got.body], [200, CARD]);
      assert.match(String(got.headers['cache-status']), /stale-if-error/);
      assert.match(stale ?? '', / 1800000060$/);
      assert.equal(world.logged('verdict').length, 1);
    });
  });

  test('brings back nothing that a kill covers', async () => {
    const state = folder();
    let port = 0;
    await inWorld({ ...MINUTE, state }, async (world) => {
      port = world.origin.port;
      await world.card();
      await world.daemon.killSwitch.engage({ scope: tag('kid:other'), reason: 'drill', by: 'admin' });
      await admin(world, 'POST /kill', { scope: 'agent:weather', reason: 'drill' }, state);
    });
    await inWorld({ state, port, origin: breaks }, async (world) => {
      assert.equal((await world.card()).code, 'killed');
      for (const { id } of world.daemon.killSwitch.active())
        await world.daemon.killSwitch.lift({ id, reason: 'over', by: 'admin' });
      assert.equal((await world.card()).status, 502);
    });
  });

  test('is a cold one over a database that is none, and no kill is lost with it', async () => {
    const state = folder();
    await inWorld({ ...MINUTE, state }, async (world) => {
      await world.card();
      await admin(world, 'POST /kill', { scope: 'tenant:acme', reason: 'drill' }, state);
    });
    for (const name of ['cards.db', 'ledger.db']) fs.writeFileSync(path.join(state, name), 'no database'.repeat(1_000));
    for (const name of fs.readdirSync(state)) if (/-(wal|shm)$/.test(name)) fs.rmSync(path.join(state, name));
    await inWorld({ ...MINUTE, state }, async (world) => {
      assert.equal((await world.card()).status, 200);
      assert.deepEqual(
        world.daemon.killSwitch.active().map(({ scope }) => scope),
        ['tenant:acme'],
      );
      assert.ok(world.log.some((line) => line.includes('"level":"error"')));
    });
  });

  test('is refused while another daemon has the folder', async () => {
    const state = folder();
    await inWorld({ ...MINUTE, state }, async () => {
      await assert.rejects(World.start({ ...MINUTE, state }), /another Cardea uses the folder/);
    });
  });
});

test('nothing of a token or of a card stands in the state folder or in the log', async () => {
  const state = folder();
  await inWorld({ ...MINUTE, state }, async (world) => {
    await world.card({ Authorization: 'Bearer canary-token', Cookie: 'canary-cookie' });
    await admin(world, 'POST /purge', { tags: ['agent:weather'], reason: 'drill' }, state);
    const token = fs.readFileSync(path.join(state, 'admin-token'), 'utf8').trim();
    const log = world.log.join('\n');
    for (const secret of [token, 'canary-token', 'canary-cookie', 'Tells the weather'])
      assert.ok(!log.includes(secret));
  });
  for (const name of fs.readdirSync(state)) {
    if (name === 'admin-token') continue;
    const bytes = fs.readFileSync(path.join(state, name)).toString('latin1');
    for (const secret of ['canary-token', 'canary-cookie']) assert.ok(!bytes.includes(secret), name);
  }
});
