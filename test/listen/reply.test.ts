import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { Readable } from 'node:stream';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Answer } from '../../src/kernel/answer.ts';
import type { Event } from '../../src/kernel/event.ts';
import type { Fields } from '../../src/kernel/fields.ts';
import { tag } from '../../src/kernel/ids.ts';
import { type Listening, answer, ask2, listening } from '../support/listening.ts';
import type { RawResponse } from '../support/raw-socket.ts';

type Make = () => Answer | Promise<Answer>;

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

/** How answers are written, in both protocols. */
describe('answers on the wire', { timeout: 60_000 }, () => {
  let on: Listening;
  let make: Make = () => answer(200);
  before(async () => {
    on = await listening(() => make());
  });
  beforeEach(() => void on.events.splice(0));
  after(() => on.close());

  const ask1 = async (made: Make, method = 'GET', version = '1.1'): Promise<RawResponse & { end: string }> => {
    make = made;
    const socket = await on.connect();
    await socket.send(`${method} / HTTP/${version}\r\nHost: localhost\r\n\r\n`);
    const [response] = await socket.responses(1, method);
    assert.ok(response !== undefined, socket.text);
    return { ...response, end: socket.end };
  };
  const two = (made: Make, method = 'GET') => {
    make = made;
    return ask2(on.session(), { ':method': method });
  };
  const notices = (): readonly Event[] => on.events.filter(({ kind }) => kind === 'notice');

  test('are being written until the client has them, and not any longer', async () => {
    const tags = [tag('agent:a')];
    await two(() => ({ ...answer(200), tags }));
    while (on.listener.count(tag('agent:a')) > 0) await new Promise((resolve) => void setImmediate(resolve));
  });
  const told = async (): Promise<Event | undefined> => {
    while (!on.events.some(({ kind }) => kind === 'request')) await new Promise((resolve) => setImmediate(resolve));
    return on.events.find(({ kind }) => kind === 'request');
  };

  const bodies: readonly (readonly [string, Make, method: string, body: string, length: string | undefined])[] = [
    ['bytes', () => answer(200, 'hello'), 'GET', 'hello', '5'],
    ['no bytes', () => answer(200, ''), 'GET', '', '0'],
    ['nothing', () => answer(200, null), 'GET', '', '0'],
    ['a stream', () => answer(200, pieces('a', 'b')), 'GET', 'ab', undefined],
    ['a stream of known length', () => answer(200, pieces('a', 'b'), ['Content-Length', '2']), 'GET', 'ab', '2'],
    ['bytes for HEAD', () => answer(200, 'hello'), 'HEAD', '', '5'],
    ['nothing for HEAD', () => answer(200, null), 'HEAD', '', undefined],
    ['a stream for HEAD', () => answer(200, pieces('a')), 'HEAD', '', undefined],
    ['a length for HEAD', () => answer(200, null, ['Content-Length', '7']), 'HEAD', '', '7'],
    ['bytes for 304', () => answer(304, 'hello'), 'GET', '', undefined],
    ['a length for 304', () => answer(304, null, ['Content-Length', '5']), 'GET', '', undefined],
    ['bytes for 204', () => answer(204, 'hello'), 'GET', '', undefined],
    ['a later answer', async () => answer(200, 'late'), 'GET', 'late', '4'],
  ];
  for (const [what, made, method, body, length] of bodies) {
    test(`${what}: the body and its length`, async () => {
      const one = await ask1(made, method);
      assert.deepEqual([one.body, one.fields.get('content-length')], [body, length]);
      assert.equal(one.end, 'open');
      const other = await two(made, method);
      assert.deepEqual([other.body, other.headers['content-length'], other.error], [body, length, undefined]);
      assert.equal(other.status, one.status);
    });
  }

  test('a long body is whole, over each protocol', async () => {
    const long = 'abc'.repeat(300_000);
    assert.equal((await ask1(() => answer(200, long))).body, long);
    assert.equal((await two(() => answer(200, long))).body, long);
  });

  for (const status of [200, 299, 404, 499, 599]) {
    test(`status ${status} passes`, async () => {
      assert.equal((await ask1(() => answer(status))).status, status);
      assert.equal((await two(() => answer(status))).status, status);
    });
  }
  for (const status of [600, 999]) {
    test(`status ${status} passes on HTTP/1 and is 599 on HTTP/2, which has no more`, async () => {
      assert.equal((await ask1(() => answer(status))).status, status);
      assert.equal((await two(() => answer(status))).status, 599);
    });
  }

  test('lines that repeat pass in their order, save where HTTP/2 may have one only', async () => {
    const fields: Fields = ['X-A', '1', 'Set-Cookie', 'a', 'x-a', '2', 'Set-Cookie', 'b', 'ETag', '"1"', 'ETag', '"2"'];
    const { fields: one } = await ask1(() => answer(200, '', fields));
    assert.deepEqual([one.get('x-a'), one.get('set-cookie'), one.get('etag')], ['1, 2', 'a, b', '"1", "2"']);
    const { headers } = await two(() => answer(200, '', fields));
    assert.deepEqual([headers['x-a'], headers['set-cookie'], headers.etag], ['1, 2', ['a', 'b'], '"1"']);
  });

  test('no field that an origin may repeat breaks HTTP/2', async () => {
    const names = `age content-type content-language content-encoding content-location content-range date etag expires
      last-modified location retry-after server vary via warning link allow accept-ranges cache-control www-authenticate
      proxy-authenticate x-content-type-options strict-transport-security access-control-max-age dnt tk host referer
      user-agent authorization range from max-forwards if-match if-none-match`.split(/\s+/);
    for (const name of names) {
      const got = await two(() => answer(200, 'x', [name, 'a', name, 'b']));
      assert.equal(got.status, 200, name);
    }
  });

  test('HTTP-HDR-15 upstream hop-by-hop and odd fields', async () => {
    const hop: Fields = [
      'Connection',
      'X-Gone',
      'Keep-Alive',
      'timeout=1',
      'Transfer-Encoding',
      'gzip',
      'Upgrade',
      'h2',
    ];
    const more: Fields = ['Proxy-Connection', 'close', 'TE', 'x', 'Trailer', 'X', 'HTTP2-Settings', 'AA'];
    const { fields } = await ask1(() => answer(200, 'x', [...hop, ...more, '__proto__', 'p', 'constructor', 'c']));
    assert.equal(fields.get('connection'), 'keep-alive');
    for (const name of ['upgrade', 'transfer-encoding', 'proxy-connection', 'te', 'trailer', 'http2-settings']) {
      assert.equal(fields.get(name), undefined, name);
    }
    const got = await two(() => answer(200, 'x', [...hop, ...more, '__proto__', 'p', 'constructor', 'c']));
    assert.deepEqual([got.status, got.body, got.headers['constructor']], [200, 'x', 'c']);
  });

  test('HTTP-HDR-13 header value with CR/LF from data', async () => {
    for (const bad of [
      ['X', 'a\r\nSet-Cookie: b'],
      ['X\r\nY', 'a'],
      ['X', 'a\0'],
      ['X', '☃'],
      ['', 'a'],
    ] as const) {
      for (const got of [await ask1(() => answer(200, 'secret', bad)), await two(() => answer(200, 'secret', bad))]) {
        assert.equal(got.status, 500, JSON.stringify(bad));
        assert.equal(JSON.parse(got.body).code, 'internal');
        assert.doesNotMatch(got.body, /secret|Set-Cookie/);
      }
    }
    assert.ok(notices().length >= 10);
    assert.doesNotMatch(JSON.stringify(on.events), /Set-Cookie|☃/);
  });

  for (const status of [0, 99, 1_000, 200.5, Number.NaN]) {
    test(`status ${status} is a bug of ours, not a crash`, async () => {
      assert.equal((await ask1(() => answer(status))).status, 500);
      assert.ok([500, 599, 200].includes((await two(() => answer(status))).status));
    });
  }

  test('Date is supplied where it is absent', async () => {
    assert.ok(Date.parse((await ask1(() => answer(200))).fields.get('date') ?? '') > 0);
    assert.ok(Date.parse(String((await two(() => answer(200))).headers.date)) > 0);
    const own: Fields = ['date', 'Sun, 06 Nov 1994 08:49:37 GMT'];
    assert.equal((await ask1(() => answer(200, '', own))).fields.get('date'), own[1]);
    assert.equal((await two(() => answer(200, '', own))).headers.date, own[1]);
  });

  test('a handler that throws or rejects is an internal problem, and its message goes nowhere', async () => {
    const throws: readonly Make[] = [
      () => {
        throw new Error('Bearer secret');
      },
      () => Promise.reject(new Error('Bearer secret')),
      // oxlint-disable-next-line typescript/only-throw-error, typescript/prefer-promise-reject-errors
      () => Promise.reject('Bearer secret'),
    ];
    for (const made of throws) {
      assert.equal((await ask1(made)).status, 500);
      assert.equal((await two(made)).status, 500);
    }
    assert.equal(notices().length, 6);
    assert.doesNotMatch(JSON.stringify(on.events), /secret/);
    assert.match(JSON.stringify(notices()[0]), /reply\.test\.ts/);
  });

  test('every request is told of once, with its status and time', async () => {
    make = async () => {
      await on.clock.advance(25);
      return answer(404, 'x');
    };
    const socket = await on.connect();
    await socket.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await socket.responses(1);
    assert.deepEqual(on.events, [
      { kind: 'request', listener: 'agents', method: 'GET', status: 404, trace: answer(200).trace, took: 25 },
    ]);
  });

  describe('a body that breaks', () => {
    async function* breaks(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      // By now the client has it: nothing waits to be written that a reset would overtake.
      for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
      throw new Error('the origin left');
    }
    const broken: readonly (readonly [string, Make])[] = [
      ['its source fails', () => answer(200, breaks())],
      ['its source fails, with a length', () => answer(200, breaks(), ['Content-Length', '10'])],
      ['it is shorter than stated', () => answer(200, pieces('half'), ['Content-Length', '10'])],
      ['it is longer than stated', () => answer(200, pieces('half', 'more'), ['Content-Length', '5'])],
      ['its source fails before the first byte', () => answer(200, failing())],
    ];
    for (const [how, made] of broken) {
      test(`never looks whole: ${how}`, async () => {
        make = made;
        const socket = await on.connect();
        await socket.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
        await socket.ended();
        assert.match(socket.text, /^(?:HTTP\/1\.1 200 [^]*)?$/);
        assert.doesNotMatch(socket.text, /\r\n0\r\n\r\n$/);
        assert.doesNotMatch(socket.text, /more/);
        await told();
        const got = await two(made);
        assert.equal(got.error, 'ERR_HTTP2_STREAM_ERROR');
      });
    }
    test('on HTTP/1.0, where the end of the connection is the end of the body, resets it', async () => {
      make = () => answer(200, breaks());
      const socket = await on.connect();
      await socket.send('GET / HTTP/1.0\r\nHost: localhost\r\n\r\n');
      await socket.ended();
      assert.equal(socket.end, 'reset');
    });
  });

  describe('a client that leaves in the middle', () => {
    /** A source that never ends, and whether it was let go. */
    const endless = (): { body: AsyncGenerator<Uint8Array>; freed: Promise<void> } => {
      const { promise: freed, resolve } = Promise.withResolvers<void>();
      async function* run(): AsyncGenerator<Uint8Array> {
        try {
          for (;;) {
            yield Buffer.alloc(64 * 1024);
            await new Promise((next) => setImmediate(next));
          }
        } finally {
          resolve();
        }
      }
      return { body: run(), freed };
    };

    test('frees what stands behind the body, over HTTP/1', async () => {
      const { body, freed } = endless();
      make = () => answer(200, body);
      const socket = await on.connect();
      await socket.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await socket.until((text) => text.length > 100_000);
      socket.leave();
      await freed;
      await told();
      assert.deepEqual(notices(), []);
    });

    test('and over HTTP/2', async () => {
      const { body, freed } = endless();
      make = () => answer(200, body);
      const stream = on.session().request({ ':path': '/' });
      stream.on('error', () => undefined);
      await once(stream, 'data');
      stream.close(8);
      await freed;
      await told();
    });

    test('destroys a Node stream that is silent', async () => {
      const body = new Readable({ read: () => undefined });
      body.push('first');
      make = () => answer(200, body);
      const socket = await on.connect();
      await socket.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await socket.until((text) => text.includes('first'));
      socket.leave();
      await once(body, 'close');
    });

    test('aborts the signal of its Ask, and only then', async () => {
      const aborted = Promise.withResolvers<void>();
      const held = Promise.withResolvers<Answer>();
      make = () => {
        on.asks
          .at(-1)
          ?.signal()
          .addEventListener('abort', () => aborted.resolve());
        return held.promise;
      };
      const socket = await on.connect();
      await socket.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      while (on.asks.at(-1)?.target !== '/') await new Promise((resolve) => setImmediate(resolve));
      socket.leave();
      await aborted.promise;
      const { body, freed } = endless();
      await body.next();
      held.resolve(answer(200, body));
      await freed;
      make = () => answer(200);
      await ask1(make);
      assert.equal(on.asks.at(-1)?.signal().aborted, false);
    });

    test('in the middle of its own body is an error to whoever reads it, and nothing else', async () => {
      const failed = Promise.withResolvers<unknown>();
      make = async () => {
        try {
          for await (const _ of on.asks.at(-1)?.body ?? []);
        } catch (error) {
          failed.resolve(error);
        }
        return answer(200);
      };
      const socket = await on.connect();
      await socket.send('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc');
      while (on.asks.at(-1)?.method !== 'POST') await new Promise((resolve) => setImmediate(resolve));
      socket.leave();
      assert.ok((await failed.promise) instanceof Error);
    });
  });

  test("Node's own client reads it all over one kept connection", async () => {
    make = () => answer(200, pieces('a', 'b', 'c'));
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (let times = 0; times < 20; times += 1) {
      const [response] = await once(http.get({ port: on.port, host: '127.0.0.1', agent }), 'response');
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      assert.equal(Buffer.concat(chunks).toString(), 'abc');
    }
    agent.destroy();
  });
});

const failing = (): Readable =>
  new Readable({
    read() {
      this.destroy(new Error('never began'));
    },
  });
