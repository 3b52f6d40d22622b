import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ByteStream } from '../../src/kernel/fields.ts';
import { type Listening, answer, ask2, listening } from '../support/listening.ts';

const read = async (body: ByteStream | null): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};
const get = (path: string, ...lines: string[]): string =>
  [`GET ${path} HTTP/1.1`, 'Host: localhost', ...lines, '', ''].join('\r\n');

/** How requests arrive, over one port that speaks both protocols. */
describe('one port, two protocols', { timeout: 60_000 }, () => {
  let on: Listening;
  before(async () => {
    on = await listening(async ({ target, body }) => {
      if (target === '/echo') return answer(200, await read(body));
      if (target === '/half') {
        for await (const _ of body ?? []) break;
        return answer(200, 'enough');
      }
      return answer(200, target);
    });
  });
  after(() => on.close());
  const lastAsk = () => {
    const ask = on.asks.at(-1);
    assert.ok(ask !== undefined);
    return ask;
  };

  test('HTTP/1.1 byte by byte', async () => {
    const socket = await on.connect();
    for (const byte of get('/slowly')) await socket.send(byte);
    assert.equal((await socket.responses(1))[0]?.body, '/slowly');
  });

  test('a preface that arrives byte by byte is HTTP/2', async () => {
    const socket = await on.connect();
    for (const byte of 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n') await socket.send(byte);
    // An empty SETTINGS frame; the server's own comes back.
    await socket.send(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    await socket.until((text) => text.length >= 9);
    assert.equal(socket.bytes[3], 4);
  });

  test('what only begins like the preface is HTTP/1, and nonsense', async () => {
    for (const bytes of ['PRI * HTTP/1.1\r\nHost: localhost\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r']) {
      const socket = await on.connect();
      await socket.send(bytes);
      assert.equal((await socket.responses(1))[0]?.status, 400);
      await socket.ended();
    }
  });

  test('a client may end its side and wait for its answer', async () => {
    const socket = await on.connect();
    await socket.send(get('/bye'));
    socket.finish();
    assert.equal((await socket.responses(1))[0]?.body, '/bye');
    await socket.ended();
  });

  test('a POST of 1 MiB over each protocol', async () => {
    const body = 'x'.repeat(1024 * 1024);
    const socket = await on.connect();
    await socket.send(`POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    assert.equal((await socket.responses(1))[0]?.body, body);
    const got = await ask2(on.session(), { ':method': 'POST', ':path': '/echo' }, body);
    assert.equal(got.body, body);
  });

  test('a body that was read to its end keeps the connection', async () => {
    const socket = await on.connect();
    const post = 'POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
    await socket.send(post + post + get('/next'));
    const bodies = (await socket.responses(3)).map(({ body }) => body);
    assert.deepEqual(bodies, ['abc', 'abc', '/next']);
    assert.equal(socket.end, 'open');
  });

  test('a body that was not read ends the connection, after its answer', async () => {
    const socket = await on.connect();
    const asks = on.asks.length;
    await socket.send(
      `POST /half HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n${'x'.repeat(300_000)}`,
    );
    const [response] = await socket.responses(1);
    assert.equal(response?.body, 'enough');
    assert.equal(response?.fields.get('connection'), 'close');
    await socket.send(`${'x'.repeat(1_700_000)}${get('/behind')}`);
    await socket.ended();
    assert.equal(on.asks.length, asks + 1);
  });

  test('"100 Continue" comes when the body is wanted, and only then', async () => {
    const post = (path: string, expect: string): string =>
      `POST ${path} HTTP/1.1\r\nHost: localhost\r\nExpect: ${expect}\r\nContent-Length: 3\r\n\r\n`;
    const wanted = await on.connect();
    await wanted.send(post('/echo', '100-continue'));
    assert.equal((await wanted.responses(1))[0]?.status, 100);
    await wanted.send('abc');
    assert.deepEqual(
      (await wanted.responses(2)).map(({ status, body }) => [status, body]),
      [
        [100, ''],
        [200, 'abc'],
      ],
    );
    const unwanted = await on.connect();
    await unwanted.send(post('/no', '100-continue'));
    assert.equal((await unwanted.responses(1))[0]?.status, 200);
    await unwanted.ended();
    const unknown = await on.connect();
    await unknown.send(post('/echo', 'miracles'));
    assert.equal((await unknown.responses(1))[0]?.status, 417);
    const two = await ask2(on.session(), { ':method': 'POST', ':path': '/echo', expect: '100-continue' }, 'abc');
    assert.deepEqual([two.status, two.body], [200, 'abc']);
  });

  test('CONNECT is refused with a reason over each protocol', async () => {
    const socket = await on.connect();
    await socket.send('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n');
    const [response] = await socket.responses(1);
    assert.equal(response?.status, 405);
    assert.equal(response?.fields.get('allow'), 'GET, HEAD, POST');
    assert.match(JSON.parse(response?.body ?? '').detail, /no tunnel/);
    await socket.ended();
    const session = on.session();
    const stream = session.request({ ':method': 'CONNECT', ':authority': 'localhost:443' });
    const status = await new Promise((resolve) => stream.once('response', (head) => resolve(head[':status'])));
    assert.equal(status, 405);
    stream.destroy();
  });

  test('a request that came too early behind a slow one is answered in its turn', async () => {
    const socket = await on.connect();
    await socket.send(`${get('/1')}${get('/2')}garbage\r\n\r\n`);
    const got = await socket.responses(3);
    assert.deepEqual(
      got.map(({ status }) => status),
      [200, 200, 400],
    );
    await socket.ended();
  });

  test('absolute-form is judged by its target alone', async () => {
    const socket = await on.connect();
    await socket.send(get('http://localhost:1/x?y').replace('Host: localhost', 'Host: evil.test'));
    assert.equal((await socket.responses(1))[0]?.body, '/x?y');
    assert.equal(lastAsk().host, 'localhost');
    await socket.send(get('http://localhost'));
    assert.equal((await socket.responses(2))[1]?.body, '/');
    await socket.send(get('http://evil.test/x'));
    assert.equal((await socket.responses(3))[2]?.status, 421);
  });

  test('HTTP/1.0 with Host is answered and closed, other versions are refused', async () => {
    const old = await on.connect();
    await old.send('GET /old HTTP/1.0\r\nHost: localhost\r\n\r\n');
    await old.ended();
    assert.match(old.text, /^HTTP\/1\.1 200 OK\r\n[^]*\/old$/);
    for (const version of ['HTTP/2.0', 'HTTP/0.9', 'HTTP/1.2', 'HTTP/3.0']) {
      const socket = await on.connect();
      await socket.send(get('/x').replace('HTTP/1.1', version));
      await socket.ended();
      assert.match(socket.text, /^HTTP\/1\.1 400 /, version);
    }
    const ancient = await on.connect();
    await ancient.send('GET /x\r\n\r\n');
    await ancient.ended();
    assert.doesNotMatch(ancient.text, /200/);
  });

  test('what an Ask says of its request', async () => {
    const socket = await on.connect();
    await socket.send(
      get('/a?b=c', 'X-A: 1', 'x-a: 2', 'If-None-Match: "x"', 'if-none-match: "y"').replace(
        'localhost',
        'LocalHost.:99',
      ),
    );
    await socket.responses(1);
    const ask = lastAsk();
    assert.deepEqual(
      [ask.listener, ask.base, ask.method, ask.target, ask.host, ask.body],
      ['agents', 'http://LocalHost.:99', 'GET', '/a?b=c', 'localhost', null],
    );
    assert.equal(ask.field('x-a'), '1, 2');
    assert.equal(ask.field('if-none-match'), '"x", "y"');
    assert.equal(ask.field('constructor'), undefined);
    assert.equal(ask.fields.length, 10);
    await ask2(on.session(), { ':path': '/two', 'x-a': ['1', '2'], host: `127.0.0.1:${on.port}` });
    const two = lastAsk();
    assert.deepEqual([two.target, two.host, two.field('x-a')], ['/two', '127.0.0.1', '1, 2']);
    assert.ok(two.fields.every((name) => !name.startsWith(':')));
  });

  test('bodies that GET and HEAD may not have are refused on HTTP/2 too', async () => {
    const got = await ask2(on.session(), { ':path': '/x', 'content-length': '3' }, 'abc');
    assert.equal(got.status, 400);
    const open = await ask2(on.session(), { ':path': '/x' }, '');
    assert.equal(open.status, 200);
    assert.equal(lastAsk().body, null);
  });

  test('1,000 clients at once', async () => {
    const sockets = await Promise.all(Array.from({ length: 1_000 }, () => on.connect()));
    await Promise.all(sockets.map((socket, at) => socket.send(get(`/${at}`))));
    const bodies = await Promise.all(sockets.map(async (socket) => (await socket.responses(1))[0]?.body));
    assert.deepEqual(
      bodies,
      sockets.map((_, at) => `/${at}`),
    );
    for (const socket of sockets) socket.close();
  });
});

describe('bounds of one connection and of all', { timeout: 60_000 }, () => {
  test('requests that pile up without an answer are refused', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const on = await listening(() => gate.then(() => answer(200)), { streams: 4 });
    const socket = await on.connect();
    await socket.send(get('/').repeat(6));
    while (on.asks.length < 4) await new Promise((resolve) => setImmediate(resolve));
    release();
    const got = await socket.responses(5);
    assert.deepEqual(
      got.map(({ status }) => status),
      [200, 200, 200, 200, 503],
    );
    assert.equal(got[4]?.fields.get('retry-after'), '1');
    assert.equal(on.asks.length, 4);
    await on.close();
  });

  test('a connection too many is closed at once; others go on', async () => {
    const on = await listening(() => answer(200), { connections: 2 });
    const first = await on.connect();
    const second = await on.connect();
    await first.send(get('/'));
    await first.responses(1);
    await second.send(get('/'));
    await second.responses(1);
    const third = await on.connect();
    await third.ended();
    await first.send(get('/'));
    assert.equal((await first.responses(2)).length, 2);
    await on.close();
  });

  test('a head that is too long, and a target that is', async () => {
    const on = await listening(() => answer(200));
    const cases: readonly (readonly [string, number])[] = [
      [get(`/${'a'.repeat(8 * 1024 - 1)}`), 200],
      [get(`/${'a'.repeat(8 * 1024)}`), 414],
      [get(`/${'a'.repeat(100_000)}`), 431],
      [get('/', `X: ${'a'.repeat(100_000)}`), 431],
      [get('/', ...Array.from({ length: 99 }, () => 'a: b')), 200],
      [get('/', ...Array.from({ length: 100 }, () => 'a: b')), 431],
    ];
    for (const [bytes, status] of cases) {
      const socket = await on.connect();
      await socket.send(bytes);
      assert.equal((await socket.responses(1))[0]?.status, status);
      socket.close();
    }
    await on.close();
  });
});
