import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answer } from '../../src/kernel/answer.ts';
import type { Ask } from '../../src/kernel/ask.ts';
import { listenerName } from '../../src/kernel/ids.ts';
import { type OpsPorts, createOps } from '../../src/listen/ops.ts';
import { listening } from '../support/listening.ts';

const asked = (target: string, method = 'GET', fields: readonly string[] = []): Ask => ({
  listener: listenerName('ops'),
  base: 'http://localhost',
  method,
  target,
  host: 'localhost',
  proxied: null,
  peer: { principal: null, certificate: null },
  field: (name) => fields[fields.indexOf(name) + 1],
  fields,
  body: null,
  ownsBase: () => true,
  signal: () => new AbortController().signal,
});

const textOf = ({ body }: Answer): string => (body instanceof Uint8Array ? new TextDecoder().decode(body) : '');

describe('the ops listener', () => {
  const seen: (string | undefined)[] = [];
  let state = { ok: true, reasons: [] as string[] };
  const ports: OpsPorts = {
    startup: () => state,
    ready(require) {
      seen.push(require);
      return state;
    },
    metrics: async (accept) => ({ type: `text/plain; version=0.0.4; accept=${accept}`, body: 'up 1\n' }),
  };
  const ops = createOps(ports);
  const get = async (target: string, method = 'GET'): Promise<Answer> => ops(asked(target, method, ['accept', 'x']));

  test('says that it lives, is ready and has started', async () => {
    for (const path of ['/livez', '/readyz', '/startupz', '/livez?verbose']) {
      const answer = await get(path);
      assert.deepEqual([answer.status, textOf(answer)], [200, 'ok\n'], path);
    }
  });

  test('says what is missing, and lives all the same', async () => {
    state = { ok: false, reasons: ['draining', 'no card of weather'] };
    for (const path of ['/readyz', '/startupz']) {
      const answer = await get(path);
      assert.deepEqual([answer.status, textOf(answer)], [503, 'not ready\ndraining\nno card of weather\n']);
    }
    assert.equal((await get('/livez')).status, 200);
    state = { ok: true, reasons: [] };
  });

  test('asks for the card that a probe requires', async () => {
    seen.length = 0;
    for (const query of ['', '?require=weather', '?x=1&require=a%2Fb', '?require=a&require=b', '?require=']) {
      await get(`/readyz${query}`);
    }
    assert.deepEqual(seen, [undefined, 'weather', 'a/b', 'a', 'b', '']);
  });

  test('hands the accepted types on to the metrics', async () => {
    const answer = await get('/metrics');
    assert.equal(textOf(answer), 'up 1\n');
    assert.ok(answer.fields.includes('text/plain; version=0.0.4; accept=x'));
  });

  const nowhere = ['/', '', '/livez/', '/livez/x', '/livezx', '//livez', '/LIVEZ', '/%6civez', '/metrics/../livez'];
  for (const path of [...nowhere, '/agents', '/kill', '/constructor']) {
    test(`serves nothing at ${JSON.stringify(path)}`, async () => assert.equal((await get(path)).status, 404));
  }

  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    test(`${method} changes nothing, and is told what works`, async () => {
      const answer = await get('/readyz', method);
      assert.equal(answer.status, 405);
      assert.ok(answer.fields.includes('GET, HEAD'));
    });
  }

  test('is not stored, and HEAD works on the wire', async () => {
    assert.ok((await get('/livez')).fields.includes('no-store'));
    const on = await listening(ops);
    const socket = await on.connect();
    await socket.send('HEAD /livez HTTP/1.1\r\nHost: localhost\r\n\r\nGET /livez HTTP/1.1\r\nHost: evil.test\r\n\r\n');
    const [head] = await socket.responses(1, 'HEAD');
    assert.deepEqual([head?.status, head?.fields.get('content-length')], [200, '3']);
    await socket.ended();
    assert.match(socket.text, /HTTP\/1\.1 421 /);
    await on.close();
  });
});
