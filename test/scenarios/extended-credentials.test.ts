import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, after, before, describe, test } from 'node:test';
import {
  type AskedOf,
  ExtendedWorld,
  RPC,
  type Replies,
  isHit,
  modernCard,
  reply,
  secretOf,
  statusOf,
} from '../support/extended-world.ts';

/** What Cardea shows an agent of its own, when a caller's extended card is asked for. */

let folder: string;
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'cardea-extended-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const written = (name: string, text: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
};

/** An agent that takes the tokens of its list, and gives new ones to the client that knows the secret. */
class Protected {
  readonly good = new Set<string>();
  readonly shown: (string | undefined)[] = [];
  issued = 0;
  isDown = false;
  agent!: ExtendedWorld;

  readonly replies: Replies = (asked, response) => {
    if (asked.target === '/token') return this.#token(asked, response);
    const { authorization } = asked.headers;
    this.shown.push(authorization);
    if (!this.good.has(authorization?.replace('Bearer ', '') ?? ''))
      return statusOf(401, { 'WWW-Authenticate': 'Bearer realm="agent"' })(asked, response);
    this.agent.gives(this.agent.ownOf(asked), { 'Cache-Control': 'max-age=10' })(asked, response);
  };

  #token(asked: AskedOf, response: Parameters<Replies>[1]): void {
    if (this.isDown || asked.headers.authorization !== `Basic ${btoa('c:s')}`) return statusOf(503)(asked, response);
    this.issued += 1;
    this.good.add(`t${this.issued}`);
    reply(response, 200, {}, `{"access_token":"t${this.issued}","token_type":"Bearer","expires_in":100}`);
  }
}

async function start(t: TestContext, credentials: string): Promise<Protected> {
  const origin = new Protected();
  origin.agent = await ExtendedWorld.start({
    replies: origin.replies,
    agent: `extended: { credentials: ${credentials} }`,
    config: 'cache: { prefetch: false, negativeTtl: 1s }',
    file: path.join(folder, 'cardea.yaml'),
  });
  t.after(() => origin.agent.stop());
  return origin;
}

const byClient = (t: TestContext): Promise<Protected> => {
  const secret = written('secret', 's');
  return start(t, `{ clientCredentials: { tokenUrl: "$ORIGIN/token", clientId: c, clientSecret: "file:${secret}" } }`);
};

describe('clientCredentials', () => {
  test('one token for all callers, whose own goes nowhere, and a card for each caller', async (t) => {
    const origin = await byClient(t);
    const { agent } = origin;
    const got = await Promise.all(['ann', 'ben', null].map((token) => agent.ask({ token })));
    assert.deepEqual(
      got.map((each) => [each.status, isHit(each), secretOf(each)]),
      Array.from({ length: 3 }, () => [200, false, 't1']),
    );
    assert.deepEqual([origin.issued, origin.shown], [1, Array(3).fill('Bearer t1')]);
    for (const token of ['ann', 'ben', null]) assert.ok(isHit(await agent.ask({ token })));
    assert.equal(agent.world.origin.asked.filter((line) => line === 'POST /token').length, 1);
    assert.doesNotMatch(agent.world.log.join(''), /Bearer|ann|ben|"t1"/);
  });
  test('it is renewed behind before it ends, and a new one is waited for when it has', async (t) => {
    const origin = await byClient(t);
    const { agent } = origin;
    await agent.ask();
    await agent.world.clock.advance(79_000);
    await agent.ask();
    assert.equal(origin.issued, 1);
    await agent.world.clock.advance(11_000);
    await agent.ask();
    await agent.world.quiet();
    assert.deepEqual([origin.issued, origin.shown.at(-1)], [2, 'Bearer t1']);
    await agent.world.clock.advance(101_000);
    await agent.ask();
    assert.deepEqual([origin.issued, origin.shown.at(-1)], [3, 'Bearer t3']);
  });
  test('one that the agent refuses is replaced at once, and only once', async (t) => {
    const origin = await byClient(t);
    const { agent } = origin;
    await agent.ask();
    origin.good.clear();
    const got = await agent.ask({ token: 'ben' });
    assert.deepEqual([got.status, origin.issued, origin.shown.slice(1)], [200, 2, ['Bearer t1', 'Bearer t2']]);
    agent.replies = (asked, response) => {
      origin.good.clear();
      origin.replies(asked, response);
    };
    const refused = await agent.ask({ token: 'cem' });
    assert.deepEqual([refused.status, refused.code, origin.issued], [401, 'extended-refused', 3]);
    assert.equal(refused.headers['www-authenticate'], 'Bearer realm="agent"');
  });
  test('while the token endpoint is down it is left alone, the agent is not asked, and what is held serves', async (t) => {
    const origin = await byClient(t);
    const { agent } = origin;
    await agent.ask();
    origin.isDown = true;
    await agent.world.clock.advance(101_000);
    const tokens = (): number => agent.world.origin.asked.filter((line) => line === 'POST /token').length;
    const stale = await agent.ask();
    assert.deepEqual([stale.status, secretOf(stale)], [200, 't1']);
    assert.match(String(stale.headers['cache-status']), /detail=stale-if-error/);
    const other = await agent.ask({ token: 'ben' });
    assert.deepEqual([other.status, other.code], [502, 'origin-status']);
    assert.match(other.body, /token endpoint answered 503; check tokenUrl/);
    assert.deepEqual([tokens(), origin.shown.length], [2, 1]);
    origin.isDown = false;
    await agent.world.clock.advance(11_000);
    assert.equal((await agent.ask({ token: 'ben' })).status, 200);
  });
});

