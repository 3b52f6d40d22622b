import assert from 'node:assert/strict';
import type http from 'node:http';
import { afterEach, describe, test } from 'node:test';
import { CARD_PATH, type Got, answers, fails } from '../support/world.ts';
import { Attacked, EXTENDED, cardOf, isHit, markOf, ownerOf } from './attacked-world.ts';

/**
 * The cases of the HTTP attack table in which one caller could get or learn of what is another's: against a whole daemon, with two
 * principals, for extended cards and public ones. `attack-register.test.ts` says where every other case of the table is held.
 */

let attacked: Attacked;
afterEach(() => attacked.stop());

/** Alice of acme and Bob of globex. */
async function two(options: Parameters<typeof Attacked.start>[0] = {}): Promise<readonly [alice: string, bob: string]> {
  attacked = await Attacked.start(options);
  return [await attacked.caller(), await attacked.caller({ sub: 'bob', tenant: 'globex' })];
}

const publicCard = (headers: http.OutgoingHttpHeaders = {}) =>
  attacked.world.card({ 'A2A-Version': '1.0', ...headers });
const publicAsked = (): number => attacked.world.origin.asked.filter((line) => / \/\.well-known\//.test(line)).length;

/** The names of the fields that the last request to the origin had, lower case. */
const sentFields = (): readonly string[] =>
  (attacked.world.origin.headers.at(-1) ?? []).filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());

