import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { PREFACE, TYPE, frame, getLines, request } from '../support/http2-frames.ts';
import { type Listening, answer, ask2, listening } from '../support/listening.ts';

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
/** Far beyond every limit below: what ends in time was ended by its limit. */
const FOREVER = { timeout: 30_000 };

const healthy = async (on: Listening): Promise<void> => {
  const socket = await on.connect();
  await socket.send(GET);
  assert.equal((await socket.responses(1))[0]?.status, 200);
  socket.close();
};

/** Limits are tiny here, and what counts is that they end something, not when. */
describe('clients that take their time', FOREVER, () => {
  const opened: Listening[] = [];
  const open = async (...how: Parameters<typeof listening>): Promise<Listening> => {
    const on = await listening(...how);
    opened.push(on);
    return on;
  };
  // A test that fails must not leave its port open: the file would never end.
  afterEach(() => Promise.all(opened.splice(0).map((on) => on.close())));

  test('a connection that says nothing', async () => {
    const on = await open(() => answer(200), { headTimeout: 60 });
    const socket = await on.connect();
    await socket.ended();
    assert.equal(socket.text, '');
  });

  test('HTTP-DOS-1 slow headers', async () => {
    const on = await open(() => answer(200), { headTimeout: 1_000 });
    const slow = await Promise.all(Array.from({ length: 200 }, () => on.connect()));
    for (const socket of slow) await socket.send('GET / HTTP/1.1\r\nHost: local');
    const drip = setInterval(() => {
      for (const socket of slow) if (socket.end === 'open') void socket.send('x');
    }, 20).unref();
    await healthy(on);
    await Promise.all(slow.map((socket) => socket.ended()));
    clearInterval(drip);
    // Who has said nothing at all when the time is up gets no answer: it need not speak HTTP/1.1.
    assert.ok(slow.every(({ text }) => text === '' || text.startsWith('HTTP/1.1 408 ')));
    assert.ok(slow.some(({ text }) => text !== ''));
    assert.equal(on.asks.length, 1);
    await healthy(on);
  });

  test('a preface that drips', async () => {
    const on = await open(() => answer(200), { headTimeout: 100 });
    const socket = await on.connect();
    let at = 0;
    const drip = setInterval(() => void socket.send(PREFACE.charAt(at++ % 14)), 20).unref();
    await socket.ended();
    clearInterval(drip);
  });

  test('a body that drips', async () => {
    const on = await open(
      async ({ body }) => {
        for await (const _ of body ?? []);
        return answer(200);
      },
      { headTimeout: 500, requestTimeout: 500 },
    );
    const socket = await on.connect();
    await socket.send('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n');
    const drip = setInterval(() => void socket.send('x'), 20).unref();
    const [response] = await socket.responses(1);
    assert.equal(response?.status, 408);
    await socket.ended();
    const got = on.session().request({ ':method': 'POST', ':path': '/' });
    const dripTwo = setInterval(() => got.destroyed || got.write('x'), 20).unref();
    const status = await new Promise((resolve) => got.once('response', (head) => resolve(head[':status'])));
    assert.equal(status, 408);
    clearInterval(drip);
    clearInterval(dripTwo);
    got.on('error', () => undefined).destroy();
  });

  test('a kept connection that is idle', async () => {
    const on = await open(() => answer(200), { idleTimeout: 50 });
    const socket = await on.connect();
    await socket.send(GET);
    await socket.responses(1);
    await socket.ended();
    assert.equal(socket.end, 'closed');
  });

  test('a session without a request, whatever else it sends', async () => {
    const on = await open(() => answer(200), { headTimeout: 1_000, idleTimeout: 80, linger: 20 });
    const silent = await on.connect();
    await silent.send(Buffer.concat([Buffer.from(PREFACE), frame(TYPE.settings, 0, 0)]));
    const pinging = await on.connect();
    await pinging.send(Buffer.concat([Buffer.from(PREFACE), frame(TYPE.settings, 0, 0), request(1)]));
    const pings = setInterval(() => void pinging.send(frame(TYPE.ping, 0, 0, '12345678')), 15).unref();
    await Promise.all([silent.ended(), pinging.ended()]);
    clearInterval(pings);
    assert.equal(on.asks.length, 1);
  });

  test('a session whose request takes longer than it may idle', async () => {
    const held = Promise.withResolvers<void>();
    const on = await open(() => held.promise.then(() => answer(200, 'late')), {
      headTimeout: 1_000,
      idleTimeout: 50,
    });
    const got = ask2(on.session(), {});
    setTimeout(held.resolve, 250);
    assert.equal((await got).body, 'late');
  });

  test('a client that ends its side of a session', async () => {
    const on = await open(() => answer(200));
    const socket = await on.connect();
    await socket.send(Buffer.concat([Buffer.from(PREFACE), frame(TYPE.settings, 0, 0), request(1, getLines())]));
    while (on.asks.length === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.finish();
    await socket.ended();
  });

  test('HTTP-DOS-3 slow reader', async () => {
    const long = Buffer.alloc(8 * 1024 * 1024, 'x');
    const on = await open(() => answer(200, long), { writeTimeout: 100 });
    const readers = await Promise.all(Array.from({ length: 8 }, () => on.connect()));
    for (const socket of readers) {
      socket.pause();
      await socket.send(GET);
    }
    // Each is told of once its connection has been given up.
    while (on.events.length < readers.length) await new Promise((resolve) => setTimeout(resolve, 20));
    for (const socket of readers) socket.resume();
    await Promise.all(readers.map((socket) => socket.ended()));
    assert.ok(readers.every(({ text }) => text.length < long.length));
    const session = on.session();
    const stream = session.request({ ':path': '/' });
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => stream.once('error', resolve));
    assert.equal(error.code, 'ERR_HTTP2_STREAM_ERROR');
  });

  test('many short answers that nobody reads', async () => {
    const on = await open(() => answer(200, 'x'.repeat(60_000)), { writeTimeout: 100 });
    const socket = await on.connect();
    socket.pause();
    await socket.send(GET.repeat(200));
    // Nothing tells from outside that the connection was given up until something is read again.
    await new Promise((resolve) => setTimeout(resolve, 500));
    socket.resume();
    await socket.ended();
    assert.ok(socket.text.length < 200 * 60_000);
    await healthy(on);
  });

  test('short answers on streams that take nothing, however many others are taken meanwhile', async () => {
    const on = await open(() => answer(200, 'short'), { writeTimeout: 100 });
    const stalled = on.session();
    stalled.settings({ initialWindowSize: 0 });
    const streams = Array.from({ length: 3 }, () => stalled.request({ ':path': '/' }));
    const errors = streams.map(
      (stream) => new Promise<NodeJS.ErrnoException>((resolve) => stream.once('error', resolve)),
    );
    const taking = on.session();
    for (let turn = 0; turn < 20; turn += 1) assert.equal((await ask2(taking, {})).body, 'short');
    for (const { code } of await Promise.all(errors)) assert.equal(code, 'ERR_HTTP2_STREAM_ERROR');
    assert.equal((await ask2(taking, {})).body, 'short');
  });
});
