import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { END_HEADERS, PREFACE, TYPE, frame } from '../support/http2-frames.ts';
import { RawSocket, parseResponses } from '../support/raw-socket.ts';
import { CARD, CARD_PATH, World } from '../support/world.ts';

/** Random bytes, random cuts and mutations of good requests, random frames: nobody else may be hurt by any of it. */
describe('what random clients do to a daemon', { timeout: 240_000 }, () => {
  const faults: unknown[] = [];
  const keep = (fault: unknown): void => void faults.push(fault);
  let world: World;
  before(async () => {
    process.on('uncaughtException', keep).on('unhandledRejection', keep);
    world = await World.start();
    await world.card();
  });
  after(async () => {
    await world.stop();
    process.off('uncaughtException', keep).off('unhandledRejection', keep);
  });

  /** Sends pieces and leaves in one of three ways; then others are served, and nothing broke. */
  const attack = async (pieces: readonly Uint8Array[], leave: 'finish' | 'leave' | 'close'): Promise<void> => {
    const socket = await RawSocket.connect(Number(new URL(world.base).port));
    for (const piece of pieces) {
      if (socket.end !== 'open') break;
      await socket.send(Buffer.from(piece));
    }
    socket[leave]();
    if (leave === 'finish') await socket.ended();
    socket.close();
    for (const answer of parseResponses(socket.text))
      assert.ok(answer.status >= 200 && answer.status < 510, socket.text);
    assert.equal((await world.card()).body, CARD);
    assert.deepEqual(faults, []);
    assert.deepEqual(world.logged('a request broke'), []);
  };
  const leaving = fc.constantFrom('finish' as const, 'leave' as const, 'close' as const);
  const hold = (pieces: fc.Arbitrary<readonly Uint8Array[]>): Promise<void> =>
    fc.assert(fc.asyncProperty(pieces, leaving, attack), { numRuns: 600 });

  test('random bytes', () => hold(fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { maxLength: 5 })));

  const lines = [
    'Host: localhost',
    'Host: evil',
    'Content-Length: 3',
    'Content-Length: 0',
    'Transfer-Encoding: chunked',
    'Expect: 100-continue',
    'Expect: x',
    'Connection: close',
    'Connection: upgrade',
    'Upgrade: h2c',
    'A2A-Version: 1.0',
    'If-None-Match: *',
    'Via: 1.1 cardea',
    'X:',
  ];
  const heads = fc
    .record({
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'CONNECT', 'TRACE', 'QUERY', 'PRI', 'get', ''),
      target: fc.constantFrom(
        CARD_PATH,
        '/agents',
        '/agents/weather',
        '/problems/',
        '*',
        '//x',
        'http://localhost/agents',
        'x:1',
        '',
      ),
      version: fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.2', ''),
      fields: fc.subarray(lines, { maxLength: 6 }),
      end: fc.constantFrom('\r\n', '\n', '\r'),
      body: fc.constantFrom('', 'abc', '3\r\nabc\r\n0\r\n\r\n', '-1\r\n', '{"jsonrpc":"2.0","id":1}'),
    })
    .map(({ method, target, version, fields, end, body }) =>
      Buffer.from([`${method} ${target} ${version}`, ...fields, '', body].join(end), 'latin1'),
    );
  test('requests put together at random, pipelined', () => hold(fc.array(heads, { minLength: 1, maxLength: 6 })));

  test('good requests with bytes changed', () =>
    hold(
      fc.tuple(heads, fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 4 })).map(([head, changes]) => {
        const bytes = Uint8Array.from(head);
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        return [bytes];
      }),
    ));

  const frames = fc
    .tuple(fc.nat(12), fc.nat(255), fc.constantFrom(0, 1, 1, 2, 3, 5), fc.uint8Array({ maxLength: 60 }))
    .map(([type, flags, stream, payload]) => frame(type, flags, stream, Buffer.from(payload)));
  test('frames put together at random', () =>
    hold(
      fc
        .array(frames, { maxLength: 12 })
        .map((sent) => [Buffer.concat([Buffer.from(PREFACE), frame(TYPE.settings, 0, 0)]), ...sent]),
    ));

  test('field blocks of random bytes', () =>
    hold(
      fc
        .array(fc.uint8Array({ minLength: 1, maxLength: 120 }), { minLength: 1, maxLength: 4 })
        .map((blocks) => [
          Buffer.concat([Buffer.from(PREFACE), frame(TYPE.settings, 0, 0)]),
          ...blocks.map((block, at) => frame(TYPE.headers, END_HEADERS, 2 * at + 1, Buffer.from(block))),
        ]),
    ));
});
