import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe } from 'node:test';
import { scenario } from '../support/scenario.ts';
import { CARD, CARD_PATH, OTHER_CARD, type WorldOptions, answers, breaks, fails } from '../support/world.ts';

const MINUTE = { origin: answers(CARD, { 'Cache-Control': 'max-age=60', ETag: '"one"' }) };

describe('what a client sees of a card', () => {
  scenario('a miss, then a hit that gets older', MINUTE, async (world) => {
    const miss = await world.card();
    assert.equal(miss.status, 200);
    assert.equal(miss.body, CARD);
    assert.equal(miss.headers['cache-status'], 'cardea; fwd=uri-miss; fwd-status=200; stored; ttl=60');
    assert.equal(miss.headers.age, undefined);
    assert.equal(miss.headers['cache-control'], 'max-age=30');
    await world.clock.advance(5_000);
    const hit = await world.card();
    assert.equal(hit.headers['cache-status'], 'cardea; hit; ttl=55');
    assert.equal(hit.headers.age, '5');
    assert.equal(hit.headers['cache-control'], 'max-age=35');
    assert.equal(hit.body, CARD);
    assert.deepEqual(world.origin.asked, ['GET /.well-known/agent-card.json']);
  });

  scenario('fields that others can check', MINUTE, async (world) => {
    const { headers } = await world.card();
    const sha256 = createHash('sha256').update(CARD).digest('base64');
    assert.equal(headers['repr-digest'], `sha-256=:${sha256}:`);
    assert.match(headers.etag ?? '', /^"[^"]+"$/);
    assert.match(String(headers['card-status']), /^unsigned; review=first-use; receipt="[^"]+"$/);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(headers['content-length'], String(CARD.length));
    assert.ok(headers.date !== undefined && headers.vary !== undefined);
  });

  scenario('HEAD, and conditions of its own', MINUTE, async (world) => {
    const { headers } = await world.card();
    const head = await world.card({}, 'HEAD');
    assert.equal(head.body, '');
    assert.equal(head.headers['content-length'], String(CARD.length));
    const same = await world.card({ 'If-None-Match': headers.etag ?? '' });
    assert.equal(same.status, 304);
    assert.equal(same.headers['content-length'], undefined);
    for (const name of ['etag', 'date', 'age', 'cache-control', 'vary', 'cache-status', 'card-status']) {
      assert.ok(name in same.headers, `a 304 has ${name}`);
    }
    assert.equal((await world.card({ 'If-None-Match': '"other"' })).status, 200);
    assert.equal((await world.card({ 'If-None-Match': '*' })).status, 304);
    assert.equal(world.origin.asked.length, 1);
    assert.match((await world.metric(/result="not_modified"/)) ?? '', / 2$/);
  });

  scenario('methods that make no sense, and paths that are none', MINUTE, async (world) => {
    const put = await world.card({}, 'PUT');
    assert.equal(put.code, 'method-not-allowed');
    assert.equal(put.headers.allow, 'GET, HEAD');
    assert.equal((await world.get('/nowhere')).code, 'not-found');
    const stranger = await world.get('/agents/stranger/.well-known/agent-card.json');
    assert.equal(stranger.code, 'unknown-agent');
    assert.equal(stranger.headers['content-type'], 'application/problem+json');
    assert.equal(world.origin.asked.length, 0);
  });

  scenario('other query members are neither a key nor sent', MINUTE, async (world) => {
    await world.get(`${CARD_PATH}?a=1`);
    assert.match(String((await world.get(`${CARD_PATH}?b=2`)).headers['cache-status']), /; hit;/);
    assert.deepEqual(world.origin.asked, ['GET /.well-known/agent-card.json']);
  });
});

