import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  END_HEADERS,
  END_STREAM,
  PREFACE,
  TYPE,
  errorOf,
  fieldBlock,
  frame,
  getLines,
  indexedBlock,
  isAnswered,
  request,
  uint32,
} from '../support/http2-frames.ts';
import { type Listening, answer, ask2, listening } from '../support/listening.ts';
import type { RawSocket } from '../support/raw-socket.ts';

const NO_ERROR = 0;

/** HTTP/2 cases of the attack table: what no library would send, and that nobody else is hurt by it. */
describe('attack table: HTTP/2 with prior knowledge', { timeout: 60_000 }, () => {
  let on: Listening;
  before(async () => {
    on = await listening(({ target }) =>
      target === '/slow' ? new Promise((resolve) => setImmediate(() => resolve(answer(200)))) : answer(200, target),
    );
  });
  after(() => on.close());

  /** A connection past its preface. */
  const open = async (): Promise<RawSocket> => {
    const socket = await on.connect();
    await socket.send(Buffer.concat([Buffer.from(PREFACE), frame(TYPE.settings, 0, 0)]));
    return socket;
  };
  const healthy = async (): Promise<void> => {
    const session = on.session();
    assert.equal((await ask2(session, { ':path': '/healthy' })).body, '/healthy');
    session.close();
  };
  /** Sends what must end the connection, in pieces, and waits for that end. */
  const ends = async (socket: RawSocket, pieces: Iterable<Buffer>): Promise<void> => {
    for (const piece of pieces) {
      if (socket.end !== 'open') break;
      await socket.send(piece);
    }
    await socket.ended();
    await healthy();
  };
  const refusesStream = async (lines: readonly (readonly [string, string])[]): Promise<void> => {
    const socket = await open();
    const asks = on.asks.length;
    await socket.send(request(1, lines));
    await socket.until(() => errorOf(socket, 1) !== undefined || errorOf(socket, 0) !== undefined);
    assert.ok(!isAnswered(socket, 1));
    assert.equal(on.asks.length, asks);
    socket.close();
    await healthy();
  };
  const status = async (more: Readonly<Record<string, string>>): Promise<number> => {
    const { ':authority': authority, ...rest } = more;
    const got = await ask2(on.session(), { ...rest, ...(authority === undefined ? {} : { ':authority': authority }) });
    return got.status;
  };

  test('HTTP-H2-1 rapid reset', async () => {
    const socket = await open();
    const asks = on.asks.length;
    const cancel = Buffer.concat([uint32(8)]);
    await ends(
      socket,
      Array.from({ length: 5_000 }, (_, at) =>
        Buffer.concat([request(2 * at + 1), frame(TYPE.reset, 0, 2 * at + 1, cancel)]),
      ),
    );
    assert.ok(on.asks.length - asks < 4_000, `${on.asks.length - asks} requests were started`);
  });

  test('HTTP-H2-3 CONTINUATION flood', async () => {
    const socket = await open();
    const some = fieldBlock([['x', 'y']]);
    await ends(socket, [
      frame(TYPE.headers, END_STREAM, 1, fieldBlock(getLines())),
      ...Array.from({ length: 1_000 }, () => frame(TYPE.continuation, 0, 1, some)),
    ]);
    assert.ok(!isAnswered(socket, 1));
  });

  test('HTTP-H2-5 SETTINGS flood', async () => {
    const flood = Buffer.concat(Array.from({ length: 200 }, () => frame(TYPE.settings, 0, 0)));
    await ends(
      await open(),
      Array.from({ length: 100 }, () => flood),
    );
  });

  test('PING flood', async () => {
    const flood = Buffer.concat(Array.from({ length: 200 }, () => frame(TYPE.ping, 0, 0, '12345678')));
    await ends(
      await open(),
      Array.from({ length: 100 }, () => flood),
    );
  });

  test('HTTP-H2-7 empty DATA flood', async () => {
    const socket = await open();
    await socket.send(request(1, getLines({ ':method': 'POST' }), END_HEADERS));
    const flood = Buffer.concat(Array.from({ length: 200 }, () => frame(TYPE.data, 0, 1)));
    await ends(
      socket,
      Array.from({ length: 100 }, () => flood),
    );
  });

  test('HTTP-H2-9 window overflow on stream 0', async () => {
    for (let times = 0; times < 50; times += 1) {
      const socket = await open();
      await ends(socket, [
        frame(TYPE.window, 0, 0, uint32(2 ** 31 - 1)),
        frame(TYPE.window, 0, 0, uint32(2 ** 31 - 1)),
      ]);
      assert.notEqual(errorOf(socket, 0) ?? -1, NO_ERROR);
    }
  });

  test('HTTP-H2-11 huge header list', async () => {
    const socket = await open();
    const asks = on.asks.length;
    const lines = Array.from({ length: 7 }, (_, at) => [`x-${at}`, 'a'.repeat(15_000)] as const);
    const block = fieldBlock([...getLines(), ...lines]);
    const [first, ...rest] = Array.from({ length: Math.ceil(block.length / 16_000) }, (_, at) =>
      block.subarray(at * 16_000, (at + 1) * 16_000),
    );
    await socket.send(frame(TYPE.headers, END_STREAM, 1, first));
    for (const [at, piece] of rest.entries()) {
      await socket.send(frame(TYPE.continuation, at === rest.length - 1 ? END_HEADERS : 0, 1, piece));
    }
    await socket.until(() => [0, 1].some((stream) => errorOf(socket, stream) !== undefined) || isAnswered(socket, 1));
    assert.equal(on.asks.length, asks);
    await healthy();
  });

  test('fields beyond the limits of HTTP/1.1 are refused here too', async () => {
    const socket = await open();
    const asks = on.asks.length;
    await socket.send(request(1, [...getLines(), ...Array.from({ length: 200 }, () => ['a', 'b'] as const)]));
    await socket.until(() => [0, 1].some((stream) => errorOf(socket, stream) !== undefined) || isAnswered(socket, 1));
    assert.equal(on.asks.length, asks);
  });

  test('HTTP-H2-13 :authority and host differ', async () => {
    assert.equal(await status({ ':authority': 'localhost', host: 'evil.test' }), 400);
    assert.equal(await status({ ':authority': 'evil.test', host: 'evil.test' }), 421);
    assert.equal(await status({ ':authority': 'localhost', host: 'localhost' }), 200);
  });

  test('HTTP-H2-15 odd :scheme', async () => {
    assert.equal(await status({ ':scheme': 'file' }), 400);
    assert.equal(await status({ ':scheme': 'https' }), 200);
  });

  test('HTTP-H2-17 :path absolute, empty, with space or CRLF', async () => {
    for (const path of ['', 'http://localhost/x', 'x', '/a b', '/a\r\nb', '/a\0']) {
      const socket = await open();
      const asks = on.asks.length;
      await socket.send(request(1, getLines({ ':path': path })));
      await socket.until(() => [0, 1].some((stream) => errorOf(socket, stream) !== undefined) || isAnswered(socket, 1));
      assert.equal(on.asks.length, asks, JSON.stringify(path));
      socket.close();
    }
    await healthy();
  });

  for (const [name, value] of [
    ['Upper', 'x'],
    ['connection', 'close'],
    ['te', 'gzip'],
    ['transfer-encoding', 'chunked'],
    ['keep-alive', '1'],
  ] as const) {
    test(`HTTP-H2-19 field ${name}`, () => refusesStream([...getLines(), [name, value]]));
  }

  test('HTTP-H2-21 invalid header silently dropped', async () => {
    for (const value of ['a\r\nb', 'a\0b', 'Bearer x\n']) {
      const socket = await open();
      const asks = on.asks.length;
      await socket.send(request(1, [...getLines(), ['authorization', value]]));
      await socket.until(
        () => errorOf(socket, 1) !== undefined || isAnswered(socket, 1) || errorOf(socket, 0) !== undefined,
      );
      // Without the bad part or with it cut down, it would be another credential.
      const seen = on.asks.slice(asks).map((ask) => ask.field('authorization'));
      assert.ok(
        seen.every((each) => each === undefined),
        JSON.stringify(seen),
      );
      socket.close();
    }
  });

  test('HTTP-H2-23 content-length mismatch', async () => {
    const socket = await open();
    await socket.send(request(1, getLines({ ':method': 'POST', 'content-length': '10' }), END_HEADERS));
    await socket.send(frame(TYPE.data, END_STREAM, 1, 'abc'));
    await socket.until(() => errorOf(socket, 1) !== undefined || errorOf(socket, 0) !== undefined);
    socket.close();
    await healthy();
  });

  test('HTTP-H2-25 HTTP/1 bytes on the h2c port', async () => {
    const socket = await on.connect();
    await socket.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    assert.equal((await socket.responses(1))[0]?.status, 200);
    const mixed = await open();
    await mixed.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await mixed.ended();
    assert.notEqual(errorOf(mixed, 0) ?? -1, NO_ERROR);
    await healthy();
  });

  test('HTTP-H2-27 stream closed while the upstream answers', async () => {
    const socket = await open();
    for (let at = 0; at < 50; at += 1) {
      await socket.send(request(2 * at + 1, getLines({ ':path': '/slow' })));
      await socket.send(frame(TYPE.reset, 0, 2 * at + 1, uint32(8)));
    }
    await socket.send(request(101, getLines({ ':path': '/last' })));
    await socket.until(() => isAnswered(socket, 101));
    socket.leave();
    await healthy();
  });

  test('HTTP-H2-29 HPACK table churn', async () => {
    const socket = await open();
    for (let at = 0; at < 200; at += 1) {
      const lines = Array.from({ length: 40 }, (_, index) => [`x-${at}-${index}`, 'v'.repeat(100)] as const);
      await socket.send(
        frame(TYPE.headers, END_STREAM | END_HEADERS, 2 * at + 1, indexedBlock([...getLines(), ...lines])),
      );
      await socket.until(() => isAnswered(socket, 2 * at + 1));
      assert.equal(socket.end, 'open');
    }
    await healthy();
  });

  test('a session says how much it takes', async () => {
    const session = on.session();
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    const { maxConcurrentStreams, maxHeaderListSize } = session.remoteSettings;
    assert.deepEqual([maxConcurrentStreams, maxHeaderListSize], [128, 16 * 1024]);
    session.close();
  });
});
