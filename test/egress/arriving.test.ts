import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import UndiciClient from 'undici/lib/dispatcher/client.js';
import { type HearInterim, sendForAnswer } from '../../src/egress/arriving.ts';

/** An origin on loopback, and a client with one connection to it. */
async function connect(t: TestContext, answer: http.RequestListener) {
  const origin = http.createServer(answer).listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const client = new UndiciClient(`http://127.0.0.1:${(origin.address() as AddressInfo).port}`, { pipelining: 1 });
  t.after(async () => {
    await client.destroy();
    origin.closeAllConnections();
    origin.close();
  });
  const ask = (signal: AbortSignal, interim?: HearInterim) =>
    sendForAnswer(client, { path: '/', method: 'GET', headers: [] }, { signal, interim });
  return { ask };
}

const NEVER = new AbortController().signal;

async function read(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test('a body that waits to be read comes whole and in its order, however much of it there is', async (t) => {
  const whole = Buffer.alloc(3 * 1024 * 1024, 'abcdefg');
  const { ask } = await connect(t, (_request, response) => response.writeHead(200, { 'X-Of': 'it' }).end(whole));
  const { status, fields, stream } = await ask(NEVER);
  assert.equal(status, 200);
  assert.deepEqual(fields.slice(0, 2), ['X-Of', 'it']);
  assert.ok((await read(stream)).equals(whole));
  assert.equal((await read(stream)).length, 0, 'and once');
  assert.equal((await read((await ask(NEVER)).stream)).length, whole.length, 'the connection carries the next one');
});

test('an origin is not listened to faster than its body is read', async (t) => {
  let written = 0;
  const chunk = Buffer.alloc(64 * 1024);
  const { ask } = await connect(t, (_request, response) => {
    const more = (): void => {
      while (written < 1_024) {
        written += 1;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  });
  const { stream } = await ask(NEVER);
  // As long as it is asked for nothing, what has been written is what buffers hold on the way.
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(written < 1_000, `${written} chunks`);
  assert.equal((await read(stream)).length, 1_024 * chunk.length);
});

test('interim answers are heard, and are not the answer', async (t) => {
  const heard: number[] = [];
  const { ask } = await connect(t, (_request, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' }, () => response.writeHead(404).end('none'));
  });
  const { status, stream } = await ask(NEVER, ({ statusCode, headers }) => {
    heard.push(statusCode);
    assert.ok(headers.includes('</style.css>; rel=preload'));
  });
  assert.deepEqual([heard, status, (await read(stream)).toString()], [[103], 404, 'none']);
});

test('who has given up already sends nothing', async (t) => {
  let asked = 0;
  const { ask } = await connect(t, (_request, response) => {
    asked += 1;
    response.end();
  });
  const why = new Error('too late');
  await assert.rejects(ask(AbortSignal.abort(why)), why);
  await read((await ask(NEVER)).stream);
  assert.equal(asked, 1);
});

test('who gives up before the head, or before the request is sent, hears why', async (t) => {
  const { ask } = await connect(t, () => undefined);
  for (const turns of [0, 50]) {
    const stop = new AbortController();
    const asked = ask(stop.signal);
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    const why = new Error(`after ${turns} turns`);
    stop.abort(why);
    await assert.rejects(asked, why);
  }
});

test('who gives up in the body hears why, and the connection is closed', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { ask } = await connect(t, (request, response) => {
    request.once('close', () => closed.resolve());
    response.writeHead(200).write('half');
  });
  const stop = new AbortController();
  const { stream } = await ask(stop.signal);
  const why = new Error('enough');
  const reading = read(stream);
  stop.abort(why);
  await assert.rejects(reading, why);
  await closed.promise;
});

test('a body that nobody reads to its end is given up with its connection', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { ask } = await connect(t, (request, response) => {
    request.once('close', () => closed.resolve());
    response.writeHead(200).write('half');
  });
  const { stream } = await ask(NEVER);
  for await (const chunk of stream) {
    assert.equal(Buffer.from(chunk).toString(), 'half');
    break;
  }
  await closed.promise;
  await assert.rejects(read(stream), /not read to its end/);
});

test('a body that breaks off is no whole one', async (t) => {
  const { ask } = await connect(t, (_request, response) => {
    response.writeHead(200, { 'Content-Length': '10' });
    response.write('half', () => response.destroy());
  });
  const { stream } = await ask(NEVER);
  await assert.rejects(read(stream));
});