describe('revalidation', () => {
  const validating = { ...MINUTE, config: 'cache: { prefetch: false, staleWhileRevalidate: 0s }' };

  scenario('a stale card is validated by its own validator, and its bytes stay', validating, async (world) => {
    const first = await world.card();
    await world.clock.advance(61_000);
    world.says(fails(304, { 'Cache-Control': 'max-age=120', ETag: '"one"' }));
    const again = await world.card();
    assert.equal(again.headers['cache-status'], 'cardea; fwd=stale; fwd-status=304; stored; ttl=120');
    assert.equal(again.headers.age, undefined);
    assert.equal(again.body, CARD);
    assert.equal(again.headers.etag, first.headers.etag);
    const sent = world.origin.headers[1] ?? [];
    assert.equal(sent[sent.findIndex((name) => name.toLowerCase() === 'if-none-match') + 1], '"one"');
    assert.match(String(again.headers['card-status']), /review=allowed/);
    assert.equal((await world.card()).headers['cache-status'], 'cardea; hit; ttl=120');
  });

  scenario('a 304 that nobody asked for is a failure, not a card', { origin: fails(304) }, async (world) => {
    assert.equal((await world.card()).code, 'origin-status');
  });

  scenario('another card replaces the stored one', validating, async (world) => {
    const first = await world.card();
    await world.clock.advance(61_000);
    world.says(answers(OTHER_CARD, { 'Cache-Control': 'max-age=60' }));
    const second = await world.card();
    assert.equal(second.body, OTHER_CARD);
    assert.notEqual(second.headers.etag, first.headers.etag);
  });

  scenario('stale while revalidating: served at once, refreshed behind', MINUTE, async (world) => {
    await world.card();
    await world.clock.advance(63_000);
    world.says(answers(OTHER_CARD, { 'Cache-Control': 'max-age=60' }));
    const stale = await world.card();
    assert.equal(stale.headers['cache-status'], 'cardea; hit; ttl=-3; detail=stale-while-revalidate');
    assert.equal(stale.headers['cache-control'], 'no-cache');
    assert.equal(stale.body, CARD);
    await world.quiet();
    assert.equal((await world.card()).body, OTHER_CARD);
  });

  scenario('no-cache refreshes at most once a second', MINUTE, async (world) => {
    await world.card();
    const eager = { 'Cache-Control': 'no-cache' };
    assert.match(String((await world.card(eager)).headers['cache-status']), /; hit;/);
    await world.clock.advance(1_000);
    assert.match(String((await world.card(eager)).headers['cache-status']), /fwd=request; fwd-status=200/);
    assert.match(String((await world.card(eager)).headers['cache-status']), /; hit;/);
    assert.equal(world.origin.asked.length, 2);
  });

  scenario(
    'no-store is obeyed: served, never kept',
    { origin: answers(CARD, { 'Cache-Control': 'no-store' }) },
    async (world) => {
      assert.equal((await world.card()).headers['cache-status'], 'cardea; fwd=uri-miss; fwd-status=200');
      await world.card();
      assert.equal(world.origin.asked.length, 2);
    },
  );

  scenario(
    'no-cache from the origin: validated each time',
    { origin: answers(CARD, { 'Cache-Control': 'no-cache', ETag: '"v"' }) },
    async (world) => {
      await world.card();
      world.says(fails(304, { ETag: '"v"', 'Cache-Control': 'no-cache' }));
      const again = await world.card();
      assert.match(String(again.headers['cache-status']), /fwd=stale; fwd-status=304; stored/);
      assert.equal(again.headers['cache-control'], 'no-cache');
    },
  );

  scenario('an origin that signs anew at every GET: another body, the same digest', {}, async (world) => {
    let made = 0;
    const resigned = (): string =>
      JSON.stringify({ ...JSON.parse(CARD), signatures: [{ protected: 'e30', signature: `c2ln${(made += 1)}` }] });
    world.says((request, response) =>
      answers(resigned(), { 'Cache-Control': 'max-age=60', ETag: `"${made}"` })(request, response),
    );
    const digests = new Set<unknown>();
    const etags = new Set<unknown>();
    for (let round = 0; round < 3; round += 1) {
      etags.add((await world.card()).headers.etag);
      await world.quiet();
      digests.add(world.logged('exchange').at(-1)?.['digest']);
      await world.clock.advance(100_000);
    }
    assert.equal(digests.size, 1);
    assert.equal(etags.size, 3);
  });
});

