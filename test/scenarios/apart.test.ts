import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { RawSocket } from '../support/raw-socket.ts';
import { CARD_PATH, World, ask } from '../support/world.ts';

/** The listeners are apart: what one serves, no other does, whoever asks and with whatever credential. */

async function inWorld(run: (world: World, token: string, admin: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cardea-apart-'));
  const world = await World.start({ state: folder });
  try {
    const token = readFileSync(path.join(folder, 'admin-token'), 'utf8').trim();
    await run(world, token, String(world.daemon.started.admin[0]));
  } finally {
    await world.stop();
    await rm(folder, { recursive: true });
  }
}

describe('the agents listener', () => {
  test('no path of the agents listener lifts a stop, with the admin token neither', async () => {
    await inWorld(async (world, token, admin) => {
      world.daemon.stopAll('test');
      const bearer = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const listed = await ask(`http://${admin}/kill`, { headers: bearer });
      const [kill] = (JSON.parse(listed.body) as { kills: { id: string }[] }).kills;
      assert.ok(kill);
      const paths = [
        `/kill/${kill.id}`,
        `/admin/kill/${kill.id}`,
        '/-/unkill',
        `/agents/../kill/${kill.id}`,
        `/agents/%2e%2e/kill/${kill.id}`,
        `/agents/weather/../../kill/${kill.id}`,
        `//${admin}/kill/${kill.id}`,
      ];
      for (const target of paths) {
        for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
          const headers = { ...bearer, 'x-original-url': `/kill/${kill.id}`, 'x-forwarded-host': admin };
          const got = await ask(world.base + target, { method, headers }, '{"reason":"let me out"}');
          assert.ok(got.status >= 400, `${method} ${target}: ${got.status}`);
        }
      }
      const port = Number(/\d+$/.exec(world.base)?.[0]);
      for (const [line, host] of [
        [`DELETE http://${admin}/kill/${kill.id} HTTP/1.1`, admin],
        [`DELETE /kill/${kill.id} HTTP/1.1`, 'admin.internal'],
      ] as const) {
        const socket = await RawSocket.connect(port);
        await socket.send(`${line}\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n\r\n`);
        await socket.ended();
        assert.match(socket.text, /^HTTP\/1\.1 [45]/);
      }
      assert.match((await ask(`http://${admin}/kill`, { headers: bearer })).body, new RegExp(kill.id));
      assert.equal((await world.get(CARD_PATH)).code, 'killed');
    });
  });

  test('serves nothing of the admin API', async () => {
    await inWorld(async (world, token) => {
      const headers = { authorization: `Bearer ${token}` };
      for (const target of [
        '/receipts',
        '/receipts/verify',
        '/explain?target=weather',
        '/kill',
        '/config',
        '/events',
        '/agents/weather/refresh',
      ]) {
        const got = await world.get(target, headers);
        assert.ok(got.status >= 400, `${target}: ${got.status}`);
      }
      assert.equal(world.origin.asked.length, 0);
    });
  });
});

test('metrics are at the ops listener alone, and nothing there changes anything', async () => {
  await inWorld(async (world, token, admin) => {
    const headers = { authorization: `Bearer ${token}` };
    const ops = String(world.daemon.started.ops[0]);
    assert.equal((await ask(`http://${ops}/metrics`, {})).status, 200);
    assert.equal((await world.get('/metrics', headers)).status, 404);
    assert.equal((await ask(`http://${admin}/metrics`, { headers })).status, 404);
    for (const target of ['/kill', '/purge', '/drain', '/reload', '/agents', '/config', '/receipts']) {
      const got = await ask(`http://${ops}${target}`, { headers, method: 'POST' }, '{"scope":"all","reason":"x"}');
      assert.ok(got.status === 404 || got.status === 405, `${target}: ${got.status}`);
    }
  });
});
