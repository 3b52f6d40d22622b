import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bytes, ms } from '../../src/kernel/units.ts';
import { type Behave, startOrigin } from '../support/origin-server.ts';
import { orderFor, rig, textOf } from './harness.ts';

const STREAM = { total: ms(0), bytes: bytes(0), idle: ms(60_000) };

async function origin(t: TestContext, behave: Behave) {
  const server = await startOrigin(behave);
  const made = rig({ limits: { concurrency: 1, forwardConcurrency: 1 } });
  t.after(() => made.fetcher.close());
  t.after(() => server.close());
  return { ...made, server, url: `${server.url}/rpc` };
}

const until = async (done: () => boolean): Promise<void> => {
  while (!done()) await new Promise(setImmediate);
};

async function* chunks(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

const pairs = (fields: readonly string[]): ReadonlyMap<string, string> =>
  new Map(fields.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), fields[at + 1] ?? ''] as const] : [])));

describe('a stream both ways', () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'REPORT', 'GET']) {
    test(`${method} with a body arrives whole, and the answer comes back`, async (t) => {
      const { fetcher, url } = await origin(t, (request, response) => {
        response.writeHead(200, { 'X-Method': request.method ?? '' });
        request.pipe(response);
      });
      const result = await fetcher.open(orderFor(url, { method, body: chunks('one ', 'two'), limits: STREAM }));
      assert.ok(result.ok, JSON.stringify(result));
      assert.equal(pairs(result.response.fields).get('x-method'), method);
      assert.equal(await textOf(result.response.body), 'one two');
    });
  }
  test('a known length is kept, an unknown one is chunked', async (t) => {
    const { fetcher, url, server } = await origin(
      t,
      (request, response) => void request.resume().on('end', () => response.end()),
    );
    for (const fields of [['Content-Length', '6'], []]) {
      const result = await fetcher.open(
        orderFor(url, { method: 'POST', body: chunks('abcdef'), fields, limits: STREAM }),
      );
      assert.ok(result.ok);
      await textOf(result.response.body);
    }
    assert.equal(pairs(server.headers[0] ?? []).get('content-length'), '6');
    assert.equal(pairs(server.headers[1] ?? []).get('transfer-encoding'), 'chunked');
  });
  test('a length that the body does not keep is not passed on as if it were whole', async (t) => {
    const { fetcher, url } = await origin(
      t,
      (request, response) => void request.resume().on('end', () => response.end()),
    );
    const result = await fetcher.open(
      orderFor(url, { method: 'POST', body: chunks('abc'), fields: ['Content-Length', '6'], limits: STREAM }),
    );
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'bad-request');
  });
  test('codings are untouched, and the caller says which it takes', async (t) => {
    const coded = gzipSync('{"a":1}');
    const { fetcher, url, server } = await origin(t, (_request, response) =>
      response.writeHead(200, { 'Content-Encoding': 'gzip', 'Content-Length': coded.length }).end(coded),
    );
    const result = await fetcher.open(orderFor(url, { fields: ['Accept-Encoding', 'gzip;q=0.5'], limits: STREAM }));
    assert.ok(result.ok);
    assert.equal(pairs(result.response.fields).get('content-encoding'), 'gzip');
    assert.deepEqual(Buffer.from(await textOf(result.response.body), 'utf8').length > 0, true);
    assert.equal(pairs(server.headers[0] ?? []).get('accept-encoding'), 'gzip;q=0.5');
  });
  test('no Connection field takes away what says how an answer may be used', async (t) => {
    const { fetcher, url } = await origin(t, (_request, response) =>
      response.writeHead(200, { Connection: 'Cache-Control, vary', 'Cache-Control': 'no-store', Vary: 'accept' }).end(),
    );
    for (const open of [fetcher.fetch, fetcher.open]) {
      const result = await open(orderFor(url, { limits: STREAM }));
      assert.ok(result.ok);
      const fields = pairs(result.response.fields);
      assert.deepEqual([fields.get('cache-control'), fields.get('vary')], ['no-store', 'accept']);
    }
  });
  test('per-connection fields end here, both ways; Via is added', async (t) => {
    const { fetcher, url, server } = await origin(t, (_request, response) => {
      response
        .writeHead(200, [
          'Connection',
          'X-Hop',
          'X-Hop',
          '1',
          'Proxy-Authenticate',
          'Basic',
          'Keep-Alive',
          'timeout=9',
          'X-End',
          '2',
          'Via',
          '1.1 other',
        ])
        .end();
    });
    const fields = [
      'Host',
      'evil.test',
      'Connection',
      'close, X-Mine',
      'X-Mine',
      '1',
      'TE',
      'trailers',
      'Trailer',
      'x',
      'Upgrade',
      'h2c',
      'Proxy-Authorization',
      's',
      'Proxy-Connection',
      'x',
      'Expect',
      '100-continue',
      'Transfer-Encoding',
      'chunked',
      'Via',
      '1.0 first',
      'X-Kept',
      'yes',
    ];
    const result = await fetcher.open(orderFor(url, { fields, limits: STREAM }));
    assert.ok(result.ok);
    await textOf(result.response.body);
    const sent = pairs(server.headers[0] ?? []);
    assert.equal(sent.get('host'), new URL(url).host);
    assert.equal(sent.get('via'), '1.0 first, 1.1 cardea');
    assert.equal(sent.get('x-kept'), 'yes');
    for (const name of [
      'x-mine',
      'te',
      'trailer',
      'upgrade',
      'proxy-authorization',
      'proxy-connection',
      'expect',
      'transfer-encoding',
    ])
      assert.equal(sent.has(name), false, name);
    const got = pairs(result.response.fields);
    assert.equal(got.get('x-end'), '2');
    assert.equal(got.get('via'), '1.1 other');
    for (const name of ['connection', 'x-hop', 'proxy-authenticate', 'keep-alive', 'transfer-encoding'])
      assert.equal(got.has(name), false, name);
  });
  for (const status of [206, 299, 302, 418, 499, 599, 999]) {
    test(`status ${status} passes through`, async (t) => {
      const { fetcher, url, server } = await origin(t, (_request, response) =>
        response.writeHead(status, { Location: '/x' }).end('body'),
      );
      const result = await fetcher.open(orderFor(url, { limits: STREAM }));
      assert.ok(result.ok);
      assert.equal(result.response.status, status);
      assert.equal(await textOf(result.response.body), 'body');
      assert.equal(server.asked.length, 1);
    });
  }
  test('the head is there while the body still flows', async (t) => {
    let finish = (): void => {};
    const { fetcher, url } = await origin(t, (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: 1\n\n');
      finish = () => void response.end('data: 2\n\n');
    });
    const result = await fetcher.open(orderFor(url, { limits: STREAM }));
    assert.ok(result.ok);
    const iterator = result.response.body[Symbol.asyncIterator]();
    assert.equal(Buffer.from((await iterator.next()).value ?? []).toString(), 'data: 1\n\n');
    finish();
    assert.equal(Buffer.from((await iterator.next()).value ?? []).toString(), 'data: 2\n\n');
    assert.equal((await iterator.next()).done, true);
  });
  test('a reader that does not read holds the origin back', async (t) => {
    let written = 0;
    const { fetcher, url } = await origin(t, (_request, response) => {
      const block = Buffer.alloc(1 << 20);
      const more = (): void => {
        while (written < 256 && response.write(block)) written += 1;
        if (written < 256) response.once('drain', more);
        else response.end();
      };
      more();
    });
    const result = await fetcher.open(orderFor(url, { limits: STREAM }));
    assert.ok(result.ok);
    let before = -1;
    while (before !== written) {
      before = written;
      for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    }
    assert.ok(written < 64, `${written} MiB of 256 were taken though nobody reads`);
    for await (const _ of result.response.body) break;
  });
});