describe('when the origin fails', () => {
  const strict = {
    ...MINUTE,
    config: 'cache: { prefetch: false, staleWhileRevalidate: 0s, staleIfError: 10m, negativeTtl: 10s }',
  };

  scenario(
    '503: the stale card is served, then from memory while it is held back, then a clear problem',
    strict,
    async (world) => {
      await world.card();
      await world.clock.advance(63_000);
      world.says(fails(503));
      const stale = await world.card();
      assert.equal(stale.headers['cache-status'], 'cardea; fwd=stale; fwd-status=503; detail=stale-if-error');
      assert.equal(stale.headers['cache-control'], 'no-cache');
      const held = await world.card();
      assert.equal(held.headers['cache-status'], 'cardea; hit; ttl=-3; detail=stale-if-error');
      assert.equal(world.origin.asked.length, 2);
      await world.clock.advance(600_000);
      const gone = await world.card();
      assert.equal(gone.code, 'origin-status');
      assert.equal(gone.status, 502);
      assert.match(String(gone.headers['proxy-status']), /^cardea; error=http_protocol_error; received-status=503/);
    },
  );

  scenario('a broken connection is a failure like any other', strict, async (world) => {
    await world.card();
    await world.clock.advance(61_000);
    world.says(breaks);
    assert.equal((await world.card()).headers['cache-status'], 'cardea; fwd=stale; detail=stale-if-error');
  });

  for (const status of [401, 403, 404, 410]) {
    scenario(`${status} is the origin's word: nothing stale stands in for it`, strict, async (world) => {
      await world.card();
      await world.clock.advance(61_000);
      world.says(fails(status, { 'WWW-Authenticate': 'Bearer realm="cards"' }));
      const refused = await world.card();
      assert.equal(refused.code, 'origin-status');
      assert.match(JSON.parse(refused.body).detail, new RegExp(`answered ${status}.*Bearer realm`));
      assert.equal((await world.card()).code, 'origin-status');
      assert.equal(world.origin.asked.length, status === 404 ? 3 : 2);
    });
  }

  scenario(
    'must-revalidate is never served stale',
    { ...strict, origin: answers(CARD, { 'Cache-Control': 'max-age=60, must-revalidate' }) },
    async (world) => {
      await world.card();
      await world.clock.advance(61_000);
      world.says(fails(503));
      assert.equal((await world.card()).code, 'origin-status');
    },
  );

  scenario(
    'a failure is remembered: one request to the origin in the negative TTL',
    { origin: fails(500) },
    async (world) => {
      for (let round = 0; round < 5; round += 1) assert.equal((await world.card()).code, 'origin-status');
      assert.equal(world.origin.asked.length, 1);
      world.says(answers(CARD));
      await world.clock.advance(9_999);
      assert.equal((await world.card()).status, 502);
      await world.clock.advance(1);
      assert.equal((await world.card()).status, 200);
    },
  );

  scenario('Retry-After is honoured', { origin: fails(503, { 'Retry-After': '120' }) }, async (world) => {
    await world.card();
    world.says(answers(CARD));
    await world.clock.advance(119_000);
    assert.equal((await world.card()).status, 502);
    await world.clock.advance(1_000);
    assert.equal((await world.card()).status, 200);
  });

  scenario('404 at the new path: the old one is asked', {}, async (world) => {
    world.says((request, response) =>
      request.url?.endsWith('/agent.json') === true ? answers(CARD)(request, response) : fails(404)(request, response),
    );
    assert.equal((await world.card()).body, CARD);
    assert.deepEqual(world.origin.asked, ['GET /.well-known/agent-card.json', 'GET /.well-known/agent.json']);
  });
});

