import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { type Behave, startOrigin } from '../support/origin-server.ts';
import { CARD, CARD_PATH, World, answers, ask } from '../support/world.ts';

/*
 * Credentials of callers and of origins, and what cards say, go where they must and nowhere else: not into a log line, a metric, a
 * receipt, a problem of somebody else or a file.
 */

/** One mark for each way that a secret can come; none occurs by chance. */
const SECRETS = {
  bearer: 'canary-bearer-1f3a',
  basic: 'canary-basic-2b7c',
  proxy: 'canary-proxy-3d9e',
  cookie: 'canary-cookie-4a1b',
  key: 'canary-key-5c2d',
  query: 'canary-query-6e3f',
  body: 'canary-body-7a4b',
  answer: 'canary-answer-8c5d',
  setCookie: 'canary-set-cookie-9e6f',
  location: 'canary-location-1c8d',
  admin: 'canary-admin-2e9f',
  agentName: 'canary-agent-3a0b',
  refused: 'canary-refused-card-4c1d',
} as const;
/** What a public card says: the archive of accepted cards and what waits for a person hold it, receipts and everything else do not. */
const CARD_TEXT = 'canary-card-text-5e2f';

const SHOWN = { ...(JSON.parse(CARD) as object), description: CARD_TEXT };
const card = answers(JSON.stringify(SHOWN), {
  'Set-Cookie': `session=${SECRETS.setCookie}`,
  'Cache-Control': 'max-age=60',
});
const caller = {
  Authorization: `Bearer ${SECRETS.bearer}`,
  'Proxy-Authorization': `Basic ${Buffer.from(`u:${SECRETS.basic}`).toString('base64')}`,
  Cookie: `session=${SECRETS.cookie}`,
  'X-Api-Key': SECRETS.key,
};

/** How the origin answers, one thing after the other. */
const ANSWERS: readonly Behave[] = [
  card,
  (_request, response) => response.writeHead(401, { 'WWW-Authenticate': `Bearer realm="agents"` }).end(SECRETS.answer),
  (_request, response) =>
    response
      .writeHead(302, { Location: `https://u:${SECRETS.location}@evil.test/?t=${SECRETS.location}` })
      .end(SECRETS.answer),
  answers(JSON.stringify({ ...SHOWN, name: 7, description: SECRETS.refused })),
  answers(`{"name": "${SECRETS.refused}", `),
  answers(`<html>${SECRETS.refused}</html>`, { 'Content-Type': 'text/html' }),
  (request) => void request.socket.destroy(),
];

async function bigScenario(
  state: string,
): Promise<{ readonly log: string; readonly metrics: string; readonly receipts: string }> {
  const idp = await startOrigin((request, response) => {
    request.resume();
    response
      .writeHead(200, {
        'Content-Type': 'text/plain',
        'Cache-Control': 'max-age=60',
        'Set-Cookie': `x=${SECRETS.setCookie}`,
      })
      .end(SECRETS.answer);
  });
  const reach = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
  const config = `  keyed: { card: "$ORIGIN/keyed", ${reach}, keys: [idp] }
origins: [{ match: "${idp.url}", content: any, listen: "127.0.0.1:0", ${reach} }]
keys: { idp: { jwks: "${idp.url}/jwks" } }
cache: { negativeTtl: 0s, defaultTtl: 0s, prefetch: false }
log: { level: debug, hits: true }`;
  const world = await World.start({ state, config, agent: 'interfaces: any', origin: card });
  const admin = `http://${world.daemon.started.admin[0]}`;
  const token = fs.readFileSync(path.join(state, 'admin-token'), 'utf8').trim();
  const authority = { Authorization: `Bearer ${token}` };
  try {
    for (const behave of ANSWERS) {
      world.says(behave);
      await world.clock.advance(61_000);
      const got = await world.card(caller);
      assert.equal(got.headers['set-cookie'], undefined);
      await world.get(`${CARD_PATH}?access_token=${SECRETS.query}`, caller);
      await world.get(CARD_PATH.replace('weather', 'keyed'), caller);
      await world.quiet();
    }
    const any = Object.values(world.daemon.started.listeners)[0];
    for (const method of ['GET', 'GET', 'POST'])
      await ask(
        `http://${any}/token?code=${SECRETS.query}`,
        { method, headers: caller },
        method === 'POST' ? `secret=${SECRETS.body}` : '',
      );
    await world.get(`/agents/${SECRETS.agentName}/x`, caller);
    await world.post('/agents/weather', `{"jsonrpc":"2.0","id":1,"method":"${SECRETS.body}"}`, caller);
    await world.get('/origins/evil.test/x', caller);
    for (const target of ['/kill', `/explain?target=https://u:${SECRETS.query}@x.test/`])
      await ask(admin + target, { headers: { Authorization: `Bearer ${SECRETS.admin}` } });
    const orders = { scope: 'agent:keyed', reason: 'drill' };
    await ask(
      `${admin}/kill`,
      { method: 'POST', headers: { ...authority, 'Content-Type': 'application/json' } },
      JSON.stringify(orders),
    );
    await world.clock.advance(61_000); // refusals are written down once a minute
    const receipts = await ask(`${admin}/receipts?limit=1000`, { headers: authority });
    const metrics = await world.get(`http://${world.daemon.started.ops[0]}/metrics`);
    assert.ok(receipts.body.length > 5_000, receipts.body);
    return { log: world.log.join(''), metrics: metrics.body, receipts: receipts.body };
  } finally {
    await world.stop();
    await idp.close();
  }
}

/** A secret as it is, in base64 and as a URL has it. */
const spellings = (secret: string): readonly string[] => [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(`u:${secret}`).toString('base64').replace(/=+$/, ''),
];

function assertFree(where: string, text: string, secrets: readonly string[]): void {
  for (const secret of secrets)
    for (const spelling of spellings(secret)) assert.ok(!text.includes(spelling), `${where} holds ${secret}`);
}

test('after everything that can be refused was refused once, no secret and no card text is where it must not be', async () => {
  const state = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-secrets-'));
  const { log, metrics, receipts } = await bigScenario(state);
  const token = fs.readFileSync(path.join(state, 'admin-token'), 'utf8').trim();
  const secrets = [...Object.values(SECRETS), token];
  for (const [where, text] of Object.entries({ log, metrics, receipts }))
    assertFree(where, text, [...secrets, CARD_TEXT]);
  const files = fs.readdirSync(state).filter((name) => name !== 'admin-token');
  assert.ok(
    ['ledger.db', 'cards.db', 'kills.json', 'hash-key'].every((name) => files.includes(name)),
    files.join(),
  );
  for (const name of files) {
    const bytes = fs.readFileSync(path.join(state, name)).toString('latin1');
    assertFree(name, bytes, /^(cards|ledger)\.db/.test(name) ? secrets : [...secrets, CARD_TEXT]);
  }
  fs.rmSync(state, { recursive: true });
});

test('the search would find one', () => {
  assert.throws(
    () => assertFree('a line', `x ${SECRETS.bearer} y`, Object.values(SECRETS)),
    /a line holds canary-bearer/,
  );
  const basic = Buffer.from(`u:${SECRETS.basic}`).toString('base64');
  assert.throws(() => assertFree('a line', `Basic ${basic}`, Object.values(SECRETS)), /a line holds canary-basic/);
});