describe('static', () => {
  test('a file that is rotated is read again, between exchanges and in the midst of one', async (t) => {
    const file = written('token', 'one\n');
    const origin = await start(t, `{ static: "file:${file}" }`);
    const { agent } = origin;
    for (const each of ['one', 'two', 'three']) origin.good.add(each);
    assert.equal(secretOf(await agent.ask()), 'one');
    written('token', 'two\n');
    await agent.world.clock.advance(11_000);
    assert.equal(secretOf(await agent.ask()), 'two');
    await agent.world.clock.advance(11_000);
    agent.replies = (asked, response) => {
      written('token', 'three\n');
      origin.good.delete('two');
      origin.replies(asked, response);
    };
    assert.equal(secretOf(await agent.ask()), 'three');
    assert.deepEqual(origin.shown, ['Bearer one', 'Bearer two', 'Bearer two', 'Bearer three']);
    origin.good.clear();
    await agent.world.clock.advance(11_000);
    assert.equal((await agent.ask()).code, 'extended-refused');
    assert.equal(origin.shown.length, 5, 'the same text is not shown twice');
  });
  test('a file that is gone says so, without a word of what it held', async (t) => {
    const file = written('gone', 'secret-text');
    const origin = await start(t, `{ static: "file:${file}" }`);
    rmSync(file);
    const got = await origin.agent.ask();
    assert.deepEqual([got.status, got.code, origin.shown.length], [502, 'origin-unreachable', 0]);
    assert.doesNotMatch(got.body, /secret-text/);
  });
});

describe('when something is shown', () => {
  const bearer = { httpAuthSecurityScheme: { scheme: 'Bearer' } };
  const basic = { httpAuthSecurityScheme: { scheme: 'Basic' } };
  const mutual = { mtlsSecurityScheme: {} };
  const oauth = {
    oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 'https://idp.test/t', scopes: {} } } },
  };
  const openId = {
    openIdConnectSecurityScheme: { openIdConnectUrl: 'https://idp.test/.well-known/openid-configuration' },
  };
  const key = { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } };
  const needs = (...names: readonly string[]): object => ({
    schemes: Object.fromEntries(names.map((name) => [name, { list: [] }])),
  });
  const schemes = { bearer, basic, mutual, oauth, openId, key };
  const cases: readonly (readonly [what: string, securityRequirements: readonly object[], shown: boolean])[] = [
    ['its scheme is required', [needs('bearer')], true],
    ['one of two alternatives is its scheme', [needs('key'), needs('bearer')], true],
    ['OAuth 2 is required', [needs('oauth')], true],
    ['OpenID Connect is required', [needs('openId')], true],
    ['another scheme is required', [needs('basic')], false],
    ['a key in another field is required', [needs('key')], false],
    ['a second member is wanting', [needs('bearer', 'mutual')], false],
    ['no alternative is whole', [needs('bearer', 'key'), needs('basic')], false],
    ['one alternative of two is whole', [needs('bearer', 'key'), needs('oauth')], true],
    ['an alternative names what no scheme declares', [needs('nothing')], false],
    ['nothing is required, and its scheme is listed', [], true],
  ];
  let agent: ExtendedWorld;
  before(async () => {
    agent = await ExtendedWorld.start({ config: 'cache: { prefetch: false }' });
  });
  after(() => agent.stop());
  for (const [what, securityRequirements, shown] of cases)
    test(`${what}: the agent is ${shown ? '' : 'not '}asked`, async () => {
      agent.card = modernCard([RPC], { securitySchemes: schemes, securityRequirements });
      await agent.world.clock.advance(4_000_000);
      agent.asked.length = 0;
      const got = await agent.ask({ token: what.replaceAll(/\W/g, '-') });
      assert.deepEqual([got.code, agent.asked.length], shown ? [undefined, 1] : ['extended-not-supported', 0]);
    });
  test('a card that declares no scheme is shown nothing', async () => {
    agent.card = modernCard([RPC], { securitySchemes: {}, securityRequirements: [] });
    await agent.world.clock.advance(4_000_000);
    agent.asked.length = 0;
    assert.equal((await agent.ask({ token: 'any' })).code, 'extended-not-supported');
    assert.deepEqual(agent.asked, []);
  });
  test('a challenge of a scheme that the card does not declare is not handed on', async () => {
    agent.card = modernCard([RPC]);
    await agent.world.clock.advance(4_000_000);
    for (const [challenge, code] of [
      ['Basic realm="fishing"', 'origin-status'],
      ['Bearer realm="a", Basic realm="fishing"', 'origin-status'],
      ['Bearer realm="a"', 'extended-refused'],
    ] as const) {
      agent.replies = statusOf(401, { 'WWW-Authenticate': challenge });
      const got = await agent.ask({ token: `for-${code}-${challenge.length}` });
      assert.deepEqual(
        [got.code, got.headers['www-authenticate']],
        [code, code === 'extended-refused' ? challenge : undefined],
      );
      assert.doesNotMatch(got.body, /fishing/);
    }
  });
});
