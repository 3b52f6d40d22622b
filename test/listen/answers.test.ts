import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { after, describe, test } from 'node:test';
import type { Answer } from '../../src/kernel/answer.ts';
import { type Listening, answer, ask2, listening } from '../support/listening.ts';
import { type RawResponse, parseResponses } from '../support/raw-socket.ts';

const open: Listening[] = [];
after(() => Promise.all(open.map((each) => each.close())));

async function serving(handle: () => Answer, limits: Parameters<typeof listening>[1] = {}): Promise<Listening> {
  const place = await listening(handle, limits);
  open.push(place);
  return place;
}

/** Asks over HTTP/1.1 and reads to the end of the connection. */
async function askOnce(place: Listening): Promise<string> {
  const socket = await place.connect();
  await socket.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await socket.ended();
  return socket.text;
}

async function firstAnswer(place: Listening, method = 'GET'): Promise<RawResponse> {
  const socket = await place.connect();
  await socket.send(`${method} / HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const [first] = await socket.responses(1, method);
  assert.ok(first !== undefined, socket.text);
  return first;
}

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

describe('the length that an answer states', () => {
  const stated = (value: string) => ['Content-Length', value] as const;
  const cases: readonly (readonly [name: string, made: () => Answer, method: string, length: string | undefined])[] = [
    ['of a body that says nothing', () => answer(200, 'abc'), 'GET', '3'],
    ['of a body whose field is too short', () => answer(200, 'abc', stated('2')), 'GET', '3'],
    ['of a body whose field is too long', () => answer(200, 'abc', stated('4')), 'GET', '3'],
    ['of a body whose field is no number', () => answer(200, 'abc', stated('-1')), 'GET', '3'],
    ['of no body', () => answer(200, null, stated('7')), 'GET', '0'],
    ['of HEAD where the body is known', () => answer(200, 'abc'), 'HEAD', '3'],
    ['of HEAD where the origin said it', () => answer(200, null, stated('7')), 'HEAD', '7'],
    ['of HEAD where nobody said it', () => answer(200, null), 'HEAD', undefined],
    [
      'of HEAD where the origin said two things',
      () => answer(200, null, [...stated('7'), ...stated('8')]),
      'HEAD',
      undefined,
    ],
    ['of 204', () => answer(204, 'abc', stated('3')), 'GET', undefined],
    ['of 205', () => answer(205, 'abc'), 'GET', '0'],
    ['of 304', () => answer(304, null, stated('3')), 'GET', undefined],
    ['of a stream that keeps its word', () => answer(200, pieces('a', 'bc'), stated('3')), 'GET', '3'],
    [
      'of a stream that says it twice alike',
      () => answer(200, pieces('abc'), [...stated('3'), ...stated('3')]),
      'GET',
      '3',
    ],
    ['of a stream that says nothing', () => answer(200, pieces('abc')), 'GET', undefined],
  ];
  for (const [name, made, method, length] of cases) {
    test(name, async () => {
      const place = await serving(made);
      const { fields } = await firstAnswer(place, method);
      assert.equal(fields.get('content-length'), length);
      const got = await ask2(place.session(), { ':method': method });
      assert.equal(got.headers['content-length'], length);
      assert.equal(got.error, undefined);
    });
  }
});

describe('an answer that is not whole', () => {
  async function* breaking(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode('half');
    throw new Error('the origin broke');
  }
  const cases: readonly (readonly [name: string, made: () => Answer])[] = [
    ['a source that breaks', () => answer(200, breaking())],
    ['a source shorter than stated', () => answer(200, pieces('half'), ['Content-Length', '5'])],
    ['a source longer than stated', () => answer(200, pieces('ha', 'lf'), ['Content-Length', '3'])],
  ];
  for (const [name, made] of cases) {
    test(`${name} never ends cleanly`, async () => {
      const place = await serving(made);
      const text = await askOnce(place);
      assert.deepEqual(parseResponses(text), [], text);
      const got = await ask2(place.session(), {});
      assert.equal(got.status, 200);
      assert.equal(got.error, 'ERR_HTTP2_STREAM_ERROR');
    });
  }

  test('on HTTP/1.0, where an end means whole, the connection is reset', async () => {
    const place = await serving(() => answer(200, breaking()));
    const socket = await place.connect();
    await socket.send('GET / HTTP/1.0\r\nHost: localhost\r\n\r\n');
    await socket.ended();
    await until(() => socket.end !== 'open');
    assert.equal(socket.end, 'reset');
  });
});

describe('what cannot be said in HTTP', () => {
  const cases: readonly (readonly [name: string, made: () => Answer])[] = [
    ['a line break in a value (HTTP-HDR-13)', () => answer(200, 'x', ['X-A', 'a\r\nX-Evil: 1'])],
    ['a NUL in a value', () => answer(200, 'x', ['X-A', 'a\0b'])],
    ['a character beyond latin-1', () => answer(200, 'x', ['X-A', 'a\u2028b'])],
    ['a space in a name', () => answer(200, 'x', ['X A', 'b'])],
    ['an empty name', () => answer(200, 'x', ['', 'b'])],
    ['an interim status', () => answer(101, 'x')],
    ['status 0', () => answer(0, 'x')],
    ['status 1000', () => answer(1000, 'x')],
  ];
  for (const [name, made] of cases) {
    test(`${name} is an internal problem`, async () => {
      const place = await serving(made);
      const first = await firstAnswer(place);
      assert.equal(first.status, 500);
      assert.equal(JSON.parse(first.body).code, 'internal');
      assert.ok(!first.fields.has('x-evil'));
      const got = await ask2(place.session(), {});
      assert.equal(got.status, 500);
      assert.ok(place.events.some((event) => event.kind === 'request' && event.status === 500));
    });
  }

  test('fields of the origin’s connection stay there (HTTP-HDR-15)', async () => {
    const hop = ['Connection', 'etag', 'Keep-Alive', 'timeout=5', 'Upgrade', 'h2c', 'Trailer', 'X', 'TE', 'gzip'];
    const place = await serving(() => answer(200, 'x', [...hop, 'ETag', '"a"']));
    const { fields } = await firstAnswer(place);
    assert.equal(fields.get('etag'), '"a"');
    for (const name of ['upgrade', 'trailer', 'te']) assert.ok(!fields.has(name), name);
    assert.notEqual(fields.get('connection'), 'etag');
    assert.equal((await ask2(place.session(), {})).status, 200);
  });
});

test('a client that leaves within its own request is no fault of ours, though the handler breaks on it', async () => {
  const place = await listening(async ({ body }) => {
    if (body !== null) for await (const piece of body) assert.equal(piece.length, 3);
    return answer(200);
  });
  open.push(place);
  const socket = await place.connect();
  await socket.send('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nabc');
  await until(() => place.asks.length > 0);
  socket.leave();
  await until(() => place.events.length > 0);
  const stream = place.session().request({ ':method': 'POST', ':path': '/' });
  stream.on('error', () => undefined).write('abc');
  await until(() => place.asks.length > 1);
  stream.close(8);
  await until(() => place.events.length > 1);
  assert.deepEqual(
    place.events.map(({ kind }) => kind),
    ['request', 'request'],
  );
});

test('statuses that nobody registered pass; HTTP/2 gets the largest that it has', async () => {
  for (const status of [299, 499, 599, 600, 999]) {
    const place = await serving(() => answer(status, 'x'));
    assert.equal((await firstAnswer(place)).status, status);
    assert.equal((await ask2(place.session(), {})).status, Math.min(status, 599));
  }
});

describe('a source whose reader is gone', () => {
  test('is let go while it is silent, and the caller’s signal says so', async () => {
    let letGo = false;
    const silent: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => undefined),
        return: async () => {
          letGo = true;
          return { done: true, value: undefined };
        },
      }),
    };
    const place = await serving(() => answer(200, silent));
    const socket = await place.connect();
    await socket.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await socket.until((text) => text.includes('\r\n\r\n'));
    const signal = place.asks[0]?.signal();
    assert.ok(signal !== undefined);
    socket.leave();
    if (!signal.aborted) await once(signal, 'abort');
    await until(() => letGo);
    assert.ok(signal.aborted);
  });

  for (const [name, method, status] of [
    ['HEAD', 'HEAD', 200],
    ['304', 'GET', 304],
    ['an unsayable head', 'GET', 0],
  ] as const) {
    test(`runs its endings where nobody reads it at all: ${name}`, async () => {
      let ended = false;
      async function* body(): AsyncGenerator<Uint8Array> {
        try {
          yield new Uint8Array(1);
        } finally {
          ended = true;
        }
      }
      const place = await serving(() => answer(status, body()));
      await firstAnswer(place, method);
      await until(() => ended);
      assert.ok(ended);
    });
  }

  test('is not read faster than its reader reads', async () => {
    let given = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        given += 1;
        yield new Uint8Array(64 * 1024);
        await turn();
      }
    }
    const place = await serving(() => answer(200, endless()), { writeTimeout: 200 });
    const socket = await place.connect();
    socket.pause();
    await socket.send('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await settledCount(() => given);
    // The system's own buffers take some; a few hundred pieces would mean that nothing holds the source back.
    assert.ok(given < 300, `${given} pieces were read`);
    socket.close();
  });
});

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await turn();
}

/** Waits until a count no longer moves over many turns of the loop. */
async function settledCount(count: () => number): Promise<void> {
  for (let last = -1, still = 0; still < 2_000; still = count() === last ? still + 1 : 0) {
    last = count();
    await turn();
  }
}