describe('a stream ends', () => {
  const endless: Behave = (_request, response) => void response.writeHead(200).write('x');

  /** With room for one stream, a second one shows that the first has left. */
  const roomAgain = async (made: Awaited<ReturnType<typeof origin>>): Promise<boolean> => {
    const controller = new AbortController();
    const next = await made.fetcher.open(orderFor(made.url, { limits: STREAM, signal: controller.signal }));
    controller.abort();
    return next.ok;
  };

  test('when its caller leaves: the origin hears it', async (t) => {
    let closed = false;
    const made = await origin(t, (request, response) => {
      request.once('close', () => (closed = true));
      endless(request, response);
    });
    const controller = new AbortController();
    const result = await made.fetcher.open(orderFor(made.url, { limits: STREAM, signal: controller.signal }));
    assert.ok(result.ok);
    controller.abort();
    await assert.rejects(textOf(result.response.body));
    await until(() => closed);
    assert.ok(await roomAgain(made));
  });
  test('when its reader leaves in the middle', async (t) => {
    const made = await origin(t, endless);
    const result = await made.fetcher.open(orderFor(made.url, { limits: STREAM }));
    assert.ok(result.ok);
    for await (const _ of result.response.body) break;
    assert.ok(await roomAgain(made));
    await until(() => made.clock.pending() === 0);
  });
  test('when nothing moves for too long, read or not', async (t) => {
    const made = await origin(t, endless);
    const result = await made.fetcher.open(orderFor(made.url, { limits: STREAM }));
    assert.ok(result.ok);
    made.clock.advance(60_000);
    await assert.rejects(textOf(result.response.body), /origin-timeout/);
    assert.ok(await roomAgain(made));
  });
  test('when the origin breaks off: the reader learns it', async (t) => {
    const made = await origin(t, (_request, response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('x');
      setImmediate(() => response.destroy());
    });
    const result = await made.fetcher.open(orderFor(made.url, { limits: STREAM }));
    assert.ok(result.ok);
    await assert.rejects(textOf(result.response.body), /origin-unreachable/);
  });
  for (const [name, method, status] of [
    ['HEAD', 'HEAD', 200],
    ['204', 'GET', 204],
    ['304', 'GET', 304],
  ] as const) {
    test(`by itself where there is no body (${name}), even if nobody reads`, async (t) => {
      const made = await origin(t, (_request, response) => response.writeHead(status).end());
      for (let turn = 0; turn < 4; turn += 1) {
        const result = await made.fetcher.open(orderFor(made.url, { method, limits: STREAM }));
        assert.ok(result.ok);
        assert.equal(result.response.status, status);
      }
      await until(() => made.clock.pending() === 0);
    });
  }
  test('when the client leaves in the middle of its body: the origin does not take it for the whole', async (t) => {
    let whole = false;
    const made = await origin(t, (request, response) => {
      request
        .on('error', () => {})
        .resume()
        .on('end', () => {
          whole = true;
          response.end();
        });
    });
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      throw new Error('ECONNRESET');
    };
    const result = await made.fetcher.open(orderFor(made.url, { method: 'POST', body: broken(), limits: STREAM }));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'bad-request');
    assert.equal(whole, false);
  });
});
