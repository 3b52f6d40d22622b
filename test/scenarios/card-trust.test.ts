import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, test } from 'node:test';
import type { JWK } from 'jose';
import { pair, type Pair, signature } from '../card/signer.ts';
import { card10 } from '../card/support.ts';
import type { Behave } from '../support/origin-server.ts';
import { answers, type Got, World, type WorldOptions } from '../support/world.ts';

const [one, two, stranger] = [await pair('one'), await pair('two'), await pair('one')];
const CARD = card10({
  supportedInterfaces: [{ url: 'http://127.0.0.1/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
});

const unsigned = JSON.stringify(CARD);
const by = async (...keys: readonly Pair[]): Promise<string> =>
  JSON.stringify({ ...CARD, signatures: await Promise.all(keys.map((key) => signature(CARD, key))) });

/** An origin that serves a card and a key set; each can be changed. */
class Agent {
  card: string = unsigned;
  keys: readonly JWK[] = [one.publicJwk];
  /** Null while the keys are served. */
  keysFail: number | null = null;
  maxAge = 60;
  keysMaxAge = 300;
  jwksAsked = 0;

  readonly behave: Behave = (request, response) => {
    if (request.url !== '/jwks.json')
      return answers(this.card, { 'Cache-Control': `max-age=${this.maxAge}` })(request, response);
    this.jwksAsked += 1;
    if (this.keysFail !== null) return void response.writeHead(this.keysFail).end();
    answers(JSON.stringify({ keys: this.keys }), { 'Cache-Control': `max-age=${this.keysMaxAge}` })(request, response);
  };
}

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

async function start(agent: Agent, rule: string, more: WorldOptions = {}): Promise<World> {
  const keys = rule.includes('keys:') ? 'keys: { own: { jwks: "$ORIGIN/jwks.json" } }' : '';
  const config = `${keys}\n${more.config ?? ''}`;
  world = await World.start({ origin: agent.behave, agent: rule, ...more, config });
  return world;
}

/** The verdict as a caller sees it: `Card-Status` without review and receipt, or the problem's code. */
const verdict = (got: Got): string =>
  got.code ??
  String(got.headers['card-status'])
    .split('; ')
    .filter((each) => !/^(?:review|receipt)=/.test(each))
    .join('; ');

const OWN = 'keys: [own]';
const VERIFIED = 'verified; kid="one"; alg="ES256"; keys="own"; form="a2a-1.0"';

describe('what a rule makes of a card', () => {
  const forged = async (): Promise<string> => (await by(one)).replace('Tells the weather', 'Sells the weather');
  const cases: readonly (readonly [name: string, rule: string, card: () => Promise<string>, expected: string])[] = [
    ['require, signed', `${OWN}, signature: require`, () => by(one), VERIFIED],
    ['require, unsigned', `${OWN}, signature: require`, async () => unsigned, 'signature-required'],
    ['require, tampered with', `${OWN}, signature: require`, forged, 'signature-invalid'],
    [
      "require, a stranger's key of the same name",
      `${OWN}, signature: require`,
      () => by(stranger),
      'signature-invalid',
    ],
    ['require, a key that is not in the set', `${OWN}, signature: require`, () => by(two), 'signature-untrusted'],
    ['if-present, signed', OWN, () => by(one), VERIFIED],
    ['if-present, unsigned', OWN, async () => unsigned, 'unsigned'],
    ['if-present, tampered with', OWN, forged, 'signature-invalid'],
    ['if-present, no keys', 'signature: if-present', () => by(one), 'unverified; why=no-keys'],
    ['off, tampered with', `${OWN}, signature: off`, forged, 'off'],
    ['two of two', `${OWN}, signatures: 2`, () => by(one, two), 'signature-untrusted'],
  ];
  for (const [name, rule, card, expected] of cases) {
    test(name, async () => {
      const agent = new Agent();
      agent.card = await card();
      await start(agent, rule);
      assert.equal(verdict(await (world as World).card()), expected);
    });
  }
});

describe('keys that change', () => {
  /** What a rotation looks like from the agents' side: published, used, then the old one withdrawn. */
  test('a rotation under load refuses no card, and nothing signed by the old key alone is served once that is known', async () => {
    const agent = new Agent();
    agent.card = await by(one);
    agent.maxAge = 1;
    const at = await start(agent, `${OWN}, signature: require, maxStale: 0s`);
    const [both, last] = [await by(one, two), await by(two)];
    const steps: readonly (readonly [what: () => void, kids: readonly string[]])[] = [
      [() => undefined, ['one']],
      [() => void (agent.keys = [one.publicJwk, two.publicJwk]), ['one']],
      [() => void (agent.card = both), ['one', 'two']],
      [() => void (agent.keys = [two.publicJwk]), ['one', 'two']],
      [() => void (agent.card = last), ['two']],
    ];
    for (const [change, kids] of steps) {
      change();
      for (let second = 0; second < 310; second += 31) {
        const got = await Promise.all(Array.from({ length: 8 }, () => at.card()));
        for (const each of got) {
          assert.equal(each.status, 200, each.body);
          assert.ok(
            kids.some((kid) => String(each.headers['card-status']).includes(`kid="${kid}"`)),
            verdict(each),
          );
        }
        await at.clock.advance(31_000);
        await at.quiet();
      }
    }
    assert.deepEqual(agent.keys, [two.publicJwk]);
    assert.match(verdict(await at.card()), /^verified; kid="two"/);
  });

  test('a stored card ends with its key: the key is withdrawn, the origin is down, and the card is not served', async () => {
    const agent = new Agent();
    agent.card = await by(one);
    agent.maxAge = 86_400;
    const at = await start(agent, `${OWN}, signature: require`);
    assert.equal(verdict(await at.card()), VERIFIED);
    agent.keys = [two.publicJwk];
    await at.clock.advance(300_000);
    await at.quiet();
    at.says((request, response) =>
      request.url === '/jwks.json' ? agent.behave(request, response) : void response.writeHead(503).end(),
    );
    assert.equal((await at.card()).code, 'origin-status');
  });

  test('a card that a key of yesterday signed is stale no longer, when the fetch that failed brought the news', async () => {
    const agent = new Agent();
    agent.card = await by(one);
    const at = await start(agent, `${OWN}, signature: require`);
    assert.equal(verdict(await at.card()), VERIFIED);
    await at.clock.advance(100_000);
    agent.keys = [two.publicJwk];
    agent.card = (await by(stranger)).replaceAll('Weather', 'Whether');
    const got = await at.card({ 'Cache-Control': 'no-cache' });
    assert.match(String(got.code), /^signature-/);
  });

  test('a new key is fetched once for a card that names it, and the card is served', async () => {
    const agent = new Agent();
    agent.card = await by(one);
    const at = await start(agent, `${OWN}, signature: require, maxStale: 0s`);
    await at.card();
    agent.keys = [one.publicJwk, two.publicJwk];
    agent.card = await by(two);
    await at.clock.advance(61_000);
    assert.match(verdict(await at.card()), /^verified; kid="two"/);
    assert.equal(agent.jwksAsked, 2);
  });

  test('a thousand made-up names of keys make one request', async () => {
    const agent = new Agent();
    agent.maxAge = 0;
    agent.card = await by(one);
    const at = await start(agent, `${OWN}, signature: require, maxStale: 0s`, {
      config: 'cache: { prefetch: false, negativeTtl: 0s, maxStale: 0s }',
    });
    await at.card();
    assert.equal(agent.jwksAsked, 1);
    await at.clock.advance(31_000);
    const made = await by(two);
    for (let count = 0; count < 1_000; count += 1) {
      const kid = Buffer.from(JSON.stringify({ alg: 'ES256', kid: `made-up-${count}` })).toString('base64url');
      agent.card = made.replace(/"protected":"[^"]*"/, `"protected":"${kid}"`);
      assert.equal((await at.card()).code, 'signature-untrusted');
    }
    assert.equal(agent.jwksAsked, 2);
  });

  test('a key that the configuration revokes vouches for nothing, though the set still holds it', async () => {
    const agent = new Agent();
    agent.card = await by(one);
    world = await World.start({
      origin: agent.behave,
      agent: `${OWN}, signature: require`,
      config: 'keys: { own: { jwks: "$ORIGIN/jwks.json", revoked: [one] } }',
    });
    assert.equal((await world.card()).code, 'key-revoked');
  });
});

describe('keys that cannot be had', () => {
  test('at the start: refused, and served as soon as they are there', async () => {
    const agent = new Agent();
    agent.card = await by(one);
    agent.keysFail = 503;
    const at = await start(agent, `${OWN}, signature: require`, { prefetch: true });
    assert.equal((await at.card()).code, 'keys-unavailable');
    agent.keysFail = null;
    await at.pass(2);
    assert.equal(verdict(await at.card()), VERIFIED);
  });

  test('an unsigned card under if-present waits for no keys', async () => {
    const agent = new Agent();
    agent.keysFail = 503;
    const at = await start(agent, OWN);
    assert.equal(verdict(await at.card()), 'unsigned');
    assert.equal(agent.jwksAsked, 0);
  });

  test('later: the old ones serve until keysMaxStale, then nothing does, then everything again', async () => {
    const agent = new Agent();
    agent.card = await by(one);
    agent.maxAge = 86_400;
    const at = await start(agent, `${OWN}, signature: require`, {
      config: 'cache: { prefetch: false, keysMaxStale: 1h, maxStale: 24h }',
    });
    assert.equal(verdict(await at.card()), VERIFIED);
    agent.keysFail = 500;
    await at.clock.advance(3_600_000);
    await at.quiet();
    assert.equal(verdict(await at.card()), VERIFIED);
    await at.clock.advance(1_000);
    await at.quiet();
    assert.equal((await at.card()).code, 'keys-unavailable');
    agent.keysFail = null;
    await at.clock.advance(31_000);
    const asked = at.origin.asked.filter((line) => !line.endsWith('jwks.json')).length;
    const got = await at.card();
    assert.equal(verdict(got), VERIFIED);
    assert.match(String(got.headers['cache-status']), /^cardea; hit/);
    assert.equal(at.origin.asked.filter((line) => !line.endsWith('jwks.json')).length, asked, 'the good card was kept');
  });

  test('a restart with everything down serves what an earlier process had verified, and refuses it once the keys are too old', async (t) => {
    const agent = new Agent();
    agent.card = await by(one);
    agent.maxAge = 86_400;
    const state = mkdtempSync(path.join(tmpdir(), 'cardea-trust-'));
    t.after(() => rmSync(state, { recursive: true }));
    const first = await start(agent, `${OWN}, signature: require`, { state });
    assert.equal(verdict(await first.card()), VERIFIED);
    const { port } = first.origin;
    await first.stop();
    world = undefined;
    const down: Behave = (request) => void request.socket.destroy();
    const second = await start(agent, `${OWN}, signature: require`, { state, port, origin: down });
    const got = await second.card();
    assert.equal(verdict(got), VERIFIED);
    assert.match(String(got.headers['cache-status']), /^cardea; hit/);
    assert.ok(second.origin.asked.every((line) => line.endsWith('jwks.json')));
    await second.clock.advance(86_400_001);
    await second.quiet();
    assert.equal((await second.card()).status, 502);
  });

  test('no redirect is followed to keys that are not configured', async () => {
    const agent = new Agent();
    agent.card = await by(two);
    const at = await start(agent, `${OWN}, signature: require`);
    at.says((request, response) => {
      if (request.url === '/jwks.json') return void response.writeHead(302, { Location: '/uploaded.json' }).end();
      if (request.url === '/uploaded.json')
        return answers(JSON.stringify({ keys: [two.publicJwk] }))(request, response);
      agent.behave(request, response);
    });
    assert.equal((await at.card()).code, 'keys-unavailable');
    assert.ok(!at.origin.asked.includes('GET /uploaded.json'));
  });
});

describe('jku', () => {
  const withJku = async (key: Pair, jku: string): Promise<string> =>
    JSON.stringify({ ...CARD, signatures: [await signature(CARD, key, { header: { jku } })] });

  test('the configured URL vouches for signatures that name it, and for no others', async () => {
    const agent = new Agent();
    const at = await start(agent, 'jku: ["$ORIGIN/jwks.json"], signature: require', {
      config: 'cache: { prefetch: false, negativeTtl: 0s }',
    });
    agent.card = await withJku(one, `${at.origin.url}/jwks.json`);
    agent.maxAge = 0;
    assert.match(verdict(await at.card()), /^verified; kid="one"; alg="ES256"; keys="http:/);
    agent.card = await by(one);
    assert.equal(
      (await at.card({ 'A2A-Version': '1.0', 'Cache-Control': 'no-cache' })).status,
      200,
      'the good one stays',
    );
  });

  test('a URL that is not configured is never fetched', async () => {
    const agent = new Agent();
    const at = await start(agent, 'jku: ["$ORIGIN/other.json"], signature: require');
    agent.card = await withJku(one, `${at.origin.url}/jwks.json`);
    assert.equal((await at.card()).code, 'signature-untrusted');
    assert.equal(agent.jwksAsked, 0);
  });
});

describe('what is seen of it', () => {
  test('metrics count verifications and fetches of keys, and date the keys', async () => {
    const agent = new Agent();
    agent.card = await by(one);
    const at = await start(agent, `${OWN}, signature: require`);
    await at.card();
    assert.equal(
      await at.metric(/^cardea_verify_total\{result="verified"/),
      'cardea_verify_total{result="verified"} 1',
    );
    assert.equal(
      await at.metric(/^cardea_jwks_fetch_total\{result="stored"/),
      'cardea_jwks_fetch_total{result="stored"} 1',
    );
    const dated = `cardea_keys_last_success_timestamp_seconds{keys="own"} ${at.clock.now() / 1000}`;
    assert.equal(await at.metric(/^cardea_keys_last_success/), dated);
    const [keys] = at.logged('exchange').filter((line) => line['purpose'] === 'keys');
    assert.equal(keys?.['outcome'], 'stored');
  });

  test('what a signature does not cover is not served, is listed, and stays listed when keys change', async () => {
    const agent = new Agent();
    const extra = { ...CARD, 'x-offer': 'free' };
    agent.card = JSON.stringify({ ...extra, signatures: [await signature(CARD, one)] });
    agent.maxAge = 86_400;
    const at = await start(agent, `${OWN}, signature: require`);
    const first = await at.card();
    assert.equal(JSON.parse(first.body)['x-offer'], undefined);
    assert.match(verdict(first), /dropped="\/x-offer"/);
    agent.keys = [one.publicJwk, two.publicJwk];
    await at.clock.advance(300_000);
    await at.quiet();
    const second = await at.card();
    assert.match(String(second.headers['cache-status']), /^cardea; hit/);
    assert.equal(verdict(second), verdict(first));
    assert.equal(second.headers.etag, first.headers.etag);
  });

  test('uncovered: refuse takes no such card', async () => {
    const agent = new Agent();
    agent.card = JSON.stringify({ ...CARD, 'x-offer': 'free', signatures: [await signature(CARD, one)] });
    const at = await start(agent, `${OWN}, signature: require, uncovered: refuse`);
    assert.equal((await at.card()).code, 'signature-invalid');
  });
});
