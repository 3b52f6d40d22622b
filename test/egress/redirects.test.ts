import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { type Behave, startOrigin, startRawOrigin } from '../support/origin-server.ts';
import { orderFor, rig, ruleFor } from './harness.ts';

async function start(t: TestContext, behave: Behave) {
  const server = await startOrigin(behave);
  t.after(() => server.close());
  return server;
}

function fetcherOf(t: TestContext) {
  const { fetcher, clock } = rig();
  t.after(() => fetcher.close());
  return { fetcher, clock };
}

const leadTo =
  (hops: Readonly<Record<string, string>>): Behave =>
  (request, response) => {
    const to = hops[request.url ?? ''];
    if (to === undefined) response.end('{"end":true}');
    else response.writeHead(302, { Location: to }).end('{"signed":"card in a redirect"}');
  };

const SECRET = ['Authorization', 'Bearer secret', 'X-Api-Key', 'secret', 'Accept', 'application/json'];

describe('redirects over real sockets', () => {
  test('SSRF-REDIR-20 three hops with a limit of three are followed, every hop is in the trail, SSRF-REDIR-30 no body of a redirect is used', async (t) => {
    const server = await start(t, leadTo({ '/1': '/2', '/2': '/3', '/3': '/4' }));
    const result = await fetcherOf(t).fetcher.fetch(orderFor(`${server.url}/1`));
    assert.ok(result.ok);
    assert.equal(Buffer.from(result.response.body).toString(), '{"end":true}');
    assert.equal(result.trail.requestedUrl, `${server.url}/1`);
    assert.equal(result.trail.finalUrl, `${server.url}/4`);
    assert.deepEqual(
      result.trail.redirects,
      ['/2', '/3', '/4'].map((path) => `${server.url}${path}`),
    );
  });
  test('a fourth hop is not sent', async (t) => {
    const server = await start(t, leadTo({ '/1': '/2', '/2': '/3', '/3': '/4', '/4': '/5' }));
    const result = await fetcherOf(t).fetcher.fetch(orderFor(`${server.url}/1`));
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'redirect-refused');
    assert.equal(server.asked.length, 4);
  });
  test('SSRF-REDIR-18 a loop of two stops at once', async (t) => {
    const server = await start(t, leadTo({ '/a': '/b', '/b': '/a' }));
    const result = await fetcherOf(t).fetcher.fetch(orderFor(`${server.url}/a`));
    assert.ok(!result.ok);
    assert.match(result.refusal.detail, /loops back/);
    assert.deepEqual(server.asked, ['GET /a', 'GET /b']);
  });
  test('SSRF-REDIR-2 another listed origin gets the request, but nothing that could be a credential', async (t) => {
    const other = await start(t, leadTo({}));
    const first = await start(t, leadTo({ '/': `${other.url}/card` }));
    const rule = ruleFor([first.url, other.url]);
    const result = await fetcherOf(t).fetcher.fetch(orderFor(`${first.url}/`, { rule, fields: SECRET }));
    assert.ok(result.ok);
    assert.equal(other.headers.flat().includes('secret'), false);
    assert.equal(other.headers.flat().includes('Bearer secret'), false);
    assert.equal(first.headers.flat().includes('Bearer secret'), true);
  });
  test('SSRF-REDIR-22 on the same origin the credential is sent again', async (t) => {
    const server = await start(t, leadTo({ '/1': '/2' }));
    await fetcherOf(t).fetcher.fetch(orderFor(`${server.url}/1`, { fields: SECRET }));
    assert.ok(server.headers[1]?.includes('Bearer secret'));
  });
  const REFUSED: Readonly<Record<string, (sentinel: string) => string>> = {
    'SSRF-REDIR-4 the loopback name': (sentinel) => sentinel.replace('127.0.0.1', 'localhost'),
    'a listed address on another port': (sentinel) => sentinel,
    'SSRF-REDIR-6 a mapped IPv6 address': () => 'https://[::ffff:7f00:1]/',
    'SSRF-REDIR-8 a trailing-dot host': () => 'http://agents.example.test./',
    'SSRF-REDIR-10 slash and backslash': () => '/\\evil.test',
    'SSRF-REDIR-16 nothing': () => '',
  };
  for (const [name, to] of Object.entries(REFUSED)) {
    test(`${name}: refused, and nobody is called`, async (t) => {
      const sentinel = await start(t, leadTo({}));
      const server = await start(t, leadTo({ '/': to(`${sentinel.url}/`) }));
      const result = await fetcherOf(t).fetcher.fetch(orderFor(`${server.url}/`));
      assert.ok(!result.ok);
      assert.equal(result.refusal.code, 'redirect-refused');
      assert.equal(result.refusal.receivedStatus, 302);
      assert.equal(sentinel.connections(), 0);
      assert.equal(server.asked.length, 1);
    });
  }
  test('SSRF-REDIR-12 a line break in Location never leads anywhere', async (t) => {
    const server = await startRawOrigin((socket) =>
      socket.end('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1\n.evil/\r\nContent-Length: 0\r\n\r\n'),
    );
    t.after(() => server.close());
    const result = await fetcherOf(t).fetcher.fetch(orderFor(`${server.url}/`));
    assert.ok(!result.ok);
    assert.ok(['redirect-refused', 'origin-unreachable'].includes(result.refusal.code));
  });
  test('SSRF-REDIR-14 a redirect to nowhere is an error of the origin', async (t) => {
    const server = await start(t, (_request, response) => response.writeHead(302).end());
    const result = await fetcherOf(t).fetcher.fetch(orderFor(`${server.url}/`));
    assert.ok(!result.ok);
    assert.match(result.refusal.detail, /names no Location/);
  });
  test('SSRF-REDIR-24 a POST is not redirected', async (t) => {
    const server = await start(t, (_request, response) => response.writeHead(303, { Location: '/done' }).end());
    const result = await fetcherOf(t).fetcher.fetch(
      orderFor(`${server.url}/token`, { method: 'POST', body: bodyOf('grant_type=x') }),
    );
    assert.ok(!result.ok);
    assert.equal(result.refusal.code, 'redirect-refused');
    assert.deepEqual(server.asked, ['POST /token']);
  });
  for (const status of [300, 305, 304]) {
    test(`SSRF-REDIR-26 ${status} is handed over as it is`, async (t) => {
      const server = await start(t, (_request, response) =>
        response.writeHead(status, { Location: '/elsewhere' }).end(),
      );
      const result = await fetcherOf(t).fetcher.fetch(orderFor(`${server.url}/`));
      assert.ok(result.ok);
      assert.equal(result.response.status, status);
      assert.equal(server.asked.length, 1);
    });
  }
  test('SSRF-REDIR-32 Content-Location and Link lead nowhere', async (t) => {
    const sentinel = await start(t, leadTo({}));
    const server = await start(t, (_request, response) =>
      response.writeHead(200, { 'Content-Location': sentinel.url, Link: `<${sentinel.url}>; rel=preload` }).end('{}'),
    );
    const result = await fetcherOf(t).fetcher.fetch(orderFor(`${server.url}/`));
    assert.ok(result.ok);
    assert.equal(result.trail.finalUrl, `${server.url}/`);
    assert.equal(sentinel.connections(), 0);
  });
  test('an abort between two hops: the second is not sent', async (t) => {
    const controller = new AbortController();
    const server = await start(t, (_request, response) => {
      response.writeHead(302, { Location: '/2' }).write('x');
      controller.abort();
    });
    const result = await fetcherOf(t).fetcher.fetch(orderFor(`${server.url}/1`, { signal: controller.signal }));
    assert.ok(!result.ok);
    assert.equal(server.asked.length, 1);
  });
});

async function* bodyOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