describe('documents that are no card', () => {
  const cases: readonly (readonly [name: string, body: string, type: string, code: string])[] = [
    ['a login page', '<!doctype html><form action="/login">', 'text/html', 'card-content-type'],
    ['HTML called JSON', '<html>', 'application/json', 'card-not-json'],
    ['half a card', CARD.slice(0, 100), 'application/json', 'card-not-json'],
    ['an empty object', '{}', 'application/json', 'card-invalid'],
    ['a list', '[]', 'application/json', 'card-invalid'],
    ['nothing', '', 'application/json', 'card-not-json'],
    ['a doubled member', '{"name":"a","name":"b"}', 'application/json', 'card-not-json'],
    ['too much nesting', `${'['.repeat(40)}${']'.repeat(40)}`, 'application/json', 'card-not-json'],
  ];
  for (const [name, body, type, code] of cases) {
    scenario(
      `${name} is ${code}, and never replaces a good card`,
      { config: 'cache: { prefetch: false, staleWhileRevalidate: 0s, negativeTtl: 0s }' },
      async (world) => {
        world.says(answers(body, { 'Content-Type': type }));
        assert.equal((await world.card()).code, code);
        world.says(answers(CARD, { 'Cache-Control': 'max-age=60' }));
        assert.equal((await world.card()).status, 200);
        await world.clock.advance(61_000);
        world.says(answers(body, { 'Content-Type': type }));
        const stale = await world.card();
        assert.equal(stale.body, CARD);
        assert.match(String(stale.headers['cache-status']), /detail=stale-if-error/);
      },
    );
  }

  scenario('invalid UTF-8', {}, async (world) => {
    world.says((_request, response) =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(Buffer.from([0x7b, 0xff, 0x7d])),
    );
    assert.equal((await world.card()).code, 'card-not-json');
  });

  scenario('a card without an end', { config: 'limits: { cardBytes: 64KiB }' }, async (world) => {
    world.says((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const more = (): void => {
        while (response.write('['.repeat(16_384)));
        response.once('drain', more);
      };
      more();
    });
    assert.equal((await world.card()).code, 'card-too-large');
  });

  scenario('a length that is a lie', {}, async (world) => {
    world.says((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': CARD.length + 10 });
      response.write(CARD);
      response.destroy();
    });
    assert.equal((await world.card()).code, 'origin-unreachable');
  });

  scenario('an origin that never finishes is cut off at its deadline', {}, async (world) => {
    const asked = new Promise<void>((resolve) =>
      world.says((_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json' });
        response.write('{');
        resolve();
      }),
    );
    const got = world.card();
    await asked;
    await world.clock.advance(10_000);
    const { code, status } = await got;
    assert.equal(code, 'origin-timeout');
    assert.equal(status, 504);
  });
});

describe('versions', () => {
  const varying: WorldOptions = {
    origin: (request, response) => {
      const version = String(request.headers['a2a-version'] ?? 'none');
      answers(CARD.replace('Tells the weather.', `For ${version}.`), {
        Vary: 'A2A-Version',
        'Cache-Control': 'max-age=60',
      })(request, response);
    },
  };

  scenario('an origin that varies has a variant for each, an absent one sent on as absent', varying, async (world) => {
    assert.match((await world.card()).body, /For none\./);
    const modern = await world.card({ 'A2A-Version': '1.0' });
    assert.match(modern.body, /For 1\.0\./);
    assert.match(String(modern.headers['cache-status']), /fwd=vary-miss/);
    assert.match((await world.get(`${CARD_PATH}?A2A-Version=0.3`)).body, /For 0\.3\./);
    assert.match(String((await world.card()).headers['cache-status']), /; hit;/);
    assert.equal(world.origin.asked.length, 3);
  });

  scenario('an origin that does not vary has one card for all', MINUTE, async (world) => {
    await world.card({ 'A2A-Version': '1.0' });
    assert.match(String((await world.card()).headers['cache-status']), /; hit;/);
    assert.equal(world.origin.asked.length, 1);
  });

  scenario('a version that nobody knows', MINUTE, async (world) => {
    const refused = await world.card({ 'A2A-Version': '2.0' });
    assert.equal(refused.code, 'version-not-supported');
    assert.equal(refused.status, 400);
  });
});

