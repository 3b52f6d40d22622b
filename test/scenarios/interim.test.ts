import assert from 'node:assert/strict';
import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';
import { describe, test } from 'node:test';
import type { Behave } from '../support/origin-server.ts';
import { ANY_ORIGIN, anyOriginUrl, scenario as worldScenario } from '../support/scenario.ts';
import { CARD, CARD_PATH, World, answers } from '../support/world.ts';

const HINTS = { Link: '</style.css>; rel=preload', 'X-Hint': 'yes' };

/** An origin with `content: any` on a listener of its own. */
const scenario = (name: string, origin: Behave, run: (world: World, url: string) => Promise<void>): void =>
  worldScenario(name, { origin, config: ANY_ORIGIN }, (world) => run(world, anyOriginUrl(world)));

interface Heard {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly interim: readonly { readonly status: number; readonly headers: object }[];
  readonly continued: number;
  readonly body: string;
}

function ask(url: string, options: http.RequestOptions = {}, body = ''): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const interim: { status: number; headers: object }[] = [];
    let continued = 0;
    const request = http.request(url, { agent: false, ...options });
    request.on('information', ({ statusCode, headers }) => void interim.push({ status: statusCode, headers }));
    request.on('continue', () => {
      continued += 1;
      request.end(body);
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, headers, interim, continued, body: Buffer.concat(chunks).toString() });
      });
    });
    if (options.headers === undefined || !('Expect' in options.headers)) request.end(body);
    else request.flushHeaders();
  });
}

const hinting =
  (...interim: readonly (readonly [number, http.OutgoingHttpHeaders?])[]): Behave =>
  (_request, response) => {
    for (const [status, headers = {}] of interim) response.writeInformation(status, headers);
    answers('final', { 'Content-Type': 'text/plain', 'Cache-Control': 'max-age=60' })(_request, response);
  };

describe('interim responses of an origin with content: any', () => {
  scenario('are handed on, in order, before the answer', hinting([102], [103, HINTS]), async (_world, url) => {
    const got = await ask(`${url}/a`);
    assert.deepEqual(got.interim, [
      { status: 102, headers: {} },
      { status: 103, headers: { link: HINTS['Link'], 'x-hint': 'yes' } },
    ]);
    assert.equal(got.status, 200);
    assert.equal(got.body, 'final');
    assert.equal(got.headers['x-hint'], undefined);
  });

  scenario('are not stored: a hit has none', hinting([103, HINTS]), async (world, url) => {
    await ask(`${url}/a`);
    const hit = await ask(`${url}/a`);
    assert.match(String(hit.headers['cache-status']), /; hit;/);
    assert.deepEqual(hit.interim, []);
    assert.equal(hit.headers['link'], undefined);
    assert.equal(world.origin.asked.length, 1);
  });

  scenario(
    'keep per-connection fields to themselves',
    hinting([103, { Connection: 'x-hop', 'X-Hop': '1', Link: HINTS['Link'] }]),
    async (_world, url) => {
      const { interim } = await ask(`${url}/a`);
      assert.deepEqual(interim, [{ status: 103, headers: { link: HINTS['Link'] } }]);
    },
  );

  scenario('reach a client on HTTP/2', hinting([103, HINTS]), async (_world, url) => {
    const client = http2.connect(url);
    try {
      const stream = client.request({ ':path': '/a' });
      const interim: http2.IncomingHttpHeaders[] = [];
      stream.on('headers', (headers) => void interim.push(headers));
      const answered = new Promise<http2.IncomingHttpHeaders>((resolve) => void stream.once('response', resolve));
      let body = '';
      for await (const chunk of stream) body += String(chunk);
      assert.equal(body, 'final');
      assert.equal((await answered)[':status'], 200);
      assert.equal(interim.length, 1);
      assert.equal(interim[0]?.[':status'], 103);
      assert.equal(interim[0]?.['x-hint'], 'yes');
    } finally {
      client.destroy();
    }
  });

  scenario('do not reach a client of HTTP/1.0, which has no such thing', hinting([103, HINTS]), async (_world, url) => {
    const { hostname, port } = new URL(url);
    const socket = net.connect(Number(port), hostname);
    socket.write(`GET /a HTTP/1.0\r\nHost: ${hostname}:${port}\r\n\r\n`);
    let heard = '';
    for await (const chunk of socket) heard += String(chunk);
    assert.match(heard, /^HTTP\/1\.1 200 /);
    assert.doesNotMatch(heard, / 103 /);
  });

  const many = Array.from({ length: 40 }, () => [103, HINTS] as const);
  scenario('are not listened to without end', hinting(...many), async (_world, url) => {
    const got = await ask(`${url}/a`);
    assert.equal(got.interim.length, 16);
    assert.equal(got.body, 'final');
  });

  scenario('precede a stale answer as well, where the origin then fails', hinting(), async (world, url) => {
    world.says(answers('old', { 'Content-Type': 'text/plain', 'Cache-Control': 'max-age=1, stale-if-error=600' }));
    await ask(`${url}/a`);
    await world.clock.advance(10_000);
    world.says((_request, response) => {
      response.writeInformation(103, HINTS);
      response.writeHead(503).end();
    });
    const got = await ask(`${url}/a`);
    assert.equal(got.interim.length, 1);
    assert.equal(got.body, 'old');
  });
});

describe('100 (Continue)', () => {
  const upload: Behave = (request, response) => {
    const expected = request.headers.expect ?? 'nothing';
    request.pipe(response.writeHead(200, { 'X-Expected': expected }));
  };
  scenario(
    'is between neighbours: the client gets one of ours, the origin is not asked for one',
    upload,
    async (_world, url) => {
      const headers = { Expect: '100-continue', 'Content-Length': 4 };
      const got = await ask(`${url}/a`, { method: 'POST', headers }, 'body');
      assert.equal(got.continued, 1);
      assert.equal(got.body, 'body');
      assert.equal(got.headers['x-expected'], 'nothing');
    },
  );
});

test('interim responses around a card are nobody’s business', async () => {
  const world = await World.start({
    origin: (request, response) => {
      response.writeInformation(103, HINTS);
      answers(CARD, { 'Cache-Control': 'max-age=60' })(request, response);
    },
  });
  try {
    const got = await ask(world.base + CARD_PATH);
    assert.deepEqual(got.interim, []);
    assert.equal(got.body, CARD);
  } finally {
    await world.stop();
  }
});
