import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { decodeJwt } from 'jose';
import { type Daemon, startDaemon } from '../../src/daemon.ts';
import { validConfig } from '../support/config.ts';
import { type ExtendedAgent, startExtendedAgent } from '../support/extended-agent.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type TestIssuer, createIssuer } from '../support/issuer.ts';
import { type Got, ask } from '../support/world.ts';

const ISSUER = 'https://idp.test';
const YEAR = 365 * 24 * 3_600;

const userOf = (token: string): string | undefined => {
  if (token.startsWith('opaque-')) return token;
  try {
    const { sub, tenant } = decodeJwt(token);
    return `${sub}-${String(tenant)}`;
  } catch {
    return undefined;
  }
};

/** What an administrator takes back, on a daemon with two callers of an issuer and one that nobody vouches for. */
describe('POST /principals/revoke', () => {
  const clock = new FakeClock(Date.now());
  const log: string[] = [];
  let folder = '';
  let agent: ExtendedAgent;
  let idp: TestIssuer;
  let keys: http.Server;
  let daemon: Daemon | undefined;

  before(async () => {
    agent = await startExtendedAgent(userOf, 'HTTP+JSON');
    idp = await createIssuer(ISSUER, () => clock.now());
    keys = http.createServer((_request, response) => {
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(idp.jwks));
    });
    await new Promise<void>((resolve) => void keys.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-revoke-'));
    agent.asked.length = 0;
    await start();
  });
  afterEach(async () => {
    await stop();
    fs.rmSync(folder, { recursive: true });
  });
  after(async () => {
    await agent.stop();
    keys.closeAllConnections();
    keys.close();
  });

  async function start(state = folder): Promise<void> {
    const url = `http://127.0.0.1:${(keys.address() as AddressInfo).port}`;
    const local = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
    const config = await validConfig(`
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: ${state}
agents: { ledger: { origin: "${agent.url}", extended: { audience: ledger, opaque: allow }, ${local} } }
origins: [{ match: "${url}", content: none, ${local} }]
principals: { issuers: [{ issuer: "${ISSUER}", audience: [cardea], jwks: "${url}/jwks.json" }] }
cache: { prefetch: false }
`);
    const given = { clock, log: { write: (line: string) => void log.push(line) } };
    daemon = await startDaemon(config, given, async () => config);
  }
  async function stop(): Promise<void> {
    const drained = daemon?.drain();
    await clock.advance(500);
    await drained;
    daemon = undefined;
  }
  const tokenFor = (claims: Readonly<Record<string, unknown>> = {}): Promise<string> =>
    idp.token({ aud: ['ledger'], ...claims });
  const get = (token: string, more: http.OutgoingHttpHeaders = {}): Promise<Got> =>
    ask(`http://${daemon?.started.agents[0]}/agents/ledger/extendedAgentCard`, {
      headers: { 'A2A-Version': '1.0', Authorization: `Bearer ${token}`, ...more },
    });
  const admin = async (target: string, order?: object): Promise<{ status: number; json: Record<string, unknown> }> => {
    const token = daemon?.token ?? fs.readFileSync(path.join(folder, 'admin-token'), 'utf8').trim();
    const { status, body } = await ask(
      `http://${daemon?.started.admin[0]}${target}`,
      {
        method: order === undefined ? 'GET' : 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      },
      order === undefined ? '' : JSON.stringify(order),
    );
    return { status, json: JSON.parse(body) as Record<string, unknown> };
  };
  const revoke = (whom: object): Promise<{ status: number; json: Record<string, unknown> }> =>
    admin('/principals/revoke', { ...whom, reason: 'stolen laptop' });
  const isHit = ({ headers }: Got): boolean => /; hit/.test(String(headers['cache-status']));
  const refusal = ({ status, code, headers }: Got): readonly unknown[] => [status, code, headers['www-authenticate']];
  const REVOKED = [401, 'token-revoked', 'Bearer error="invalid_token"'];

  test('refuses what the principal has, drops what is held for it, and touches nobody else', async () => {
    const [alice, bob] = await Promise.all([tokenFor(), tokenFor({ sub: 'bob' })]);
    for (const token of [alice, bob]) assert.equal((await get(token)).status, 200);
    const { status, json } = await revoke({ principal: `${ISSUER}#alice` });
    assert.deepEqual([status, json['dropped'], json['persisted'], json['error']], [200, 1, true, undefined]);
    assert.match(String(json['scope']), /^principal:h_[0-9a-f]{32}$/);
    assert.deepEqual(refusal(await get(alice)), REVOKED);
    assert.ok(isHit(await get(bob)));
    assert.equal(agent.asked.length, 2);
    await clock.advance(1_000);
    const fresh = await tokenFor();
    const again = await get(fresh);
    assert.deepEqual([again.status, isHit(again)], [200, false]);
    assert.ok(isHit(await get(fresh)));
    assert.deepEqual(refusal(await get(alice)), REVOKED);
  });
  test('at both neighbours of the instant', async () => {
    const { json } = await revoke({ principal: `${ISSUER}#alice` });
    const second = Math.floor(Number(json['at']) / 1_000);
    for (const [iat, expected] of [
      [second - 1, 401],
      [second, 401],
      [second + 1, 200],
    ] as const) {
      assert.equal((await get(await tokenFor({ iat }))).status, expected, `iat ${iat - second}`);
    }
  });
  test('refuses a token outright that does not say when it was issued', async () => {
    await revoke({ principal: `${ISSUER}#alice` });
    await clock.advance(60_000);
    const token = await idp.token({ aud: ['ledger'], iat: undefined }, { typ: 'JWT' });
    assert.deepEqual(refusal(await get(token)), REVOKED);
  });
  test('a tenant: all of its callers, and the same user elsewhere stays', async () => {
    const [alice, bob, elsewhere] = await Promise.all([
      tokenFor(),
      tokenFor({ sub: 'bob' }),
      tokenFor({ tenant: 'globex' }),
    ]);
    for (const token of [alice, bob, elsewhere]) await get(token);
    assert.equal((await revoke({ tenant: 'acme' })).json['dropped'], 2);
    assert.deepEqual([refusal(await get(alice)), refusal(await get(bob))], [REVOKED, REVOKED]);
    assert.ok(isHit(await get(elsewhere)));
  });
  test('by the hash of a receipt, an opaque credential for good', async () => {
    await get('opaque-one');
    await get('opaque-two');
    const { json } = await admin('/receipts?agent=ledger');
    const receipts = json['receipts'] as readonly { caller?: { principal: string } }[];
    const hash = receipts.map(({ caller }) => caller?.principal).filter((each) => each !== undefined)[1];
    assert.equal((await revoke({ principal: hash })).json['dropped'], 1);
    await clock.advance(60_000);
    assert.deepEqual(refusal(await get('opaque-one')), REVOKED);
    assert.ok(isHit(await get('opaque-two')));
  });
  test('Proxy-Authorization is answered as such', async () => {
    const token = await tokenFor();
    await revoke({ principal: `${ISSUER}#alice` });
    const got = await get(token, { 'Proxy-Authorization': `Bearer ${token}` });
    assert.deepEqual(
      [got.status, got.code, got.headers['proxy-authenticate']],
      [407, 'token-revoked', 'Bearer error="invalid_token"'],
    );
  });
  test('a fetch that was on its way answers nobody and leaves nothing', async () => {
    const token = await tokenFor();
    await get(await tokenFor({ sub: 'bob' })); // the public card and the keys are there
    const arrived = agent.hold();
    const waiting = get(token);
    const goOn = await arrived;
    assert.equal((await revoke({ principal: `${ISSUER}#alice` })).status, 200);
    goOn();
    assert.deepEqual(refusal(await waiting), REVOKED);
    await clock.advance(1_000);
    assert.ok(!isHit(await get(await tokenFor())));
  });
  test('outlives a restart', async () => {
    const alice = await tokenFor();
    await revoke({ principal: `${ISSUER}#alice` });
    await stop();
    await start();
    assert.deepEqual(refusal(await get(alice)), REVOKED);
    await clock.advance(1_000);
    assert.equal((await get(await tokenFor())).status, 200);
  });
  test('a record that cannot be read revokes whatever was shown before the start', async () => {
    const alice = await tokenFor();
    await stop();
    fs.writeFileSync(path.join(folder, 'revocations.json'), '{"version":1,"revo', { mode: 0o600 });
    await start();
    assert.deepEqual([refusal(await get(alice)), refusal(await get('opaque-one'))], [REVOKED, REVOKED]);
    const nobody = await ask(`http://${daemon?.started.agents[0]}/agents/ledger/.well-known/agent-card.json`, {});
    assert.equal(nobody.status, 200);
    await clock.advance(1_000);
    assert.equal((await get(await tokenFor())).status, 200);
    assert.ok(log.some((line) => /every credential from before this start is revoked.*take it away/.test(line)));
  });
  test('state: memory says that a restart would forget it', async () => {
    await stop();
    await start('memory');
    const alice = await tokenFor();
    const { status, json } = await revoke({ principal: `${ISSUER}#alice` });
    assert.deepEqual([status, json['persisted'], json['error']], [200, false, 'state: memory keeps nothing']);
    assert.deepEqual(refusal(await get(alice)), REVOKED);
  });
  test('leaves a receipt with the hash, and no name', async () => {
    const { json } = await revoke({ principal: `${ISSUER}#alice` });
    const { receipts } = (await admin('/receipts')).json as { receipts: Record<string, unknown>[] };
    const receipt = receipts.find(({ id }) => id === json['receipt']);
    assert.deepEqual(
      [receipt?.['kind'], receipt?.['action'], receipt?.['about'], receipt?.['reason'], receipt?.['by']],
      ['change', 'revoke', [json['scope']], 'stolen laptop', 'admin'],
    );
    assert.doesNotMatch(fs.readFileSync(path.join(folder, 'revocations.json'), 'utf8'), /alice/);
  });
  test('lapses when no token from before can be valid any more', async () => {
    const seconds = Math.floor(clock.now() / 1_000);
    const long = await tokenFor({ exp: seconds + 2 * YEAR });
    await stop();
    await start();
    await revoke({ principal: `${ISSUER}#alice` });
    const lapse = clock.now() + 400 * 24 * 3_600_000;
    // Nothing runs meanwhile: a year of a running daemon is a year of its timers.
    await stop();
    await clock.advance(lapse - 1 - clock.now());
    await start();
    assert.deepEqual(refusal(await get(long)), REVOKED);
    await clock.advance(1);
    assert.notEqual((await get(long)).code, 'token-revoked');
  });
});
