import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { base64url } from 'jose';
import { ExtendedWorld, RPC, type Replies, errorOf, isHit, modernCard, statusOf } from '../support/extended-world.ts';
import type { Got } from '../support/world.ts';

/** How long an extended card is used: by the shortest of all its bounds, each with both of its neighbours. */

/** A token that nobody verifies here, for the agent, with this end. */
const tokenUntil = (exp: number, aud: string): string =>
  `${[{ alg: 'ES256' }, { aud, exp }].map((each) => base64url.encode(JSON.stringify(each))).join('.')}.c2ln`;

describe('an extended card is used no longer than', () => {
  let agent: ExtendedWorld;
  let people = 0;
  before(async () => {
    agent = await ExtendedWorld.start({
      agent: 'extended: { session: 1h }',
      config: 'cache: { prefetch: false, defaultTtl: 5m, maxTtl: 24h, staleIfError: 10m, negativeTtl: 1s }',
    });
    agent.cardFields = { 'Cache-Control': 'max-age=86400' };
  });
  after(() => agent.stop());
  const clock = () => agent.world.clock;
  const gives = (fields: Readonly<Record<string, string>>): Replies => agent.gives(agent.card, fields);
  const someone = (): string => `someone-${(people += 1)}`;

  const HOURS: Readonly<Record<string, string>> = { 'Cache-Control': 'max-age=36000' };
  const minute = 60_000;
  const bounds: readonly (readonly [what: string, fields: Readonly<Record<string, string>>, life: number])[] = [
    ['it is fresh', { 'Cache-Control': 'max-age=60' }, minute],
    ['it is fresh, of which some has passed', { 'Cache-Control': 'max-age=60', Age: '20' }, 40_000],
    ['it is fresh, for one caller alone', { 'Cache-Control': 'private, max-age=60' }, minute],
    ['the default where its agent says nothing', {}, 5 * minute],
    ['the session', HOURS, 60 * minute],
  ];
  for (const [what, fields, life] of bounds)
    for (const [passed, hit] of [
      [life - 1, true],
      [life, false],
    ] as const)
      test(`${what}: ${hit ? '' : 'not '}after ${passed} ms`, async () => {
        agent.replies = gives(fields);
        const token = someone();
        await agent.ask({ token });
        await clock().advance(passed);
        assert.equal(isHit(await agent.ask({ token })), hit);
      });
  for (const [early, hit] of [
    [1, true],
    [0, false],
  ] as const)
    test(`the token: ${hit ? '' : 'not '}${early} ms before its end`, async () => {
      agent.replies = gives(HOURS);
      const end = Math.floor(clock().now() / 1_000) + 60;
      const token = tokenUntil(end, agent.world.origin.url);
      const first = await agent.ask({ token });
      assert.equal(first.status, 200, first.body);
      await clock().advance(end * 1_000 - clock().now() - early);
      assert.equal(isHit(await agent.ask({ token })), hit);
    });

  test('what may not be stored: it is not used at all', async () => {
    for (const fields of [{ 'Cache-Control': 'no-store' }, { Vary: '*' }, { 'Cache-Control': 'no-cache' }]) {
      agent.replies = gives(fields);
      const token = someone();
      await agent.ask({ token });
      assert.ok(!isHit(await agent.ask({ token })), JSON.stringify(fields));
    }
  });
  test("the caller's own no-cache, once a second, and not of what never changes", async () => {
    const reload = { 'Cache-Control': 'no-cache' };
    for (const [fields, passed, hit] of [
      [HOURS, 999, true],
      [HOURS, 1_000, false],
      [{ 'Cache-Control': 'max-age=36000, immutable' }, 1_000, true],
    ] as const) {
      agent.replies = gives(fields);
      const token = someone();
      await agent.ask({ token });
      await clock().advance(passed);
      assert.equal(isHit(await agent.ask({ token, headers: reload })), hit);
    }
  });
  test('the public card that it was fetched beside, whose confirmation changes nothing', async () => {
    agent.replies = gives(HOURS);
    const [token, reload] = [someone(), { 'Cache-Control': 'no-cache', 'A2A-Version': '1.0' }];
    const refresh = async (): Promise<Got> => {
      await clock().advance(2_000);
      return agent.world.card(reload);
    };
    await agent.ask({ token });
    await refresh();
    assert.ok(isHit(await agent.ask({ token })));
    agent.card = modernCard([RPC], { description: 'Tells tomorrow.' });
    await refresh();
    assert.ok(!isHit(await agent.ask({ token })));
    assert.ok(isHit(await agent.ask({ token })));
  });
  test('the policy that it was admitted under, whatever else changes', async () => {
    agent.replies = gives(HOURS);
    const { world } = agent;
    const token = someone();
    await agent.ask({ token });
    const written = world.written;
    for (const [text, hit] of [
      [`${written}log: { hits: true }\n`, true],
      [written.replace('unsafeCleartext: true', 'unsafeCleartext: true, schema: strict'), false],
    ] as const) {
      world.writes(text);
      assert.ok((await world.daemon.reload('admin')).ok);
      assert.equal(isHit(await agent.ask({ token })), hit);
    }
    world.writes(written);
    assert.ok((await world.daemon.reload('admin')).ok);
  });

  test('there is room for it, of which a reload makes more or less at once', async () => {
    agent.replies = gives(HOURS);
    const { world } = agent;
    const [token, written] = [someone(), world.written];
    await agent.ask({ token });
    const held = () => world.metric(/^cardea_cache_entries\{kind="extended"\}/);
    world.writes(written.replace('cache: { ', 'cache: { maxBytes: 64KiB, '));
    assert.ok((await world.daemon.reload('admin')).ok);
    assert.match((await held()) ?? '', / [1-9]\d*$/);
    for (let each = 0; each < 40; each += 1) await agent.ask({ token: someone() });
    assert.ok(Number((await held())?.split(' ').at(-1)) < 32);
    assert.ok(!isHit(await agent.ask({ token })));
    world.writes(written);
    assert.ok((await world.daemon.reload('admin')).ok);
  });

  describe('and while its agent fails', () => {
    const stale = ({ headers }: Got): boolean => /detail=stale-if-error/.test(String(headers['cache-status']));
    const after60 = async (token: string, passed: number, replies: Replies): Promise<Got> => {
      agent.replies = gives({ 'Cache-Control': 'max-age=60' });
      await agent.ask({ token });
      agent.replies = replies;
      await clock().advance(passed);
      return agent.ask({ token });
    };
    const within: readonly (readonly [passed: number, isStale: boolean])[] = [
      [minute, true],
      [11 * minute, true],
      [11 * minute + 1, false],
    ];
    for (const [passed, isStale] of within)
      test(`${isStale ? '' : 'not '}after ${passed} ms, of which a minute was fresh`, async () => {
        assert.equal(stale(await after60(someone(), passed, statusOf(503))), isStale);
      });
    const words: readonly (readonly [what: string, replies: Replies, isStale: boolean])[] = [
      ['500', statusOf(500), true],
      ['503', statusOf(503), true],
      ['a broken connection', (_asked, response) => void response.destroy(), true],
      ['401', statusOf(401), false],
      ['403', statusOf(403), false],
      ['404', statusOf(404), false],
      ['410', statusOf(410), false],
      ['-32007', errorOf(-32007), false],
      ['-32004', errorOf(-32004), false],
    ];
    for (const [what, replies, isStale] of words)
      test(`${what} is ${isStale ? 'bridged' : 'its word, which nothing covers, now and as long as it is remembered'}`, async () => {
        const token = someone();
        assert.equal(stale(await after60(token, 2 * minute, replies)), isStale);
        assert.equal(stale(await agent.ask({ token })), isStale);
      });
    test('no longer than the session', async () => {
      const token = someone();
      agent.replies = gives({ 'Cache-Control': 'max-age=3595' });
      await agent.ask({ token });
      agent.replies = statusOf(503);
      await clock().advance(3_599_999);
      assert.ok(stale(await agent.ask({ token })));
      await clock().advance(1);
      assert.equal((await agent.ask({ token })).code, 'origin-status');
    });
  });
});
