import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  type AskedOf,
  type Asking,
  ExtendedWorld,
  REST,
  RPC,
  type Replies,
  errorOf,
  isHit,
  legacyCard,
  modernCard,
  reply,
  secretOf,
  statusOf,
} from '../support/extended-world.ts';
import type { Got } from '../support/world.ts';

/** Every way to ask for an extended card, before agents of every kind. */

const CALLERS: readonly (readonly [who: string, how: Asking])[] = [
  ['1.0 over HTTP+JSON', { over: 'rest', version: '1.0' }],
  ['1.0 over JSON-RPC', { over: 'rpc', version: '1.0' }],
  ['0.3 over HTTP+JSON', { over: 'rest', version: '0.3' }],
  ['0.3 over JSON-RPC', { over: 'rpc', version: '0.3' }],
  ['0.3 over HTTP+JSON that says so', { over: 'rest', version: '0.3', headers: { 'A2A-Version': '0.3' } }],
];

interface Kind {
  readonly name: string;
  readonly card: object;
  /** How it has to be asked. */
  readonly asked: string;
  readonly version: string;
  readonly body: object | null;
}

const KINDS: readonly Kind[] = [
  {
    name: '1.0 over JSON-RPC',
    card: modernCard([RPC]),
    asked: 'POST /rpc',
    version: '1.0',
    body: { jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard', params: {} },
  },
  {
    name: '1.0 over HTTP+JSON',
    card: modernCard([REST]),
    asked: 'GET /rest/extendedAgentCard',
    version: '1.0',
    body: null,
  },
  {
    name: '0.3 over JSON-RPC',
    card: legacyCard('JSONRPC'),
    asked: 'POST /old',
    version: '0.3',
    body: { jsonrpc: '2.0', id: 1, method: 'agent/getAuthenticatedExtendedCard', params: {} },
  },
  {
    name: '0.3 over HTTP+JSON',
    card: legacyCard('HTTP+JSON'),
    asked: 'GET /old/v1/card',
    version: '0.3',
    body: null,
  },
];

const cardIn = ({ over }: Asking, { body }: Got): unknown => {
  const read = JSON.parse(body) as { jsonrpc?: string; id?: unknown; result?: unknown };
  if (over !== 'rpc') return read;
  assert.deepEqual([read.jsonrpc, read.id], ['2.0', 'r-1']);
  return read.result;
};

const askedOf = ({ method, target }: AskedOf): string => `${method} ${target}`;

for (const { name, card, asked, version, body } of KINDS) {
  describe(`an agent of ${name}`, () => {
    let agent: ExtendedWorld;
    before(async () => {
      agent = await ExtendedWorld.start({ card, agent: 'route: direct' });
    });
    after(() => agent.stop());

    for (const [who, how] of CALLERS) {
      test(`is asked in its own way for a caller of ${who}, who gets the very card`, async () => {
        agent.asked.length = 0;
        const token = `of ${who}`.replaceAll(/[^a-z0-9]/gi, '-');
        const extensions = { 'A2A-Extensions': 'https://ext.test/a' };
        const headers = { ...how.headers, ...extensions, Cookie: 'a=b', 'User-Agent': 'me', 'X-Mine': '1' };
        const got = await agent.ask({ ...how, token, headers });
        assert.equal(got.status, 200, got.body);
        const expected = JSON.stringify(agent.ownOf({ headers: { authorization: token } }));
        assert.equal(JSON.stringify(cardIn(how, got)), expected.replaceAll('$ORIGIN', agent.world.origin.url));
        const [one, ...more] = agent.asked;
        assert.ok(one !== undefined && more.length === 0);
        assert.equal(askedOf(one), asked);
        assert.deepEqual(one.body === '' ? null : JSON.parse(one.body), body);
        assert.deepEqual([one.headers['a2a-version'], one.headers.authorization], [version, `Bearer ${token}`]);
        assert.equal(one.headers[version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions'], 'https://ext.test/a');
        assert.deepEqual(
          [one.headers.cookie, one.headers['user-agent'], one.headers['x-mine']],
          Array(3).fill(undefined),
        );
        const again = await agent.ask({ ...how, token, headers });
        assert.deepEqual([isHit(again), again.body, agent.asked.length], [true, got.body, 1]);
      });
    }
    test('both bindings of one version are answered from one entry', async () => {
      for (const spoken of ['1.0', '0.3'] as const) {
        agent.asked.length = 0;
        const how = { version: spoken, token: `both-${spoken}` };
        await agent.ask(how);
        assert.ok(isHit(await agent.ask({ ...how, over: 'rpc' })));
        assert.equal(agent.asked.length, 1);
      }
    });
  });
}

describe('an agent of both versions', () => {
  const OLD = { ...RPC, url: '$ORIGIN/old', protocolVersion: '0.3' };
  let agent: ExtendedWorld;
  before(async () => {
    agent = await ExtendedWorld.start({ card: modernCard([OLD, REST]) });
  });
  after(() => agent.stop());
  for (const [who, how] of CALLERS)
    test(`is asked in the version of a caller of ${who}`, async () => {
      agent.asked.length = 0;
      await agent.ask({ ...how, token: who.replaceAll(' ', '-') });
      assert.deepEqual(agent.asked.map(askedOf), [how.version === '1.0' ? 'GET /rest/extendedAgentCard' : 'POST /old']);
    });
});

describe('tenants', () => {
  let agent: ExtendedWorld;
  before(async () => {
    const [a, b] = [{ tenant: 'acme & co' }, { tenant: 'a/b?c#d' }];
    agent = await ExtendedWorld.start({
      card: modernCard([{ ...REST, ...a }, { ...RPC, ...b }, { ...REST, ...b }, RPC]),
    });
  });
  after(() => agent.stop());
  const lastly = (): string => {
    const last = agent.asked.at(-1);
    return last === undefined ? '' : `${askedOf(last)} ${last.body}`.trim();
  };
  test('of a path is one segment, whatever stands in it', async () => {
    assert.equal((await agent.ask({ tenant: 'acme%20%26%20co' })).status, 200);
    assert.equal(lastly(), 'GET /rest/acme%20%26%20co/extendedAgentCard');
  });
  test('of a message goes as the interface declares it', async () => {
    assert.equal((await agent.ask({ over: 'rpc', tenant: 'a/b?c#d' })).status, 200);
    assert.match(lastly(), /^POST \/rpc .*"params":\{"tenant":"a\/b\?c#d"\}\}$/);
  });
  test('is left out where the interface declares none, and whoever names none is served by that one', async () => {
    assert.equal((await agent.ask({ over: 'rpc' })).status, 200);
    assert.match(lastly(), /^POST \/rpc .*"params":\{\}\}$/);
  });
  test('that no interface declares is an agent that is not there', async () => {
    agent.asked.length = 0;
    for (const over of ['rest', 'rpc'] as const) {
      const got = await agent.ask({ over, tenant: 'nobody' });
      const { error, ...problem } = JSON.parse(got.body) as { error: { data?: [{ reason: string }]; message: string } };
      assert.equal(got.status, 404);
      assert.match(JSON.stringify(error), /UNKNOWN_AGENT/);
      assert.doesNotMatch(JSON.stringify([error, problem]), /weather|acme/);
    }
    assert.deepEqual(agent.asked, []);
  });
  test('of one caller is not that of another', async () => {
    const first = await agent.ask({ token: 'bob', tenant: 'acme%20%26%20co' });
    const other = await agent.ask({ token: 'bob', over: 'rpc', tenant: 'a/b?c#d' });
    assert.deepEqual([isHit(first), isHit(other)], [false, false]);
  });
});

describe("the agent's no is the caller's, in every binding", () => {
  const restError = (status: number, reason: string): Replies =>
    statusOf(status, {}, { error: { code: status, status: 'X', details: [{ reason, domain: 'a2a-protocol.org' }] } });
  const CHALLENGE = 'Bearer realm="agent", error="insufficient_scope"';
  /** What the agent says, where a caller reads it in each binding: the code, and the HTTP status over JSON-RPC and HTTP+JSON. */
  const cases: readonly (readonly [
    says: string,
    over: 'rpc' | 'rest',
    replies: Replies,
    code: string,
    statuses: string,
  ])[] = [
    ['-32004', 'rpc', errorOf(-32004), 'extended-not-supported', '200 400'],
    ['-32007', 'rpc', errorOf(-32007), 'extended-not-configured', '200 400'],
    ['-32007 on 404', 'rpc', errorOf(-32007, 404), 'extended-not-configured', '200 400'],
    ['-32009', 'rpc', errorOf(-32009), 'version-not-supported', '200 400'],
    ['method not found', 'rpc', errorOf(-32601), 'extended-not-configured', '200 400'],
    ['an error of its own', 'rpc', errorOf(-32603), 'origin-status', '502 502'],
    ['what is no JSON-RPC', 'rpc', statusOf(200, {}, {}), 'origin-status', '502 502'],
    ['500', 'rpc', statusOf(500), 'origin-status', '502 502'],
    ['unsupported', 'rest', restError(400, 'UNSUPPORTED_OPERATION'), 'extended-not-supported', '200 400'],
    [
      'not configured',
      'rest',
      restError(404, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'),
      'extended-not-configured',
      '200 400',
    ],
    [
      'not configured, in 0.3',
      'rest',
      restError(400, 'AUTHENTICATED_EXTENDED_CARD_NOT_CONFIGURED'),
      'extended-not-configured',
      '200 400',
    ],
    ['another version', 'rest', restError(400, 'VERSION_NOT_SUPPORTED'), 'version-not-supported', '200 400'],
    ['a code without a reason', 'rest', statusOf(400, {}, { code: -32007 }), 'extended-not-configured', '200 400'],
    ['404', 'rest', statusOf(404), 'extended-not-configured', '200 400'],
    ['405', 'rest', statusOf(405), 'extended-not-configured', '200 400'],
    ['501', 'rest', statusOf(501), 'extended-not-configured', '200 400'],
    ['400', 'rest', statusOf(400), 'origin-status', '502 502'],
    ['503', 'rest', statusOf(503), 'origin-status', '502 502'],
    ['401', 'rpc', statusOf(401, { 'WWW-Authenticate': CHALLENGE }), 'extended-refused', '401 401'],
    ['401', 'rest', statusOf(401, { 'WWW-Authenticate': CHALLENGE }), 'extended-refused', '401 401'],
    ['403', 'rpc', statusOf(403, { 'WWW-Authenticate': CHALLENGE }), 'extended-refused', '403 403'],
    ['403', 'rest', statusOf(403, { 'WWW-Authenticate': CHALLENGE }), 'extended-refused', '403 403'],
  ];
  const A2A: Readonly<Record<string, number>> = {
    'extended-not-supported': -32004,
    'extended-not-configured': -32007,
    'version-not-supported': -32009,
  };
  const agents = new Map<string, ExtendedWorld>();
  before(async () => {
    for (const [over, card] of [
      ['rpc', modernCard([RPC])],
      ['rest', modernCard([REST])],
    ] as const)
      agents.set(over, await ExtendedWorld.start({ card, config: 'cache: { prefetch: false, negativeTtl: 1s }' }));
  });
  after(async () => {
    for (const agent of agents.values()) await agent.stop();
  });

  for (const [says, over, replies, code, statuses] of cases) {
    test(`${says} over ${over} is ${code}`, async () => {
      const agent = agents.get(over);
      assert.ok(agent !== undefined);
      agent.replies = replies;
      for (const [index, caller] of (['rpc', 'rest'] as const).entries()) {
        await agent.world.clock.advance(2_000);
        const got = await agent.ask({ over: caller, token: 'anyone' });
        const { error, jsonrpc } = JSON.parse(got.body) as { jsonrpc?: string; error: { code: number } };
        assert.equal(String(got.status), statuses.split(' ')[index], got.body);
        assert.match(String(got.headers['content-type']), /^application\/json/);
        assert.match(JSON.stringify(error), new RegExp(code.toUpperCase().replaceAll('-', '_') + '|A2A|a2a-protocol'));
        assert.equal(error.code, caller === 'rpc' ? (A2A[code] ?? -32000) : got.status);
        assert.equal(jsonrpc, caller === 'rpc' ? '2.0' : undefined);
        const isChallenged = code === 'extended-refused';
        assert.equal(got.headers['www-authenticate'], isChallenged ? CHALLENGE : undefined);
        assert.equal(got.headers['cache-control'], 'no-store');
      }
    });
  }
  test('an answer for another request is nobody’s', async () => {
    const agent = agents.get('rpc');
    assert.ok(agent !== undefined);
    agent.replies = (_asked, response) =>
      reply(response, 200, {}, JSON.stringify({ jsonrpc: '2.0', id: 2, result: agent.ownOf({ headers: {} }) }));
    const got = await agent.ask({ token: 'another' });
    assert.deepEqual([got.status, got.code, secretOf(got)], [502, 'origin-status', undefined]);
  });
});

test('an agent with gRPC alone says so, in both bindings', async (t) => {
  const agent = await ExtendedWorld.start({ card: modernCard([{ ...RPC, protocolBinding: 'GRPC' }]) });
  t.after(() => agent.stop());
  const rest = await agent.ask();
  assert.deepEqual([rest.status, rest.code], [400, 'extended-not-supported']);
  assert.match(rest.body, /no interface over JSON-RPC or HTTP\+JSON/);
  assert.equal((JSON.parse((await agent.ask({ over: 'rpc' })).body) as { error: { code: number } }).error.code, -32004);
  assert.deepEqual(agent.asked, []);
});

test('a public card that declares no extended one, and a version that nobody knows: the agent is not asked', async (t) => {
  const agent = await ExtendedWorld.start({ card: modernCard([RPC], { capabilities: {} }) });
  t.after(() => agent.stop());
  assert.equal((await agent.ask()).code, 'extended-not-supported');
  assert.equal((await agent.ask({ headers: { 'A2A-Version': '2.0' } })).code, 'version-not-supported');
  assert.deepEqual(agent.asked, []);
});
