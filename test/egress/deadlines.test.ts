import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { type TestContext, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ms } from '../../src/kernel/units.ts';
import { startRawOrigin } from '../support/origin-server.ts';
import { type ManualClock, manualClock, orderFor, rig } from './harness.ts';

async function raw(t: TestContext, speak: (socket: Socket, count: number) => void, clock = manualClock()) {
  const server = await startRawOrigin(speak);
  const made = { ...rig({ clock }), clock };
  t.after(() => made.fetcher.close());
  t.after(() => server.close());
  return { ...made, server, url: `${server.url}/card` };
}

/** Waits for something that a socket does, by turns of the event loop. */
async function until(done: () => boolean): Promise<void> {
  while (!done()) await new Promise(setImmediate);
}

/** One byte a second, as long as somebody listens. */
const dripping = (clock: ManualClock, text: string) => (socket: Socket) => {
  socket.write(text);
  const drip = (): void => {
    if (!socket.destroyed) socket.write('x', () => setImmediate(() => clock.advance(1_000)));
    if (!socket.destroyed) setImmediate(drip);
  };
  drip();
};

describe('an exchange ends', () => {
  test('one byte a second ends at the total deadline, though it never falls silent', async (t) => {
    const clock = manualClock();
    const made = await raw(t, dripping(clock, 'HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n'), clock);
    const result = await made.fetcher.fetch(orderFor(made.url, { limits: { total: ms(10_000), idle: ms(5_000) } }));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'origin-timeout');
    assert.match(result.refusal.detail, /10000 ms/);
    assert.equal(made.clock.pending(), 0);
  });
  test('headers that never end: the same deadline', async (t) => {
    const { fetcher, clock, url, server } = await raw(t, (socket) => void socket.write('HTTP/1.1 200 OK\r\nX-Slow: '));
    const pending = fetcher.fetch(orderFor(url));
    await until(() => server.asked.length === 1);
    clock.advance(10_000);
    const result = await pending;
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'origin-timeout');
  });
  test('silence in a body: the idle limit, to the millisecond', async (t) => {
    const { fetcher, clock, url } = await raw(
      t,
      (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'),
    );
    const pending = fetcher.fetch(orderFor(url, { limits: { total: ms(0), idle: ms(5_000) } }));
    await until(() => clock.pending() === 1);
    let over = false;
    void pending.then(() => (over = true));
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    clock.advance(4_999);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    assert.equal(over, false);
    clock.advance(1);
    const result = await pending;
    assert.ok(!result.ok);
    assert.match(result.refusal.detail, /nothing moved for 5000 ms/);
  });
  test('the caller leaves: nothing goes on', async (t) => {
    const controller = new AbortController();
    let closed = false;
    const { fetcher, clock, url, server } = await raw(t, (socket) => void socket.once('close', () => (closed = true)));
    const pending = fetcher.fetch(orderFor(url, { signal: controller.signal }));
    await until(() => server.asked.length === 1);
    controller.abort();
    assert.equal((await pending).ok, false);
    await until(() => closed);
    assert.equal(clock.pending(), 0);
  });
});

