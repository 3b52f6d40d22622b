import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { type TestIssuer, createIssuer } from '../support/issuer.ts';
import { CARD, type Got, World, answers } from '../support/world.ts';

const ISSUER = 'https://idp.test';
let world: World;
let idp: TestIssuer;

/** The origin of `weather` is where the issuer's keys are as well. */
const origin = (request: IncomingMessage, response: ServerResponse): void =>
  request.url === '/jwks.json'
    ? answers(JSON.stringify(idp.jwks))(request, response)
    : answers(CARD)(request, response);

before(async () => {
  let now = (): number => 0;
  idp = await createIssuer(ISSUER, () => now());
  world = await World.start({
    origin,
    agent: 'visibleTo: [{ tenant: acme }, { role: auditor, scope: "cards:read" }]',
    config: `principals: { issuers: [{ issuer: "${ISSUER}", audience: [cardea], jwks: "$ORIGIN/jwks.json" }] }
origins: [{ match: "$ORIGIN", content: none, unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }]`,
  });
  now = () => world.clock.now();
});
after(() => world.stop());

const as = async (claims: Readonly<Record<string, unknown>>): Promise<Record<string, string>> => ({
  Authorization: `Bearer ${await idp.token(claims)}`,
});

/** Everything of an answer that a caller can see, the instant and the agent's own name aside. */
const seen = ({ status, headers, body }: Got): unknown => {
  const { date: _, ...fields } = headers;
  return { status, fields, body };
};

describe('who may see an agent', () => {
  const cases: readonly (readonly [who: string, claims: Readonly<Record<string, unknown>>, status: number])[] = [
    ['a caller of its tenant', {}, 200],
    ['another tenant', { tenant: 'globex' }, 404],
    ['a tenant in other letters', { tenant: 'Acme' }, 404],
    ['no tenant', { tenant: undefined }, 404],
    ['another tenant with the role and the scope', { tenant: 'globex', roles: ['auditor'] }, 200],
    ['the role without the scope', { tenant: 'globex', roles: ['auditor'], scope: 'cards:read-all' }, 404],
  ];
  for (const [who, claims, status] of cases) {
    test(who, async () => {
      const headers = await as(claims);
      assert.equal((await world.card(headers)).status, status);
      const { agents } = JSON.parse((await world.get('/agents', headers)).body) as { agents: { name: string }[] };
      assert.deepEqual(
        agents.map(({ name }) => name),
        status === 200 ? ['weather'] : [],
      );
    });
  }
  test('its card says that it depends on who asks, so that no cache on the way gives it to others', async () => {
    const host = new URL(world.origin.url).host;
    const headers = await as({});
    for (const path of ['/agents/weather', `/origins/http/${host}`]) {
      const got = await world.get(`${path}/.well-known/agent-card.json`, headers);
      assert.equal(got.headers.vary, 'A2A-Version, Accept-Encoding, Authorization, Proxy-Authorization', path);
    }
  });
  test('without a credential, and with one that nobody vouches for', async () => {
    assert.equal((await world.card()).code, 'unknown-agent');
    assert.equal((await world.card({ Authorization: 'Bearer opaque' })).code, 'unknown-agent');
  });
});

describe('an agent that is hidden is one that does not exist', () => {
  const paths: readonly (readonly [method: string, path: string])[] = [
    ['GET', '/.well-known/agent-card.json'],
    ['HEAD', '/.well-known/agent-card.json'],
    ['POST', '/.well-known/agent-card.json'],
    ['GET', '/.well-known/nothing'],
    ['POST', ''],
    ['GET', '/tasks/1'],
    ['GET', '/extendedAgentCard'],
    ['GET', '/v1/card'],
  ];
  for (const [method, path] of paths) {
    test(`${method} ${path}`, async () => {
      for (const headers of [
        {},
        await as({ tenant: 'globex' }),
        { Authorization: `Bearer ${await idp.token({ exp: 1 })}` },
      ]) {
        const hidden = await world.get(`/agents/weather${path}`, headers, method);
        const unknown = await world.get(`/agents/nobody${path}`, headers, method);
        assert.deepEqual(seen(hidden), seen(unknown));
      }
    });
  }
  test('its card by URL is a URL that nobody allows', async () => {
    const host = new URL(world.origin.url).host;
    const by = (path: string, headers = {}): Promise<Got> => world.get(`/origins/http/${host}${path}`, headers);
    const card = '/.well-known/agent-card.json';
    assert.equal((await by(card, await as({}))).status, 200);
    const stranger = await by('/any/other.json', await as({ tenant: 'globex' }));
    assert.equal(stranger.code, 'origin-not-allowed');
    assert.deepEqual(seen(await by(card, await as({ tenant: 'globex' }))), seen(stranger));
  });
  test('a kill of it tells nothing either', async () => {
    await world.daemon.killSwitch.engage({ scope: 'agent:weather' as never, reason: 'r', by: 'admin' });
    assert.equal((await world.card()).code, 'unknown-agent');
    assert.equal((await world.card(await as({}))).code, 'killed');
    for (const { id } of world.daemon.killSwitch.active())
      await world.daemon.killSwitch.lift({ id, reason: 'r', by: 'admin' });
  });
  test('the log and the metrics of its refusals name no agent', async () => {
    await world.card();
    const line = world.logged('request').at(-1);
    assert.deepEqual([line?.['agent'], line?.['code']], [null, 'unknown-agent']);
    const counted = await world.metric(/cardea_requests_total\{agent="weather",kind="public",result="denied"/);
    assert.match(counted ?? '0', /\b0$/);
  });
});

describe('tokens that are refused', () => {
  test('401 with a challenge, and no word of the token', async () => {
    const got = await world.card(await as({ exp: 1 }));
    assert.deepEqual(
      [got.status, got.code, got.headers['www-authenticate'], got.headers['cache-control']],
      [401, 'token-expired', 'Bearer error="invalid_token"', 'no-store'],
    );
    const proxied = await world.card({ 'Proxy-Authorization': `Bearer ${await idp.token({ aud: 'other' })}` });
    assert.deepEqual(
      [proxied.status, proxied.code, proxied.headers['proxy-authenticate']],
      [407, 'token-audience', 'Bearer error="invalid_token"'],
    );
  });
  test('a kill of one principal stops it and nobody else', async () => {
    await world.daemon.killSwitch.engage({ scope: `principal:${ISSUER}#mallory` as never, reason: 'r', by: 'admin' });
    assert.equal((await world.card(await as({ sub: 'mallory' }))).code, 'killed');
    assert.equal((await world.card(await as({}))).status, 200);
  });
  test('the keys of the issuer are in the metrics', async () => {
    assert.match((await world.metric(/^cardea_keys_last_success.*idp\.test/)) ?? '', / 1\.?\d*e?\+?\d*$/);
  });
});
