import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { decodeJwt } from 'jose';
import { type Daemon, startDaemon } from '../../src/daemon.ts';
import { validConfig } from '../support/config.ts';
import { type ExtendedAgent, startExtendedAgent } from '../support/extended-agent.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type TestIssuer, createIssuer } from '../support/issuer.ts';
import { type Got, ask } from '../support/world.ts';

const ISSUER = 'https://idp.test';

/** What the agent makes of a token: who it is for, in full. */
function userOf(token: string): string | undefined {
  try {
    const { sub, tenant, scope, roles } = decodeJwt(token);
    return sub === undefined ? undefined : [sub, tenant, scope, roles].flat().filter(Boolean).join('+');
  } catch {
    return undefined;
  }
}

/** The official SDK's server has a card for each user; Cardea knows the users by an issuer. */
describe('extended cards of callers that an issuer names', () => {
  const clock = new FakeClock(Date.now());
  const log: string[] = [];
  let agent: ExtendedAgent;
  let idp: TestIssuer;
  let keys: http.Server;
  let daemon: Daemon | undefined;

  before(async () => {
    agent = await startExtendedAgent(userOf);
    idp = await createIssuer(ISSUER, () => clock.now());
    keys = http.createServer((_request, response) => {
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(idp.jwks));
    });
    await new Promise<void>((resolve) => void keys.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(async () => {
    await stopDaemon();
    agent.asked.length = 0;
    agent.refused.clear();
    const url = `http://127.0.0.1:${(keys.address() as AddressInfo).port}`;
    const local = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
    const config = await validConfig(`
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
agents: { ledger: { origin: "${agent.url}", extended: { audience: ledger }, ${local} } }
origins: [{ match: "${url}", content: none, ${local} }]
principals: { issuers: [{ issuer: "${ISSUER}", audience: [cardea], jwks: "${url}/jwks.json" }] }
cache: { prefetch: false }
`);
    daemon = await startDaemon(
      config,
      { clock, log: { write: (line: string) => void log.push(line) } },
      async () => config,
    );
  });
  after(async () => {
    await stopDaemon();
    await agent.stop();
    keys.closeAllConnections();
    keys.close();
  });
  async function stopDaemon(): Promise<void> {
    const drained = daemon?.drain();
    await clock.advance(500);
    await drained;
  }

  const at = (path: string): string => `http://${daemon?.started.agents[0]}${path}`;
  const tokenFor = (claims: Readonly<Record<string, unknown>> = {}): Promise<string> =>
    idp.token({ aud: ['ledger'], ...claims });
  const get = (token: string): Promise<Got> =>
    ask(at('/agents/ledger/extendedAgentCard'), {
      headers: { 'A2A-Version': '1.0', Authorization: `Bearer ${token}` },
    });
  const isHit = ({ headers }: Got): boolean => /; hit/.test(String(headers['cache-status']));
  const secretOf = ({ body }: Got): string | undefined => /"secret-([^"]*)"/.exec(body)?.[1];

  test('each principal, tenant, set of scopes and of roles has its own, and keeps it', async () => {
    const callers: readonly Readonly<Record<string, unknown>>[] = [
      { sub: 'admin', roles: ['admin'] },
      { sub: 'alice' },
      { sub: 'alice', tenant: 'globex' },
      { sub: 'alice', scope: 'cards:read more' },
      { sub: 'bob' },
    ];
    const tokens = await Promise.all(callers.map(tokenFor));
    for (const token of tokens) assert.equal(secretOf(await get(token)), userOf(token));
    const asked = agent.asked.length;
    for (const token of tokens) {
      const again = await get(token);
      assert.ok(isHit(again));
      assert.equal(secretOf(again), userOf(token));
    }
    assert.equal(agent.asked.length, asked);
  });
  test('a renewed token of the same principal is the same session', async () => {
    await get(await tokenFor());
    await clock.advance(1_000);
    assert.ok(isHit(await get(await tokenFor())));
  });
  test('fewer roles in a newer token end what was obtained with more', async () => {
    const earlier = await tokenFor({ roles: ['admin', 'user'] });
    assert.equal((await get(earlier)).status, 200);
    await clock.advance(1_000);
    assert.match(secretOf(await get(await tokenFor({ roles: ['user'] }))) ?? '', /\+user$/);
    assert.ok(!isHit(await get(earlier)));
  });
  test('after logout everything of the caller is gone, and nothing of anybody else', async () => {
    const [alice, bob] = await Promise.all([tokenFor(), tokenFor({ sub: 'bob' })]);
    await get(alice);
    await get(bob);
    const out = await ask(at('/logout'), { method: 'POST', headers: { Authorization: `Bearer ${bob}` } });
    assert.equal(out.status, 204);
    assert.ok(isHit(await get(alice)));
    assert.ok(!isHit(await get(bob)));
    assert.ok(isHit(await get(bob)));
  });
  test('tokens that are refused, and why', async () => {
    const cases: readonly (readonly [claims: Readonly<Record<string, unknown>>, code: string])[] = [
      [{ exp: Math.floor(clock.now() / 1000) - 60 }, 'token-expired'],
      [{ aud: 'other' }, 'token-audience'],
      [{ aud: 'cardea' }, 'token-audience'],
      [{ sub: 7 }, 'token-invalid'],
    ];
    for (const [claims, code] of cases) {
      const got = await get(await tokenFor(claims));
      assert.deepEqual([got.status, got.code], [401, code]);
    }
    assert.deepEqual(agent.asked, []);
  });
  test('a token of another issuer is a caller of its own, and never the one that it names', async () => {
    await get(await tokenFor());
    const stranger = await createIssuer('https://evil.test', () => clock.now());
    const got = await get(await stranger.token({ aud: ['ledger'] }));
    assert.ok(!isHit(got));
    assert.equal(agent.asked.length, 2);
  });
  test('a card lives no longer than the token of the one who asks', async () => {
    const token = await tokenFor({ exp: Math.floor(clock.now() / 1000) + 60 });
    const got = await get(token);
    assert.match(String(got.headers['cache-status']), /ttl=(59|60)$/);
    await clock.advance(61_000);
    assert.ok(!isHit(await get(token)), 'within the skew the agent is asked');
    await clock.advance(31_000);
    assert.equal((await get(token)).code, 'token-expired');
  });
  test("the agent's 401 ends everything of that principal", async () => {
    const token = await tokenFor();
    await get(token);
    agent.refused.add(userOf(token) ?? '');
    const rpcToken = await tokenFor({ jti: 'another' });
    await clock.advance(301_000);
    assert.deepEqual([(await get(rpcToken)).code, (await get(token)).code], ['extended-refused', 'extended-refused']);
  });
  test('no log line holds a token', () => {
    assert.ok(log.length > 0);
    assert.doesNotMatch(log.join('\n'), /ey[A-Za-z0-9_-]{10,}\.ey|Bearer ey/);
  });
});