describe('what an origin may write', () => {
  const head = (...lines: readonly string[]): string => `${['HTTP/1.1 200 OK', ...lines].join('\r\n')}\r\n\r\n`;
  const fields = (count: number): string[] => Array.from({ length: count }, (_, at) => `x${at}: y`);
  const REFUSED: Readonly<Record<string, readonly [string | Buffer, string]>> = {
    'five gigabytes of HTML, declared': [
      `${head('Content-Type: text/html', 'Content-Length: 5368709120')}<html>`,
      'card-too-large',
    ],
    'more than the bound, in chunks': [
      `${head('Transfer-Encoding: chunked')}20000\r\n${'x'.repeat(0x20000)}\r\n`,
      'card-too-large',
    ],
    'one byte over the bound': [`${head('Content-Length: 65537')}${'x'.repeat(65_537)}`, 'card-too-large'],
    'less than it declares': [`${head('Content-Length: 10')}abc`, 'origin-unreachable'],
    'HTTP-UP-4 chunked without a last chunk': [
      `${head('Transfer-Encoding: chunked')}3\r\nabc\r\n`,
      'origin-unreachable',
    ],
    'HTTP-UP-6 Content-Length and chunked': [
      `${head('Content-Length: 3', 'Transfer-Encoding: chunked')}3\r\nabc\r\n0\r\n\r\n`,
      'origin-unreachable',
    ],
    'two Content-Lengths': [`${head('Content-Length: 3', 'Content-Length: 4')}abcd`, 'origin-unreachable'],
    'HTTP-UP-8 an unknown transfer coding': [
      `${head('Transfer-Encoding: gzip, chunked, gzip')}abc`,
      'origin-unreachable',
    ],
    'HTTP-UP-10 a NUL in a field': [`${head('X: a\0b', 'Content-Length: 2')}{}`, 'origin-unreachable'],
    'HTTP-UP-10 a bare CR in a field': [`${head('X: a\rb', 'Content-Length: 2')}{}`, 'origin-unreachable'],
    'HTTP-UP-12 no status line': ['{"a":1}', 'origin-unreachable'],
    'HTTP-UP-14 101 that nobody asked for': [
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      'origin-unreachable',
    ],
    'HTTP-UP-22 three thousand fields': [`${head(...fields(3_000), 'Content-Length: 2')}{}`, 'origin-unreachable'],
    'one field line too many': [`${head(...fields(512), 'Content-Length: 2')}{}`, 'origin-unreachable'],
    'a header section of 70 KB': [`${head(`X: ${'y'.repeat(70_000)}`, 'Content-Length: 2')}{}`, 'origin-unreachable'],
    'stacked codings': [`${head('Content-Encoding: gzip, gzip', 'Content-Length: 2')}{}`, 'card-content-type'],
    'stacked codings on two lines': [
      `${head('Content-Encoding: gzip', 'Content-Encoding: br', 'Content-Length: 2')}{}`,
      'card-content-type',
    ],
    'zstd that was not asked for': [`${head('Content-Encoding: zstd', 'Content-Length: 2')}{}`, 'card-content-type'],
    'gzip that is none': [`${head('Content-Encoding: gzip', 'Content-Length: 2')}{}`, 'origin-unreachable'],
    'gzip cut short': [
      Buffer.concat([
        Buffer.from(head('Content-Encoding: gzip', 'Connection: close')),
        gzipSync('{"a":1}').subarray(0, 20),
      ]),
      'origin-unreachable',
    ],
    'brotli that is none': [`${head('Content-Encoding: br', 'Content-Length: 6')}abcdef`, 'origin-unreachable'],
    'nothing at all': ['', 'origin-unreachable'],
  };
  for (const [name, [text, code]] of Object.entries(REFUSED)) {
    test(`${name}: ${code}`, async (t) => {
      const { fetcher, url, server } = await raw(t, (socket) => void socket.end(text));
      const result = await fetcher.fetch(orderFor(url));
      assert.ok(!result.ok);
      assert.equal(result.refusal.code, code, result.refusal.detail);
      assert.ok(result.refusal.detail.includes(server.url), result.refusal.detail);
    });
  }

  const TAKEN: Readonly<Record<string, readonly [string, number, string]>> = {
    'exactly the bound': [`${head('Content-Length: 65536')}${'x'.repeat(65_536)}`, 200, 'x'.repeat(65_536)],
    'trailers, which are ignored': [
      `${head('Transfer-Encoding: chunked', 'Trailer: X-T')}2\r\n{}\r\n0\r\nX-T: evil\r\n\r\n`,
      200,
      '{}',
    ],
    'a body that ends with the connection': [`${head('Connection: close')}{}`, 200, '{}'],
    'interim answers before the real one': [
      `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${head('Content-Length: 2')}{}`,
      200,
      '{}',
    ],
    'HTTP-UP-16 304 with a body, which is ignored': [
      'HTTP/1.1 304 Not Modified\r\nETag: "e"\r\nContent-Length: 3\r\n\r\nabc',
      304,
      '',
    ],
    'HTTP-UP-16 204 with a body, which is ignored': [
      'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc',
      204,
      '',
    ],
    'HTTP-UP-24 __proto__ as a field name': [
      `${head('__proto__: x', 'constructor: y', 'Content-Length: 2')}{}`,
      200,
      '{}',
    ],
    'an empty body with a coding': [head('Content-Encoding: gzip', 'Content-Length: 0'), 200, ''],
    'an error page beyond the bound: the status is kept': [
      `HTTP/1.1 503 Down\r\nContent-Length: 99999999\r\n\r\nabc`,
      503,
      '',
    ],
    'an error page in a strange coding: the status is kept': [
      'HTTP/1.1 500 No\r\nContent-Encoding: zstd\r\nContent-Length: 3\r\n\r\nabc',
      500,
      '',
    ],
    'a status of its own': ['HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\n{}', 999, '{}'],
  };
  for (const [name, [text, status, body]] of Object.entries(TAKEN)) {
    test(name, async (t) => {
      const { fetcher, url } = await raw(t, (socket) => void socket.end(text));
      const result = await fetcher.fetch(orderFor(url));
      assert.ok(result.ok, JSON.stringify(result));
      assert.equal(result.response.status, status);
      assert.equal(Buffer.from(result.response.body).toString(), body);
      assert.equal(Object.getPrototypeOf({}), Object.prototype);
    });
  }

  test('HTTP-UP-2 bytes beyond Content-Length are never part of the next answer', async (t) => {
    const { fetcher, url, server } = await raw(t, (socket, count) => {
      socket.write(
        `${head('Content-Length: 2')}{}${count === 1 ? 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON' : ''}`,
      );
    });
    for (const turn of [1, 2]) {
      const result = await fetcher.fetch(orderFor(url));
      assert.ok(result.ok, `turn ${turn}`);
      assert.equal(Buffer.from(result.response.body).toString(), '{}');
    }
    assert.equal(server.connections(), 2);
  });
  test('HTTP-UP-18 HTTP-UP-20 an answer that nobody asked for ends the kept connection', async (t) => {
    const sockets: Socket[] = [];
    const { fetcher, url, server } = await raw(t, (socket) => {
      sockets.push(socket);
      socket.write(`${head('Content-Length: 2')}{}`);
    });
    await fetcher.fetch(orderFor(url));
    sockets[0]?.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON');
    await until(() => sockets[0]?.destroyed === true || sockets[0]?.readableEnded === true);
    const result = await fetcher.fetch(orderFor(url));
    assert.ok(result.ok);
    assert.equal(Buffer.from(result.response.body).toString(), '{}');
    assert.equal(server.connections(), 2);
  });
});
