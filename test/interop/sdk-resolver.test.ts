import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import { type RunningAgent, startAgent } from '../../demo/agents.ts';
import { type Daemon, startDaemon } from '../../src/daemon.ts';
import { validConfig } from '../support/config.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { JOINS } from '../support/sdk.ts';
import { ask } from '../support/world.ts';

const skill = { id: 'forecast', name: 'Forecast', description: 'Forecasts.' };
const clock = new FakeClock(Date.now());
let modern: RunningAgent;
let legacy: RunningAgent;
let daemon: Daemon;

before(async () => {
  const common = { description: 'Tells.', skill, maxAge: 300 };
  modern = await startAgent({ ...common, name: 'Modern', publishes: '1.0' });
  legacy = await startAgent({ ...common, name: 'Legacy', publishes: '0.3' });
  const local = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
  const config = await validConfig(`
listen: { agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0" }
state: memory
agents:
  modern: { origin: "${modern.url}", listen: "127.0.0.1:0", ${local} }
  legacy: { origin: "${legacy.url}", ${local} }
cache: { prefetch: false }
`);
  daemon = await startDaemon(config, { clock, log: { write: () => undefined } }, async () => config);
});

after(async () => {
  const drained = daemon.drain();
  await clock.advance(500);
  await drained;
  await Promise.all([modern.stop(), legacy.stop()]);
});

const base = (): string => `http://${daemon.started.agents[0]}`;

describe("the official SDK's resolver through Cardea", () => {
  test('with a base path', async () => {
    const card = await new DefaultAgentCardResolver().resolve(`${base()}/agents/modern/`);
    assert.equal(card.name, 'Modern');
    assert.deepEqual(
      card.supportedInterfaces.map(({ url }) => url),
      [`${modern.url}/rpc`, `${modern.url}/rest`],
    );
  });

  test('with a base path that lacks its trailing slash, which takes the last segment away', async () => {
    const asked: string[] = [];
    const fetchImpl: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      asked.push(`${new URL(response.url).pathname} ${response.status}`);
      return response;
    };
    await assert.rejects(new DefaultAgentCardResolver({ fetchImpl }).resolve(`${base()}/agents/modern`));
    assert.deepEqual(asked, ['/agents/.well-known/agent-card.json 404']);
  });

  test('in whatever coding its fetch asks for', async () => {
    const codings: (string | null)[] = [];
    const fetchImpl: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      codings.push(response.headers.get('content-encoding'));
      return response;
    };
    const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(`${base()}/agents/modern/`);
    assert.equal(card.name, 'Modern');
    assert.deepEqual(codings, ['gzip']);
  });

  test('with a port of its own', async () => {
    const card = await new DefaultAgentCardResolver().resolve(`http://${daemon.started.listeners['modern']}`);
    assert.equal(card.name, 'Modern');
  });

  test('against an agent that serves both versions, each client gets its own', async () => {
    const card = await new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }).resolve(
      `${base()}/agents/legacy/`,
    );
    assert.ok(card.supportedInterfaces.some(({ protocolVersion }) => protocolVersion === '0.3'));
    const older = await ask(`${base()}/agents/legacy/.well-known/agent-card.json`, {
      headers: { 'A2A-Version': '0.3' },
    });
    assert.equal(JSON.parse(older.body).protocolVersion, '0.3');
    const silent = await ask(`${base()}/agents/legacy/.well-known/agent.json`, {});
    assert.equal(JSON.parse(silent.body).protocolVersion, '0.3');
  });

  test('a second fetch is a hit', async () => {
    const url = `${base()}/agents/modern/.well-known/agent-card.json`;
    const asked = modern.asked.length;
    for (let round = 0; round < 3; round += 1) await new DefaultAgentCardResolver().resolve(url, '');
    assert.match(String((await ask(url, {})).headers['cache-status']), /; hit;/);
    assert.equal(modern.asked.length, asked);
  });
});

describe('URL joining of the SDKs', () => {
  const outcomes: readonly (readonly [join: string, path: string, status: number])[] = [
    ['JavaScript and .NET', '/agents/modern/', 200],
    ['JavaScript and .NET', '/agents/modern', 404],
    ['Python, Go and Java', '/agents/modern/', 200],
    ['Python, Go and Java', '/agents/modern', 200],
  ];
  for (const [join, path, status] of outcomes) {
    test(`${join}: a base of ${path} is ${status}`, async () => {
      const got = await ask(JOINS[join]?.(base() + path) ?? '', {});
      assert.equal(got.status, status);
      if (status === 404) assert.match(JSON.parse(got.body).detail, /trailing "\/"/);
    });
  }
  for (const join of Object.keys(JOINS)) {
    for (const slash of ['', '/']) {
      test(`${join}: a port of its own, ${slash === '' ? 'without' : 'with'} trailing slash`, async () => {
        const got = await ask(JOINS[join]?.(`http://${daemon.started.listeners['modern']}${slash}`) ?? '', {});
        assert.equal(JSON.parse(got.body).name, 'Modern');
      });
    }
  }
});

describe('operations on an agent that is called directly', () => {
  test("JSON-RPC: A2A's unsupported operation on HTTP 200, with the id and the interface to call", async () => {
    const request = JSON.stringify({ jsonrpc: '2.0', id: 'r-1', method: 'SendMessage', params: {} });
    for (const path of ['/agents/modern', '/agents/modern/']) {
      const got = await post(base() + path, request);
      const { id, error } = JSON.parse(got.body);
      assert.equal(got.status, 200);
      assert.equal(id, 'r-1');
      assert.equal(error.code, -32004);
      assert.match(error.message, new RegExp(`${modern.url}/rpc`));
    }
  });

  test('HTTP+JSON: a google.rpc.Status with the problem beside it', async () => {
    const got = await post(`${base()}/agents/modern/message:send`, '{}');
    const { error, code } = JSON.parse(got.body);
    assert.equal(got.status, 400);
    assert.equal(got.headers['content-type'], 'application/json');
    assert.equal(code, 'not-routed');
    assert.equal(error.details[0].reason, 'UNSUPPORTED_OPERATION');
    assert.equal(error.details[0].domain, 'a2a-protocol.org');
  });

  const post = (url: string, body: string): ReturnType<typeof ask> =>
    ask(url, { method: 'POST', headers: { 'Content-Type': 'application/json' } }, body);
});