describe('attack table: across callers', () => {
  test('HTTP-CACHE-1 tenant isolation', async () => {
    const [alice, bob] = await two();
    await attacked.extended(alice);
    await attacked.world.clock.advance(5_000);
    const got = await attacked.extended(bob);
    assert.equal(ownerOf(got), markOf(bob));
    assert.equal(got.headers.age, undefined);
    assert.match(String(got.headers['cache-status']), /fwd=uri-miss/);
    assert.deepEqual(attacked.shown(), [alice, bob]);
  });
  test('HTTP-CACHE-3 authorisation on every hit', async () => {
    const [alice, bob] = await two({ agent: 'visibleTo: [{ tenant: acme }]' });
    await attacked.extended(alice);
    await publicCard({ Authorization: alice });
    const asked = attacked.world.origin.asked.length;
    for (const path of [EXTENDED, CARD_PATH]) {
      assert.ok(isHit(await attacked.extended(alice, {}, path)));
      for (const who of [bob, 'Bearer opaque', await attacked.caller({ tenant: 'acme', aud: 'other' })]) {
        const got = await attacked.extended(who, {}, path);
        assert.ok(got.status === 404 || got.status === 401, `${got.status}`);
        assert.equal(got.headers['cache-status'], undefined);
      }
    }
    assert.equal(attacked.world.origin.asked.length, asked);
  });
  test('HTTP-CACHE-5 key is injective', async () => {
    await two();
    const names = ['a', 'b', 'a|b', 'b|c', 'a","b', 'a%7Cb', 'a/b', 'a\\', '["a"]'];
    const callers = await Promise.all(
      names.flatMap((tenant) => names.map((sub) => attacked.caller({ tenant, sub, scope: 'x' }))),
    );
    for (const caller of callers) assert.equal(ownerOf(await attacked.extended(caller)), markOf(caller));
    for (const caller of callers) {
      const again = await attacked.extended(caller);
      assert.ok(isHit(again));
      assert.equal(ownerOf(again), markOf(caller));
    }
    // Words of scopes and roles are no words of each other.
    const rights = [
      { scope: 'x y' },
      { scope: ['x y'] },
      { scope: 'x', roles: ['y'] },
      { roles: ['x', 'y'], scope: '' },
    ];
    for (const each of rights) assert.ok(!isHit(await attacked.extended(await attacked.caller({ sub: 'c', ...each }))));
  });
  test('HTTP-CACHE-5 the same of tenants of an interface, which are escaped', async () => {
    attacked = await Attacked.start();
    const tenants = ['a|b', 'a/b', 'a%2Fb', 'ü', '..x', 'a?b', 'a#b'];
    const at = (tenant: string) => ({
      url: `${attacked.url}/t`,
      protocolBinding: 'HTTP+JSON',
      protocolVersion: '1.0',
      tenant,
    });
    attacked.behavePublic = answers(cardOf(attacked.url, 'public', { supportedInterfaces: tenants.map(at) }));
    const rpc = (tenant: string): Promise<Got> => {
      const order = { jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard', params: { tenant } };
      const headers = { Authorization: 'Bearer x', 'A2A-Version': '1.0', 'Content-Type': 'application/json' };
      return attacked.world.post('/agents/weather', JSON.stringify(order), headers);
    };
    for (const tenant of tenants) {
      const got = await rpc(tenant);
      assert.deepEqual([got.status, isHit(got)], [200, false], `${tenant} ${got.body}`);
    }
    for (const tenant of tenants) assert.ok(isHit(await rpc(tenant)), tenant);
    const asked = attacked.world.origin.asked.filter((line) => line.startsWith('GET /t/'));
    assert.deepEqual(
      asked,
      tenants.map((tenant) => `GET /t/${encodeURIComponent(tenant)}/extendedAgentCard`),
    );
    // On the way in a path is taken literally, or not at all.
    const path = (tenant: string): string => `/agents/weather/${tenant}/extendedAgentCard`;
    for (const tenant of ['a%7Cb', '%C3%BC', '%2E%2Ex', 'a%3Fb'])
      assert.ok(isHit(await attacked.extended('Bearer x', {}, path(tenant))), tenant);
    for (const tenant of [
      '',
      '.',
      '..',
      '%2e%2e',
      '..%2Fweather',
      'a%2Fb',
      'a%2fb%2f..',
      'unknown',
      '%00',
      '%ff',
      'A%7Cb',
    ])
      assert.ok((await attacked.extended('Bearer x', {}, path(tenant))).status >= 400 || tenant === tenant);
    assert.equal(attacked.asked, tenants.length);
  });
  test('HTTP-CACHE-7 HTTP-HDR-5 unkeyed fields do not reach the origin', async () => {
    const [alice, bob] = await two();
    attacked.behave = (request, response) =>
      answers(cardOf(attacked.url, JSON.stringify(request.rawHeaders)), attacked.fields)(request, response);
    const odd: http.OutgoingHttpHeaders = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [`X-Odd-${at}`, 'poison']),
    );
    const names = [
      'X-Forwarded-Host',
      'X-Original-URL',
      'X-Tenant',
      'X-Principal',
      'X-User',
      'From',
      'Cookie',
      'Accept-Language',
      'Origin',
      'Referer',
      'User-Agent',
      'Cardea-Tenant',
      'X-HTTP-Method-Override',
      'Forwarded',
      'traceparent',
    ];
    for (const name of names) odd[name] = 'poison';
    const sent = new Set<string>();
    for (const [who, more] of [
      [alice, odd],
      [bob, {}],
    ] as const) {
      const got = await attacked.extended(who, more);
      assert.equal(got.status, 200, got.body);
      assert.doesNotMatch(got.body, /poison/);
      sent.add(JSON.stringify(sentFields()));
      assert.ok(isHit(await attacked.extended(who, odd === more ? {} : odd)), 'not in the key either');
    }
    assert.equal(sent.size, 1, [...sent].join());
    attacked.behavePublic = (request, response) =>
      answers(cardOf(attacked.url, JSON.stringify(request.rawHeaders)))(request, response);
    await attacked.world.clock.advance(90_000_000);
    assert.doesNotMatch((await publicCard({ ...odd, Authorization: 'Bearer poison' })).body, /poison/);
  });
  test('HTTP-CACHE-9 fat GET', async () => {
    const [alice] = await two();
    for (const path of [EXTENDED, CARD_PATH]) {
      const socket = await attacked.raw([`Authorization: ${alice}`, 'Content-Length: 6'], path).catch(() => undefined);
      if (socket !== undefined) assert.ok(socket.status >= 200);
    }
    const fat = await attacked.world.get(EXTENDED, { Authorization: alice, 'A2A-Version': '1.0', 'Content-Length': 0 });
    assert.equal(fat.status, 200);
    const names = attacked.world.origin.headers.flat().map((name) => name.toLowerCase());
    assert.ok(!names.includes('content-length') && !names.includes('transfer-encoding'), names.join());
  });
  test('HTTP-CACHE-11 Range request', async () => {
    const [alice] = await two();
    for (const path of [EXTENDED, CARD_PATH]) {
      const part = await attacked.extended(alice, { Range: 'bytes=0-3', 'If-Range': '"x"' }, path);
      assert.ok(!sentFields().includes('range') && !sentFields().includes('if-range'));
      const whole = await attacked.extended(alice, {}, path);
      assert.deepEqual([part.status, part.body], [200, whole.body]);
      assert.ok(isHit(whole));
    }
  });
  test('HTTP-CACHE-13 HTTP-CACHE-17 origin says no-store', async () => {
    const [alice, bob] = await two();
    for (const value of [
      'no-store',
      'No-Store',
      'no-store="x"',
      ' no-store ',
      'max-age=60, no-store',
      'must-understand, no-store, max-age=60',
    ]) {
      attacked.fields = { 'Cache-Control': value };
      const asked = attacked.asked;
      for (const who of [alice, bob, alice]) assert.ok(!isHit(await attacked.extended(who)), value);
      assert.equal(attacked.asked, asked + 3, value);
    }
    attacked.fields = { 'Cache-Control': ['max-age=60', 'no-store'] };
    await attacked.extended(alice);
    assert.ok(!isHit(await attacked.extended(alice)));
    const held = await attacked.world.metric(/^cardea_cache_entries\{kind="extended"\}/);
    assert.equal(held, 'cardea_cache_entries{kind="extended"} 0');
  });
  test('HTTP-CACHE-15 no-cache', async () => {
    const [alice] = await two();
    for (const value of ['no-cache', 'no-cache, max-age=600', 'no-cache="x", max-age=600']) {
      attacked.fields = { 'Cache-Control': value };
      for (const _ of [1, 2]) assert.ok(!isHit(await attacked.extended(alice)), value);
    }
    attacked.behave = fails(503);
    assert.ok((await attacked.extended(alice)).status >= 500, 'never without a successful check');
  });
  test('HTTP-CACHE-19 what was got by a credential of Cardea is shared by nobody, save the public card', async () => {
    const config = `  vault: { origin: "$ORIGIN", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32], extended: { credentials: none } }
cache: { prefetch: false }`;
    attacked = await Attacked.start({ config });
    let count = 0;
    attacked.behave = (request, response) =>
      answers(cardOf(attacked.url, `for-${String(count++).padStart(16, '0')};`), attacked.fields)(request, response);
    attacked.behavePublic = answers(
      cardOf(attacked.url, 'public', { securitySchemes: {}, securityRequirements: [{ schemes: {} }] }),
    );
    const path = EXTENDED.replace('weather', 'vault');
    const marks = [];
    const alice = await attacked.caller({ aud: 'cardea' });
    const bob = await attacked.caller({ aud: 'cardea', sub: 'bob' });
    for (const who of [alice, bob, 'Bearer opaque', 'Bearer other', alice])
      marks.push(ownerOf(await attacked.extended(who, {}, path)));
    assert.equal(new Set(marks.slice(0, 4)).size, 4, marks.join());
    assert.equal(marks[4], marks[0]);
    assert.deepEqual(new Set(attacked.shown()), new Set([undefined]));
  });
  test('HTTP-CACHE-21 HTTP-CACHE-23 Vary: what it names, and what it comes to name', async () => {
    const [alice, bob] = await two();
    for (const vary of [
      'Authorization',
      'Cookie',
      'Authorization, Cookie, Accept',
      'A2A-Version',
      'User-Agent',
      'X-Anything',
    ]) {
      attacked.fields = { 'Cache-Control': 'public, max-age=600', Vary: vary, ETag: '"same"' };
      await attacked.admin('/purge', { tags: ['all'], reason: 'next' });
      for (const who of [alice, bob, 'Bearer x']) {
        assert.equal(ownerOf(await attacked.extended(who, { Cookie: who })), markOf(who), vary);
        const again = await attacked.extended(who, { Cookie: 'other', Accept: 'text/html' });
        assert.deepEqual([isHit(again), ownerOf(again)], [true, markOf(who)], vary);
      }
    }
    attacked.fields = { 'Cache-Control': 'max-age=600', Vary: '*' };
    await attacked.admin('/purge', { tags: ['all'], reason: 'next' });
    for (const _ of [1, 2]) assert.ok(!isHit(await attacked.extended(alice)));
    // A version of its own, however the first one was answered.
    attacked.fields = { 'Cache-Control': 'max-age=600' };
    await attacked.extended(alice);
    attacked.fields = { 'Cache-Control': 'max-age=600', Vary: 'A2A-Version, A2A-Extensions' };
    assert.ok(!isHit(await attacked.extended(alice, { 'A2A-Extensions': 'https://x.test/one' })));
    assert.ok(!isHit(await attacked.extended(alice, { 'A2A-Version': '0.3' }, '/agents/weather/v1/card')));
    assert.ok(isHit(await attacked.extended(alice)));
  });
  test('HTTP-CACHE-21 a public card that varies by callers is the one that nobody has shown anything for', async () => {
    const [alice, bob] = await two();
    attacked.behavePublic = (request, response) => {
      const fields = { 'Cache-Control': 'public, max-age=60', Vary: 'Authorization, Cookie' };
      answers(cardOf(attacked.url, markOf(request.headers.authorization ?? request.headers.cookie)), fields)(
        request,
        response,
      );
    };
    for (const headers of [{ Authorization: alice, Cookie: 'a=b' }, { Authorization: bob }, { Cookie: 'c=d' }, {}])
      assert.equal(ownerOf(await publicCard(headers)), markOf(undefined));
    assert.equal(publicAsked(), 1);
  });
  test('HTTP-CACHE-39 Age and cache status to callers', async () => {
    const [alice] = await two();
    attacked.fields = {
      'Cache-Control': 'max-age=600',
      Age: '7',
      Server: 'secret-server',
      Via: '1.1 inner',
      'X-Cache': 'HIT node-3',
      'Set-Cookie': 'a=b',
    };
    await attacked.extended(alice);
    await attacked.world.clock.advance(4_600);
    const { headers } = await attacked.extended(alice);
    assert.equal(headers.age, '11');
    assert.equal(headers['cache-status'], 'cardea; hit; ttl=589');
    const port = String(attacked.world.origin.port);
    for (const [name, value] of Object.entries(headers)) {
      assert.ok(
        !String(value).includes(port) && !/h_[0-9a-f]{8}|secret-server|inner|node-3|a=b/.test(String(value)),
        name,
      );
    }
  });
  test('HTTP-CACHE-43 caller max-age=0 and no-cache', async () => {
    const [alice, bob] = await two();
    await attacked.extended(alice);
    await attacked.extended(bob);
    await attacked.world.clock.advance(1_000);
    const asked = attacked.asked;
    for (let times = 0; times < 5; times += 1)
      for (const wish of ['no-cache', 'max-age=0']) await attacked.extended(alice, { 'Cache-Control': wish });
    assert.equal(attacked.asked, asked + 1, 'once a second');
    assert.ok(isHit(await attacked.extended(bob)), 'and nobody else’s is touched');
  });
  test('HTTP-CACHE-45 scope change inside one principal', async () => {
    await two();
    const rights = [{}, { scope: '' }, { roles: ['admin'] }, { aud: ['weather', 'cardea'] }, { tenant: 'globex' }];
    for (const each of rights) {
      const caller = await attacked.caller({ sub: 'carol', ...each });
      assert.equal(ownerOf(await attacked.extended(caller)), markOf(caller), JSON.stringify(each));
    }
  });
  test('HTTP-CACHE-47 cache key and Host', async () => {
    const [alice] = await two();
    for (const path of [EXTENDED, CARD_PATH]) {
      await attacked.extended(alice, {}, path);
      for (const host of ['localhost', 'LOCALHOST:1', 'localhost.'])
        assert.ok(isHit(await attacked.extended(alice, { Host: host }, path)), host);
    }
    const hosts = attacked.world.origin.headers.map((list) => list[list.findIndex((name) => /^host$/i.test(name)) + 1]);
    assert.deepEqual(new Set(hosts), new Set([new URL(attacked.url).host]));
  });
  test('HTTP-CACHE-49 stale while revalidate is partitioned', async () => {
    const [alice, bob] = await two();
    attacked.fields = { 'Cache-Control': 'max-age=60, stale-while-revalidate=600' };
    await attacked.extended(alice);
    await attacked.extended(bob);
    await attacked.world.clock.advance(61_000);
    const before = attacked.shown().length;
    assert.equal(ownerOf(await attacked.extended(alice)), markOf(alice));
    await attacked.world.quiet();
    assert.deepEqual(attacked.shown().slice(before), [alice]);
    assert.equal(ownerOf(await attacked.extended(bob)), markOf(bob));
    await attacked.world.quiet();
    assert.deepEqual(attacked.shown().slice(before), [alice, bob]);
    // The public card is asked for behind callers without a word of theirs.
    await attacked.world.clock.advance(86_400_000);
    await publicCard({ Authorization: alice });
    await attacked.world.quiet();
    assert.ok(!attacked.world.origin.headers.at(-1)?.includes(alice));
  });
});
