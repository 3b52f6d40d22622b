import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ADMIN_ROUTES } from '../../src/admin/routes.ts';
import { receiptId, agentName } from '../../src/kernel/ids.ts';
import { epochMs } from '../../src/kernel/units.ts';
import { exchange } from '../store/ledger-world.ts';
import { AdminWorld, TOKEN } from './admin-world.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('authority comes before everything', () => {
  const everything = ADMIN_ROUTES.flatMap(({ example, methods }) =>
    Object.entries(methods)
      .filter(([, { does }]) => does !== 'sign-in')
      .map(([method]) => [method, example] as const),
  );
  test('and there are endpoints', () => assert.ok(everything.length >= 14));
  for (const [method, target] of [...everything, ['GET', '/nowhere'], ['PATCH', '/kill']] as const) {
    test(`${method} ${target} without a token is 401`, async () => {
      const world = new AdminWorld();
      const reply = await world.raw(target, { method, headers: JSON_TYPE, body: '{"scope":"all","reason":"x"}' });
      assert.equal(reply.status, 401);
      assert.equal(reply.json['code'], 'unauthorized');
      assert.equal(reply.field('www-authenticate'), 'Bearer');
      assert.deepEqual([world.done, world.kills], [[], []]);
    });
  }

  const wrong: readonly string[] = [
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Bearer ${TOKEN.toUpperCase()}`,
    'Bearer ',
    'Bearer',
    TOKEN,
    `Basic ${TOKEN}`,
    `Bearer ${TOKEN} ${TOKEN}`,
    `Bearer ${TOKEN}, Bearer ${TOKEN}`,
    'Bearer undefined',
  ];
  for (const authorization of wrong) {
    test(`${JSON.stringify(authorization)} is not it`, async () => {
      const reply = await new AdminWorld().raw('/kill', { headers: { authorization } });
      assert.equal(reply.status, 401);
      assert.equal(reply.field('www-authenticate'), 'Bearer error="invalid_token"');
    });
  }
  test('the scheme in any case is it', async () => {
    const reply = await new AdminWorld().raw('/kill', { headers: { authorization: `bearer ${TOKEN}` } });
    assert.equal(reply.status, 200);
  });
  test('a token that was replaced is none', async () => {
    const world = new AdminWorld();
    world.token = 'another-token-of-enough-characters';
    assert.equal((await world.ask('/kill')).status, 401);
  });

  test('1,000 wrong ones are slowed down, counted once a minute, and lock nobody out', async () => {
    const world = new AdminWorld();
    const statuses = new Map<number, number>();
    for (let n = 0; n < 1_000; n += 1) {
      const { status } = await world.raw('/kill', { headers: { authorization: `Bearer guess-${n}` } });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    assert.deepEqual(
      [...statuses],
      [
        [401, 10],
        [429, 990],
      ],
    );
    assert.equal((await world.ask('/kill')).status, 200);
    await world.clock.advance(60_000);
    const { body } = await world.ask('/receipts');
    assert.match(body, /"code":"rate-limited","principal":null,"tenant":null,.*"count":990/);
    assert.match(body, /"code":"unauthorized".*"count":10/);
    assert.doesNotMatch(body, /guess/);
  });

  test('a refusal names its receipt', async () => {
    const world = new AdminWorld();
    const { json } = await world.raw('/agents');
    await world.clock.advance(60_000);
    assert.match((await world.ask('/receipts')).body, new RegExp(`"id":"${String(json['receipt'])}"`));
  });

  test('a socket needs no token', async () => {
    const world = new AdminWorld();
    const body = JSON.stringify({ scope: 'all', reason: 'fire' });
    const reply = await world.bySocket('/kill', { method: 'POST', body, headers: JSON_TYPE });
    assert.deepEqual([reply.status, world.kills[0]?.by], [200, 'socket']);
  });
});

describe('no page of another site speaks here', () => {
  const foreign: readonly Readonly<Record<string, string>>[] = [
    { origin: 'null' },
    { origin: 'https://evil.example' },
    { origin: 'http://localhost:8643' },
    { origin: 'http://127.0.0.1:8642' },
    { origin: 'https://127.0.0.1:8643' },
    { origin: 'chrome-extension://x' },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://127.0.0.1:8643', 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of foreign) {
    for (const method of ['GET', 'POST']) {
      test(`${method} with ${JSON.stringify(headers)}`, async () => {
        const world = new AdminWorld();
        const body = '{"scope":"all","reason":"x"}';
        const more = method === 'POST' ? { body } : {};
        const reply = await world.ask('/kill', { method, headers: { ...JSON_TYPE, ...headers }, ...more });
        assert.deepEqual([reply.status, world.kills], [421, []]);
        assert.equal((await world.bySocket('/kill', { headers })).status, 421);
      });
    }
  }
  test('its own pages may', async () => {
    const headers = { origin: 'http://127.0.0.1:8643', 'sec-fetch-site': 'same-origin' };
    assert.equal((await new AdminWorld().ask('/kill', { headers })).status, 200);
  });
  test('a referrer says nothing either way', async () => {
    assert.equal((await new AdminWorld().ask('/kill', { headers: { referer: 'https://evil.example/' } })).status, 200);
  });
});

describe('a path has one spelling', () => {
  const others = [
    '//kill',
    '/./kill',
    '/kill/',
    '/KILL',
    '/kill%2f',
    '/%6bill',
    '/kill;x',
    '/kill%00',
    '/..//kill',
    '/admin/../kill',
    `/${'k'.repeat(8_000)}`,
    '/agents/Weather',
    '/agents/*',
    '/agents/weather/',
    '/agents/a/b/card',
    '/kill/a.b',
    '/__proto__',
    '/constructor',
  ];
  for (const target of others) {
    test(target.slice(0, 30), async () => {
      const world = new AdminWorld();
      assert.equal((await world.raw(target)).status, 401);
      assert.equal((await world.ask(target)).status, 404);
    });
  }
  for (const method of ['HEAD', 'GET', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'constructor', 'POSTPOST']) {
    test(`${method} /kill?state=off changes nothing`, async () => {
      const world = new AdminWorld();
      await world.order('POST', '/kill', { scope: 'all', reason: 'fire' });
      const reply = await world.ask('/kill?state=off', { method, headers: { 'x-http-method-override': 'DELETE' } });
      assert.equal(world.kills.length, 1);
      if (method === 'HEAD' || method === 'GET') assert.equal(reply.status, 200);
      else assert.deepEqual([reply.status, reply.field('allow')], [405, 'GET, HEAD, POST']);
    });
  }
});

describe('an order is read strictly', () => {
  const bodies: readonly (readonly [name: string, body: string | Uint8Array, type: string, status: number])[] = [
    ['a name twice', '{"scope":"agent:a","scope":"all","reason":"x"}', 'application/json', 400],
    ['a name twice, escaped', '{"scope":"agent:a","sc\\u006fpe":"all","reason":"x"}', 'application/json', 400],
    ['a byte order mark', '\ufeff{"scope":"all","reason":"x"}', 'application/json', 400],
    ['UTF-16', new Uint8Array(Buffer.from('{"scope":"all","reason":"x"}', 'utf16le')), 'application/json', 400],
    ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), 'application/json', 400],
    ['text/plain, as a form sends it', '{"scope":"all","reason":"x"}', 'text/plain', 415],
    ['a form', 'scope=all&reason=x', 'application/x-www-form-urlencoded', 415],
    ['multipart', '--x', 'multipart/form-data; boundary=x', 415],
    ['no type', '{"scope":"all","reason":"x"}', '', 415],
    ['another charset', '{"scope":"all","reason":"x"}', 'application/json; charset=utf-16', 415],
    ['nothing', '', 'application/json', 400],
    ['a list', '[]', 'application/json', 400],
    ['null', 'null', 'application/json', 400],
    ['two documents', '{}{}', 'application/json', 400],
    ['depth', `{"scope":${'['.repeat(100)}${']'.repeat(100)},"reason":"x"}`, 'application/json', 400],
    ['a member that is none', '{"scope":"all","reason":"x","force":true}', 'application/json', 400],
    ['__proto__', '{"scope":"all","reason":"x","__proto__":{"a":1}}', 'application/json', 400],
    ['64 KiB and one byte', `{"scope":"all","reason":"${' '.repeat(65_536 - 27)}x"}`, 'application/json', 413],
    ['10 MB', 'x'.repeat(10_000_000), 'application/json', 413],
    ['a scope that is a list', '{"scope":["all"],"reason":"x"}', 'application/json', 400],
    ['a scope that is an object', '{"scope":{"$ne":""},"reason":"x"}', 'application/json', 400],
    ['a scope that is true', '{"scope":true,"reason":"x"}', 'application/json', 400],
    ['a wildcard', '{"scope":"*","reason":"x"}', 'application/json', 400],
    ['an agent that is a wildcard', '{"scope":"agent:*","reason":"x"}', 'application/json', 400],
    ['no reason', '{"scope":"all"}', 'application/json', 400],
    ['an empty reason', '{"scope":"all","reason":" "}', 'application/json', 400],
    ['a reason of two lines', '{"scope":"all","reason":"a\\nb"}', 'application/json', 400],
    ['a reason of 501 characters', `{"scope":"all","reason":"${'x'.repeat(501)}"}`, 'application/json', 400],
  ];
  for (const [name, body, type, status] of bodies) {
    test(name, async () => {
      const world = new AdminWorld();
      const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
      const reply = await world.ask('/kill', { method: 'POST', body, headers });
      assert.deepEqual([reply.status, world.kills], [status, []], reply.body);
    });
  }
  test('and what is meant is done', async () => {
    const world = new AdminWorld();
    const body = `{ "scope": "all",\n "reason": "${'x'.repeat(500)}" }`;
    const reply = await world.ask('/kill', {
      method: 'POST',
      body,
      headers: { 'content-type': 'Application/JSON; charset=UTF-8' },
    });
    assert.equal(reply.status, 200);
    assert.equal(world.kills.length, 1);
  });
  test('names in values are no names', async () => {
    const world = new AdminWorld();
    const reply = await world.order('POST', '/kill', { scope: 'kid:a":"b', reason: '{"x":1,"x":2}' });
    assert.equal(reply.status, 200);
  });
});

describe('stops', () => {
  test('are made, listed and lifted', async () => {
    const world = new AdminWorld();
    const made = await world.order('POST', '/kill', { scope: 'origin:Weather.Example.com.', reason: 'fire' });
    assert.deepEqual(made.json, {
      id: 'k0',
      scope: 'origin:weather.example.com',
      reason: 'fire',
      by: 'admin',
      at: world.clock.now(),
      persisted: true,
    });
    assert.equal((await world.ask('/kill')).body.includes('"id":"k0"'), true);
    assert.equal((await world.order('DELETE', '/kill/k0', {})).status, 400);
    assert.equal((await world.order('DELETE', '/kill/k1', { reason: 'out' })).status, 404);
    world.fileIsThere = true;
    assert.equal((await world.order('DELETE', '/kill/k0', { reason: 'out' })).json['code'], 'conflict');
    world.fileIsThere = false;
    assert.equal((await world.order('DELETE', '/kill/k0', { reason: 'out' })).status, 200);
    assert.deepEqual(world.kills, []);
  });
  test('that cannot be written down stand, and the answer says so', async () => {
    const world = new AdminWorld();
    world.persisted = false;
    const { status, json } = await world.order('POST', '/kill', { scope: 'all', reason: 'fire' });
    assert.deepEqual([status, json['persisted'], json['error']], [200, false, 'disk full']);
  });
  test('are never too many', async () => {
    const world = new AdminWorld();
    for (let n = 0; n < 200; n += 1) {
      assert.equal((await world.order('POST', '/kill', { scope: 'all', reason: 'fire' })).status, 200);
    }
  });
});

describe('changes', () => {
  test('leave their receipt before they take effect', async () => {
    const world = new AdminWorld();
    const order = {
      tags: ['agent:weather', 'registry:catalog', 'principal:https://idp#alice'],
      soft: true,
      reason: 'old',
    };
    const { json } = await world.order('POST', '/purge', order);
    assert.equal(json['purged'], 3);
    assert.deepEqual(world.done, ['purge agent:weather registry:catalog principal:https://idp#alice softly']);
    const { receipts } = (await world.ask('/receipts')).json as { receipts: Record<string, unknown>[] };
    const hash = world.ledger.keyedHash('principal', 'https://idp#alice');
    assert.deepEqual(receipts, [
      {
        kind: 'change',
        id: json['receipt'],
        at: world.clock.now(),
        action: 'purge',
        about: ['agent:weather', 'registry:catalog', `principal:${hash}`],
        reason: 'old',
        by: 'admin',
      },
    ]);
  });
  const bad: readonly (readonly [name: string, order: object])[] = [
    ['no tags', { tags: [], reason: 'x' }],
    ['101 tags', { tags: Array.from({ length: 101 }, () => 'all'), reason: 'x' }],
    ['a tag that is none', { tags: ['agent:weather', 'weather'], reason: 'x' }],
    ['a tag that is no text', { tags: [1], reason: 'x' }],
    ['a text for a list', { tags: 'all', reason: 'x' }],
    ['a softness that is no switch', { tags: ['all'], soft: 'yes', reason: 'x' }],
    ['no reason', { tags: ['all'] }],
  ];
  for (const [name, order] of bad) {
    test(`purge with ${name} does nothing`, async () => {
      const world = new AdminWorld();
      assert.equal((await world.order('POST', '/purge', order)).status, 400);
      assert.deepEqual(world.done, []);
    });
  }
  test('a revocation names one principal or one tenant', async () => {
    const world = new AdminWorld();
    const order = { principal: 'https://idp#alice', reason: 'stolen' };
    const { json } = await world.order('POST', '/principals/revoke', order);
    assert.deepEqual([json['dropped'], json['persisted'], json['receipt']], [2, true, 'r-2']);
    const { status } = await world.order('POST', '/principals/revoke', { tenant: 'acme', reason: 'left' });
    assert.equal(status, 200);
    assert.deepEqual(world.done, ['revoke principal https://idp#alice by admin', 'revoke tenant acme by admin']);
  });
  const badRevocations: readonly (readonly [name: string, order: object])[] = [
    ['nobody', { reason: 'x' }],
    ['two at once', { principal: 'a', tenant: 'b', reason: 'x' }],
    ['no reason', { principal: 'a' }],
    ['an empty name', { principal: '', reason: 'x' }],
    ['a name of 1,025 characters', { tenant: 'a'.repeat(1_025), reason: 'x' }],
    ['a name of two lines', { tenant: 'a\nb', reason: 'x' }],
    ['a name that is no text', { tenant: ['a'], reason: 'x' }],
    ['a stranger', { tenant: 'a', soft: true, reason: 'x' }],
  ];
  for (const [name, order] of badRevocations) {
    test(`a revocation with ${name} does nothing`, async () => {
      const world = new AdminWorld();
      assert.equal((await world.order('POST', '/principals/revoke', order)).status, 400);
      assert.deepEqual(world.done, []);
    });
  }
  test('of refresh, reload and drain need no body', async () => {
    const world = new AdminWorld();
    assert.equal((await world.ask('/agents/weather/refresh', { method: 'POST' })).json['outcome'], 'stored');
    assert.equal((await world.ask('/agents/other/refresh', { method: 'POST' })).json['code'], 'unknown-agent');
    assert.equal((await world.ask('/reload', { method: 'POST' })).json['digest'], 'abc');
    assert.equal((await world.ask('/drain', { method: 'POST' })).status, 202);
    assert.deepEqual(world.done, ['refresh weather', 'reload', 'drain']);
  });
  test('come at a pace', async () => {
    const world = new AdminWorld();
    const purge = () => world.order('POST', '/purge', { tags: ['all'], reason: 'x' });
    for (let n = 0; n < 20; n += 1) assert.equal((await purge()).status, 200);
    const refused = await purge();
    assert.deepEqual([refused.status, refused.field('retry-after')], [429, '1']);
    await world.clock.advance(200);
    assert.equal((await purge()).status, 200);
    assert.equal((await purge()).status, 429);
  });
});

describe('looking', () => {
  test('at agents, one of them and its card', async () => {
    const world = new AdminWorld();
    assert.match((await world.ask('/agents')).body, /"agent":"weather","state":"fresh"/);
    assert.equal((await world.ask('/agents/weather')).json['state'], 'fresh');
    assert.equal((await world.ask('/agents/other')).json['code'], 'unknown-agent');
    const card = await world.ask('/agents/weather/card');
    assert.deepEqual([card.body, card.field('content-type')], ['{"name":"Weather"}', 'application/json']);
    assert.match(card.field('content-security-policy') ?? '', /sandbox/);
  });
  test('at receipts by agent and time, in pages', async () => {
    const world = new AdminWorld();
    for (let n = 0; n < 5; n += 1) {
      world.ledger.record(exchange(`r-${n}`, { at: epochMs(world.clock.now() - n * 60_000) }));
    }
    world.ledger.record(exchange('p', { id: receiptId('p'), agent: agentName('planner'), at: world.clock.now() }));
    const page = await world.ask('/receipts?agent=weather&since=2m&limit=2');
    assert.equal((page.json['receipts'] as unknown[]).length, 2);
    const rest = await world.ask(`/receipts?agent=weather&since=2m&limit=2&before=${String(page.json['next'])}`);
    assert.deepEqual([(rest.json['receipts'] as unknown[]).length, rest.json['next']], [1, null]);
    const since = new Date(world.clock.now() - 60_000).toISOString();
    assert.equal(((await world.ask(`/receipts?since=${since}`)).json['receipts'] as unknown[]).length, 3);
  });
  for (const query of [
    'since=yesterday',
    'since=2026-11-30',
    'limit=0',
    'limit=1001',
    'limit=x',
    'before=0',
    'agent=*',
    'sinc=1m',
    'since=1m&since=2m',
  ]) {
    test(`at receipts not with ${query}`, async () => {
      assert.equal((await new AdminWorld().ask(`/receipts?${query}`)).status, 400);
    });
  }
  test('at why a target is as it is', async () => {
    const world = new AdminWorld();
    const fresh = await world.ask('/explain?target=weather');
    assert.deepEqual(fresh.json['because'], ['agents.weather covers it.', 'Its card is served: fresh for 60 s.']);
    await world.order('POST', '/kill', { scope: 'origin:weather.example.com', reason: 'fire' });
    const stopped = await world.ask('/explain?target=weather');
    assert.match(String(stopped.json['because']), /Stopped: origin:weather.example.com, by admin: fire. .*lift k0/);
    assert.equal((await world.ask('/explain?target=???')).status, 400);
    assert.equal((await world.ask('/explain')).status, 400);
  });
  test('at the configuration, and at a chain that is not there', async () => {
    const world = new AdminWorld();
    assert.deepEqual((await world.ask('/config')).json, { settings: { state: 'memory' } });
    assert.equal((await world.ask('/receipts/verify')).status, 404);
  });
  test('never into a cache', async () => {
    const world = new AdminWorld();
    for (const { example } of ADMIN_ROUTES) {
      assert.equal((await world.ask(example)).field('cache-control'), 'no-store', example);
    }
  });
});