describe('many at once', () => {
  scenario('a thousand requests for a cold card make one origin request', {}, async (world) => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    world.says((request, response) => void gate.then(() => answers(CARD)(request, response)));
    const all = Array.from({ length: 1_000 }, () => world.card());
    await world.asked(1);
    open();
    const got = await Promise.all(all);
    assert.ok(got.every(({ status, body }) => status === 200 && body === CARD));
    assert.equal(world.origin.asked.length, 1);
    const waited = got.filter(({ headers }) => String(headers['cache-status']).endsWith('; collapsed'));
    assert.ok(waited.length > 0);
    assert.match((await world.metric(/result="miss"/)) ?? '', / 1$/);
  });
});

describe('keeping cards fresh', () => {
  scenario('the prefetch asks 1.0 and is told by readiness', { ...MINUTE, prefetch: true }, async (world) => {
    assert.equal(world.origin.asked.length, 1);
    assert.ok(world.origin.headers[0]?.includes('1.0'));
    const ready = await world.get(`http://${world.daemon.started.ops[0]}/readyz?require=weather`);
    assert.equal(ready.status, 200);
    assert.match((await world.metric(/^cardea_card_state\{.*state="fresh"/)) ?? '', / 1$/);
  });

  scenario(
    'a card is refreshed before it becomes stale, without anyone asking',
    { ...MINUTE, prefetch: true },
    async (world) => {
      world.says(answers(OTHER_CARD, { 'Cache-Control': 'max-age=60' }));
      await world.clock.advance(59_000);
      await world.quiet();
      const hit = await world.card();
      assert.match(String(hit.headers['cache-status']), /; hit;/);
      assert.equal(hit.body, OTHER_CARD);
    },
  );

  scenario(
    'an origin that is down at start is tried again, slower and slower',
    { origin: fails(503), prefetch: true },
    async (world) => {
      await world.pass(60);
      const tries = world.origin.asked.length;
      assert.ok(tries >= 5 && tries <= 9, `${tries} tries in a minute`);
      world.says(answers(CARD));
      await world.pass(60);
      assert.match(String((await world.card()).headers['cache-status']), /; hit;/);
    },
  );
});

describe('confirmations that cannot be used', () => {
  const validating = { ...MINUTE, config: 'cache: { prefetch: false, staleWhileRevalidate: 0s }' };

  scenario('a 304 about another card: the whole card is fetched', validating, async (world) => {
    await world.card();
    await world.clock.advance(61_000);
    world.says((request, response) =>
      request.headers['if-none-match'] === undefined
        ? answers(OTHER_CARD, { ETag: '"two"' })(request, response)
        : fails(304, { ETag: '"two"' })(request, response),
    );
    assert.equal((await world.card()).body, OTHER_CARD);
  });

  scenario('a 304 with no-store: confirmed once more, then forgotten', validating, async (world) => {
    await world.card();
    await world.clock.advance(61_000);
    world.says(fails(304, { ETag: '"one"', 'Cache-Control': 'no-store' }));
    const last = await world.card();
    assert.equal(last.body, CARD);
    assert.equal(last.headers['cache-status'], 'cardea; fwd=stale; fwd-status=304');
    world.says(fails(503));
    assert.equal((await world.card()).code, 'origin-status');
  });
});

describe('ceilings of one agent', () => {
  const own = { ...MINUTE, agent: 'cache: { maxTtl: 10s, clientMaxAge: 3s }, maxStale: 0s' };
  scenario('hold whatever its origin and the rest of the file say', own, async (world) => {
    const miss = await world.card();
    assert.match(String(miss.headers['cache-status']), /; ttl=10$/);
    assert.equal(miss.headers['cache-control'], 'max-age=3');
    world.says(fails(503));
    await world.clock.advance(9_000);
    assert.match(String((await world.card()).headers['cache-status']), /; hit; ttl=1$/);
    await world.clock.advance(2_000);
    assert.equal((await world.card()).code, 'origin-status');
  });
});
