import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { type Listening, listening } from '../support/listening.ts';
import { AdminWorld, TOKEN } from './admin-world.ts';

/** The API behind a real listener: what a browser on the same machine can send. */

interface Got {
  readonly status: number;
  readonly upgraded: boolean;
}

function send(port: number, headers: http.OutgoingHttpHeaders, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      port,
      host: '127.0.0.1',
      path: '/kill',
      method,
      agent: false,
      setHost: false,
      headers,
    });
    request.on('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, upgraded: false });
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, upgraded: true });
    });
    request.on('error', reject);
    request.end();
  });
}

describe('the admin API on a socket', () => {
  const world = new AdminWorld();
  let open: Listening | undefined;
  let port = 0;
  before(async () => {
    open = await listening(world.handle);
    port = open.port;
  });
  after(() => open?.close());
  const bearer = { authorization: `Bearer ${TOKEN}` };

  test('answers whoever has the token and a name of ours', async () => {
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'LOCALHOST.']) {
      assert.equal((await send(port, { host, ...bearer })).status, 200, host);
    }
  });
  test('answers its own page', async () => {
    const origin = `http://127.0.0.1:${port}`;
    assert.equal((await send(port, { host: `127.0.0.1:${port}`, origin, ...bearer })).status, 200);
  });
  const foreign = ['rebind.evil.test', '0.0.0.0', '127.0.0.2', 'localhost.evil.test', '[::1]'];
  for (const host of foreign) {
    test(`is not there as ${host}, before any token is looked at`, async () => {
      const origin = `http://${host}:${port}`;
      assert.equal((await send(port, { host: `${host}:${port}`, origin, ...bearer })).status, 421);
      assert.equal((await send(port, { host: `${host}:${port}` })).status, 421);
    });
  }
  test('knows no other protocol to switch to', async () => {
    const upgrade = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'eA==',
      'sec-websocket-version': '13',
    };
    const got = await send(port, { host: 'localhost', ...upgrade, ...bearer });
    assert.deepEqual([got.upgraded, got.status], [false, 200]);
  });
  test('sets no cookie and takes none for authority', async () => {
    assert.equal(
      (await send(port, { host: 'localhost', cookie: `token=${TOKEN}; Authorization=Bearer ${TOKEN}` })).status,
      401,
    );
  });
  test('answers no preflight', async () => {
    const preflight = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    assert.equal((await send(port, { host: 'localhost', ...preflight }, 'OPTIONS')).status, 421);
  });
});
