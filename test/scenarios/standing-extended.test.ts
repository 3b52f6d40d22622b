import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { after, before, beforeEach, describe, test } from 'node:test';
import { ExtendedWorld, type Replies, isHit, modernCard, REST, reply } from '../support/extended-world.ts';
import { type TestIssuer, createIssuer } from '../support/issuer.ts';
import type { Got } from '../support/world.ts';

/**
 * Extended cards that stand are given without a look at who asks. Here each is held against the answer to the same request with one more
 * field that nobody reads, which has no answer that stands.
 */

const ISSUER = 'https://idp.test';
const LOCAL = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';

describe('an extended card that stands', () => {
  let agent: ExtendedWorld;
  let idp: TestIssuer;
  let unique = 0;
  /** Says for whom each card is. */
  const replies: Replies = (asked, response) => {
    if (asked.target === '/jwks.json') return reply(response, 200, {}, JSON.stringify(idp.jwks));
    const own = agent.ownOf({ headers: { authorization: String(asked.headers.authorization).slice(-16) } });
    agent.gives(own, { 'Cache-Control': 'max-age=36000', ETag: '"own"' })(asked, response);
  };
  before(async () => {
    agent = await ExtendedWorld.start({
      keepsConnection: true,
      replies,
      card: modernCard([REST]),
      agent: 'extended: { audience: ledger, replacePublic: true, opaque: allow }',
      config: `origins: [{ match: "$ORIGIN", content: none, ${LOCAL} }]
principals: { issuers: [{ issuer: "${ISSUER}", audience: [cardea], jwks: "$ORIGIN/jwks.json", claims: { tenantHeader: X-Tenant } }] }
cache: { prefetch: false, negativeTtl: 1s }`,
    });
    idp = await createIssuer(ISSUER, () => agent.world.clock.now());
  });
  after(() => agent.stop());

  type Ask = (headers: OutgoingHttpHeaders) => Promise<Got>;
  /** All of a hit; what is made for one request has a receipt and a time of its own. */
  function shown(got: Got) {
    const { status, headers, body } = got;
    return isHit(got) ? { status, headers, body } : { status, cache: headers['cache-status'], vary: headers.vary };
  }
  /** Asks until an answer stands, and resolves to it once it is found to be the ordinary one. */
  async function standing(ask: Ask, headers: OutgoingHttpHeaders): Promise<Got> {
    for (let times = 0; times < 5; times += 1) await ask(headers);
    const got = await ask(headers);
    unique += 1;
    assert.deepEqual(shown(got), shown(await ask({ ...headers, [`X-Unique-${unique}`]: '1' })));
    return got;
  }
  const EXTENDED: Ask = (headers) => agent.world.get('/agents/weather/extendedAgentCard', headers);
  const PUBLIC: Ask = (headers) => agent.world.get('/agents/weather/.well-known/agent-card.json', headers);
  const AS_HEAD: Ask = (headers) => agent.world.get('/agents/weather/extendedAgentCard', headers, 'HEAD');
  const bearer = (token: string, more: OutgoingHttpHeaders = {}): OutgoingHttpHeaders => ({
    'A2A-Version': '1.0',
    Authorization: `Bearer ${token}`,
    ...more,
  });

  beforeEach(async () => {
    await agent.world.clock.advance(5_000);
  });

  test('is what would be given, at any moment and to every kind of request', async () => {
    const token = await idp.token({ aud: ['ledger'], tenant: ['acme', 'globex'], exp: seconds() + 40 });
    const acme = bearer(token, { 'X-Tenant': 'acme' });
    const { headers } = await EXTENDED(acme);
    const kinds: readonly OutgoingHttpHeaders[] = [
      acme,
      { ...acme, 'X-Tenant': 'globex' },
      { ...acme, 'X-Tenant': 'other' },
      { ...acme, 'A2A-Version': '0.3' },
      { ...acme, 'A2A-Extensions': 'https://ext.test/a' },
      { ...acme, 'If-None-Match': headers.etag },
      { ...acme, 'If-None-Match': '"other"' },
      { ...acme, 'Cache-Control': 'max-age=100' },
      { ...acme, 'Proxy-Authorization': 'Bearer opaque' },
      { ...acme, Via: '1.1 cardea' },
      { ...acme, Host: 'evil.test' },
      { ...acme, Authorization: `Bearer ${token}x` },
      { ...acme, Authorization: `bearer  ${token}` },
      bearer('opaque'),
      { 'A2A-Version': '1.0' },
    ];
    for (const passed of [0, 700, 28_000, 11_000]) {
      await agent.world.clock.advance(passed);
      for (const each of kinds) for (const ask of [EXTENDED, PUBLIC, AS_HEAD]) await standing(ask, each);
    }
  });

  const seconds = (): number => Math.floor(agent.world.clock.now() / 1_000);

  test('is that of its own caller, tenant, version and extensions', async () => {
    const tokens = await Promise.all(['alice', 'ben', 'eve'].map((sub) => idp.token({ aud: ['ledger'], sub })));
    const bodies = new Set<string>();
    for (const token of tokens)
      for (const more of [{}, { 'A2A-Extensions': 'https://ext.test/a' }]) {
        const got = await standing(EXTENDED, bearer(token, more));
        assert.ok(isHit(got));
        bodies.add(got.body);
      }
    assert.equal(bodies.size, tokens.length);
  });

  test('is counted each time', async () => {
    const asks = bearer(await idp.token({ aud: ['ledger'], sub: 'counted' }));
    await standing(EXTENDED, asks);
    const hits = /^cardea_requests_total\{agent="weather",kind="extended",result="hit"\} (\d+)$/m;
    const count = async (): Promise<number> => Number((await agent.world.metric(hits))?.split(' ').at(-1));
    const earlier = await count();
    assert.ok(earlier >= 4);
    for (let times = 0; times < 5; times += 1) await EXTENDED(asks);
    assert.equal(await count(), earlier + 5);
  });

  test('ends with its token', async () => {
    const asks = bearer(await idp.token({ aud: ['ledger'], sub: 'short', exp: seconds() + 10 }));
    assert.ok(isHit(await standing(EXTENDED, asks)));
    await agent.world.clock.advance(10_000 - (agent.world.clock.now() % 1_000) - 1);
    assert.ok(isHit(await standing(EXTENDED, asks)));
    await agent.world.clock.advance(1);
    assert.ok(!isHit(await EXTENDED(asks)));
    await agent.world.clock.advance(31_000);
    assert.equal((await EXTENDED(asks)).code, 'token-expired');
  });

  test('ends with a reload that takes away its audience, and comes back with it', async () => {
    const asks = bearer(await idp.token({ aud: ['ledger'], sub: 'reloaded' }));
    assert.ok(isHit(await standing(EXTENDED, asks)));
    const { world } = agent;
    const { written } = world;
    world.writes(written.replace('audience: ledger', 'audience: others'));
    assert.ok((await world.daemon.reload('SIGHUP')).ok);
    assert.equal((await EXTENDED(asks)).code, 'token-audience');
    world.writes(written);
    assert.ok((await world.daemon.reload('SIGHUP')).ok);
    assert.ok(!isHit(await EXTENDED(asks)));
    assert.ok(isHit(await standing(EXTENDED, asks)));
  });
});
