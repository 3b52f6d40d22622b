import assert from 'node:assert/strict';
import type http from 'node:http';
import { describe, test } from 'node:test';
import { startDaemon } from '../../src/daemon.ts';
import { validConfig } from '../support/config.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type Behave, type OriginServer, startOrigin } from '../support/origin-server.ts';
import { type Got, answers, ask, breaks, fails } from '../support/world.ts';

interface Place {
  readonly clock: FakeClock;
  readonly origin: OriginServer;
  readonly url: string;
  says(behave: Behave): void;
  get(path: string, headers?: http.OutgoingHttpHeaders, method?: string, body?: string): Promise<Got>;
}

/** An origin with `content: any` on a listener of its own. */
const scenario = (name: string, first: Behave, run: (place: Place) => Promise<void>): void => {
  test(name, async () => {
    const clock = new FakeClock();
    let behave = first;
    const origin = await startOrigin((request, response) => {
      response.setHeader('Date', new Date(clock.now()).toUTCString());
      behave(request, response);
    });
    const config = await validConfig(`
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
origins:
  - { match: "${origin.url}", content: any, listen: "127.0.0.1:0", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }
`);
    const daemon = await startDaemon(config, { clock, log: { write: () => undefined } }, async () => config);
    const url = `http://${daemon.started.listeners[`origin:${origin.url}`]}`;
    try {
      await run({
        clock,
        origin,
        url,
        says: (next) => {
          behave = next;
        },
        get: (path, headers = {}, method = 'GET', body = '') => ask(url + path, { headers, method }, body),
      });
    } finally {
      const drained = daemon.drain();
      await clock.advance(500);
      await drained;
      await origin.close();
    }
  });
};

const text = (body: string, fields: http.OutgoingHttpHeaders = {}): Behave =>
  answers(body, { 'Content-Type': 'text/plain', ...fields });

describe('an origin with content: any', () => {
  scenario(
    'keeps the origin’s fields and adds Age, Via and Cache-Status',
    text('hello', { 'Cache-Control': 'max-age=60', ETag: '"o"', 'X-Own': 'kept' }),
    async (place) => {
      const miss = await place.get('/a?b=c');
      assert.equal(miss.headers['cache-status'], 'cardea; fwd=uri-miss; fwd-status=200; stored; ttl=60');
      assert.equal(miss.headers.via, '1.1 cardea');
      await place.clock.advance(7_000);
      const hit = await place.get('/a?b=c');
      assert.equal(hit.headers['cache-status'], 'cardea; hit; ttl=53');
      assert.equal(hit.headers.age, '7');
      assert.equal(hit.headers.etag, '"o"');
      assert.equal(hit.headers['x-own'], 'kept');
      assert.equal(hit.headers['cache-control'], 'max-age=60');
      assert.deepEqual(place.origin.asked, ['GET /a?b=c']);
    },
  );

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
    scenario(
      `${method} streams both ways`,
      (request, response) => void request.pipe(response.writeHead(201, { 'X-Method': String(request.method) })),
      async (place) => {
        const got = await place.get('/x', { 'Content-Type': 'text/plain', 'Content-Length': 9 }, method, 'both ways');
        assert.equal(got.status, 201);
        assert.equal(got.body, 'both ways');
        assert.equal(got.headers['x-method'], method);
        assert.match(String(got.headers['cache-status']), /^cardea; fwd=method/);
      },
    );
  }

  scenario(
    'a success of an unsafe method takes out what it changed',
    text('old', { 'Cache-Control': 'max-age=60' }),
    async (place) => {
      await place.get('/thing');
      place.says(text('new', { 'Cache-Control': 'max-age=60' }));
      assert.equal((await place.get('/thing')).body, 'old');
      await place.get('/thing', {}, 'PUT', 'x');
      assert.equal((await place.get('/thing')).body, 'new');
    },
  );

  scenario(
    'ranges are served from a whole, and 416 where there is nothing',
    text('0123456789', { 'Cache-Control': 'max-age=60', ETag: '"r"' }),
    async (place) => {
      await place.get('/r');
      const part = await place.get('/r', { Range: 'bytes=2-4' });
      assert.equal(part.status, 206);
      assert.equal(part.body, '234');
      assert.equal(part.headers['content-range'], 'bytes 2-4/10');
      assert.equal((await place.get('/r', { Range: 'bytes=-2' })).body, '89');
      assert.equal((await place.get('/r', { Range: 'bytes=50-' })).status, 416);
      assert.equal((await place.get('/r', { Range: 'bytes=2-4', 'If-Range': '"other"' })).status, 200);
      assert.equal(place.origin.asked.length, 1);
    },
  );

  scenario(
    'Vary keeps answers apart and merges what is equal',
    (request, response) =>
      text(String(request.headers['accept-language']), { Vary: 'Accept-Language', 'Cache-Control': 'max-age=60' })(
        request,
        response,
      ),
    async (place) => {
      assert.equal((await place.get('/v', { 'Accept-Language': 'de' })).body, 'de');
      assert.equal((await place.get('/v', { 'Accept-Language': 'en' })).body, 'en');
      assert.match(String((await place.get('/v', { 'Accept-Language': ' DE ' })).headers['cache-status']), /; hit;/);
      assert.equal(place.origin.asked.length, 2);
    },
  );

  scenario('only-if-cached asks nobody', text('x'), async (place) => {
    assert.equal((await place.get('/none', { 'Cache-Control': 'only-if-cached' })).status, 504);
    assert.equal(place.origin.asked.length, 0);
  });

  scenario(
    'stale stands in for a broken connection, never against must-revalidate',
    text('x', { 'Cache-Control': 'max-age=1, stale-if-error=60' }),
    async (place) => {
      await place.get('/s');
      await place.clock.advance(2_000);
      place.says(breaks);
      assert.match(String((await place.get('/s')).headers['cache-status']), /fwd=stale; detail=stale-if-error/);
      place.says(text('y', { 'Cache-Control': 'max-age=1, must-revalidate' }));
      await place.get('/m');
      await place.clock.advance(2_000);
      place.says(fails(503));
      assert.equal((await place.get('/m')).status, 503);
    },
  );

  scenario('a request that has been through Cardea is refused', text('x'), async (place) => {
    const looped = await place.get('/', { Via: '1.1 other, 1.1 cardea' });
    assert.equal(looped.code, 'loop-detected');
    assert.equal(looped.status, 508);
  });

  scenario(
    'a response with credentials behind it is nobody else’s',
    text('mine', { 'Cache-Control': 'max-age=60' }),
    async (place) => {
      await place.get('/p', { Authorization: 'Bearer a' });
      await place.get('/p', { Authorization: 'Bearer b' });
      assert.equal(place.origin.asked.length, 2);
    },
  );

  scenario('many at once make one request of it, once it is known to be storable', text('x'), async (place) => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    place.says(
      (request, response) => void gate.then(() => text('one', { 'Cache-Control': 'max-age=60' })(request, response)),
    );
    const all = Array.from({ length: 50 }, () => place.get('/c'));
    open();
    const got = await Promise.all(all);
    assert.ok(got.every(({ body }) => body === 'one'));
    assert.equal(place.origin.asked.length, 1);
  });
});
