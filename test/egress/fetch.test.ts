import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { bytes } from '../../src/kernel/units.ts';
import { type Behave, startOrigin } from '../support/origin-server.ts';
import { orderFor, rig } from './harness.ts';

async function origin(t: TestContext, behave: Behave) {
  const server = await startOrigin(behave);
  const { clock, fetcher } = rig();
  t.after(() => fetcher.close());
  t.after(() => server.close());
  return { server, clock, fetcher, url: `${server.url}/card` };
}

describe('fetch reads a bounded answer whole', () => {
  test('a plain answer: status, raw fields, bytes and trail', async (t) => {
    const { server, fetcher, url } = await origin(t, (_request, response) => {
      response
        .writeHead(200, [
          'Content-Type',
          'application/json',
          'Set-Cookie',
          'a=1',
          'Set-Cookie',
          'b=2',
          'X-Odd',
          'caf\xe9',
        ])
        .end('{"a":1}');
    });
    const result = await fetcher.fetch(orderFor(url));
    assert.ok(result.ok);
    assert.equal(result.response.status, 200);
    assert.equal(Buffer.from(result.response.body).toString(), '{"a":1}');
    const { fields } = result.response;
    assert.deepEqual(fields.slice(0, 8), [
      'Content-Type',
      'application/json',
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'X-Odd',
      'caf\xe9',
    ]);
    assert.deepEqual(result.trail, {
      requestedUrl: url,
      finalUrl: url,
      redirects: [],
      addresses: ['127.0.0.1'],
      reused: false,
    });
    assert.deepEqual(server.asked, ['GET /card']);
  });

  test('a small body lies in memory of its own: in a part of a pool it would keep all of it', async (t) => {
    for (const parts of [['{"a":1}'], ['{"a"', ':1}']]) {
      const { fetcher, url } = await origin(t, (_request, response) => {
        for (const part of parts) response.write(part);
        response.end();
      });
      const result = await fetcher.fetch(orderFor(url));
      assert.ok(result.ok);
      assert.equal(result.response.body.buffer.byteLength, 7);
    }
  });

  test('the next exchange reuses the connection and says so', async (t) => {
    const { server, fetcher, url } = await origin(t, (_request, response) => void response.end('{}'));
    await fetcher.fetch(orderFor(url));
    const second = await fetcher.fetch(orderFor(url));
    assert.ok(second.ok);
    assert.equal(second.trail.reused, true);
    assert.deepEqual(second.trail.addresses, []);
    assert.equal(server.connections(), 1);
  });

  for (const [coding, code] of [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const) {
    test(`${coding} is undone, and the fields that describe it are gone`, async (t) => {
      const { server, fetcher, url } = await origin(t, (_request, response) => {
        const body = code(Buffer.from('{"name":"weather"}'));
        response.writeHead(200, { 'Content-Encoding': coding, 'Content-Length': body.length }).end(body);
      });
      const result = await fetcher.fetch(orderFor(url));
      assert.ok(result.ok);
      assert.equal(Buffer.from(result.response.body).toString(), '{"name":"weather"}');
      assert.ok(!result.response.fields.some((field) => /^content-(encoding|length)$/i.test(field)));
      const sent = server.headers[0] ?? [];
      assert.equal(sent[sent.findIndex((name) => name.toLowerCase() === 'accept-encoding') + 1], 'gzip, br');
    });
  }

  test('a gzip bomb is stopped at the bound', async (t) => {
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024));
    const { fetcher, url } = await origin(t, (_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb);
    });
    const result = await fetcher.fetch(orderFor(url, { limits: { bytes: bytes(65_536) } }));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'card-too-large');
  });
});
