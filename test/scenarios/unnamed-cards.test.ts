import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createStops } from '../../src/discovery/stops.ts';
import { tag } from '../../src/kernel/ids.ts';
import { startNameServer } from '../support/name-server.ts';
import { CARD, OTHER_CARD, TAKES_ALL, World, answers, ask, fails } from '../support/world.ts';

const LOOPBACK = 'unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32]';
const RULES = `origins:
  - { match: "$ORIGIN", content: card, review: ${TAKES_ALL}, ${LOOPBACK} }
  - { match: "http://*.many.example", content: card, ${LOOPBACK} }`;

describe('cards without a name', () => {
  let world: World;
  before(async () => {
    world = await World.start({ config: RULES });
  });
  after(() => world.stop());

  const host = (): string => new URL(world.origin.url).host;
  const card = (path: string, headers = {}, method = 'GET') =>
    world.get(`/origins/http/${host()}${path}`, headers, method);
  const admin = (method: string, path: string, body?: object) => {
    const content = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      Authorization: `Bearer ${world.daemon.token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': content.length }),
    };
    return ask(`http://${world.daemon.started.admin[0]}${path}`, { method, headers }, content);
  };

  test('are fetched, judged and kept like an agent’s', async () => {
    const first = await card('/team/card.json');
    assert.equal(first.body, CARD);
    assert.match(String(first.headers['cache-status']), /fwd=uri-miss; fwd-status=200; stored/);
    assert.match(String(first.headers['card-status']), /^unsigned; .*review=first-use/);
    const asked = world.origin.asked.length;
    assert.match(String((await card('/team/card.json')).headers['cache-status']), /^cardea; hit; /);
    assert.equal(world.origin.asked.length, asked);
    assert.equal((await card('/team/card.json', { 'If-None-Match': first.headers.etag })).status, 304);
    assert.equal((await card('/team/card.json', {}, 'HEAD')).headers['content-length'], String(CARD.length));
    world.says(answers('{}'));
    assert.equal((await card('/team/none.json')).code, 'card-invalid');
    world.says(fails(401, { 'WWW-Authenticate': 'Bearer' }));
    assert.equal((await card('/team/secret.json')).code, 'origin-status');
    world.says(answers(CARD));
  });
  test('are one each, whichever way they are asked for', async () => {
    const asked = world.origin.asked.length;
    const proxied = await ask(world.base, { path: `${world.origin.url}/team/card.json` });
    assert.match(String(proxied.headers['cache-status']), /^cardea; hit; /);
    assert.equal(world.origin.asked.length, asked);
    assert.equal((await card('/team/card.json?x')).body, CARD);
    assert.equal(world.origin.asked.at(-1), 'GET /team/card.json?x');
  });
  test('are an agent’s where they have a name', async () => {
    await world.card();
    const asked = world.origin.asked.length;
    const got = await card('/.well-known/agent-card.json');
    assert.match(String(got.headers['cache-status']), /^cardea; hit; /);
    assert.equal(world.origin.asked.length, asked);
    assert.equal((await admin('POST', '/kill', { scope: 'agent:weather', reason: 'r' })).status, 200);
    assert.equal((await card('/.well-known/agent-card.json')).code, 'killed');
    assert.equal((await card('/team/card.json')).body, CARD);
    await liftAll();
  });
  test('are read alone, and never round and round', async () => {
    const posted = await card('/team/card.json', {}, 'POST');
    assert.deepEqual([posted.status, posted.headers.allow], [405, 'GET, HEAD']);
    assert.equal((await card('/team/card.json', { Via: '1.1 cardea' })).code, 'loop-detected');
  });
  test('are nobody’s that no rule lets', async () => {
    for (const [target, code] of [
      ['/origins/evil.test/card', 'origin-not-allowed'],
      [`/origins/${host()}/card`, 'origin-not-allowed'],
      ['/origins/http/a.b.many.example/card', 'origin-not-allowed'],
      ['/origins/http/many.example.evil.test/card', 'lookalike-origin'],
    ] as const)
      assert.equal((await world.get(target)).code, code, target);
  });
  const liftAll = async (): Promise<void> => {
    const { kills } = JSON.parse((await admin('GET', '/kill')).body) as { kills: { id: string }[] };
    for (const { id } of kills) await admin('DELETE', `/kill/${id}`, { reason: 'r' });
  };
  test('are stopped by their URL, by their host, and with everything', async () => {
    const url = `${world.origin.url}/team/card.json`;
    for (const scope of [`agent:${url}`, `origin:${host()}`, 'origin:127.0.0.1', 'all']) {
      assert.equal((await admin('POST', '/kill', { scope, reason: 'r' })).status, 200, scope);
      assert.equal((await card('/team/card.json')).code, 'killed', scope);
      if (scope.startsWith('agent:')) assert.equal((await card('/team/other.json')).body, CARD);
      await liftAll();
      assert.equal((await card('/team/card.json')).body, CARD, scope);
    }
  });
  test('are purged by their host', async () => {
    await card('/team/card.json');
    world.says(answers(OTHER_CARD));
    await admin('POST', '/purge', { tags: ['origin:127.0.0.1'], reason: 'r' });
    assert.equal((await card('/team/card.json')).body, OTHER_CARD);
    world.says(answers(CARD));
  });
  test('are told of and fetched anew by their URL', async () => {
    const url = `${world.origin.url}/team/card.json`;
    const at = (below: string): string => `/agents/${encodeURIComponent(url)}${below}`;
    await card('/team/card.json');
    const shown = JSON.parse((await admin('GET', at(''))).body) as Record<string, unknown>;
    assert.deepEqual([shown['agent'], shown['state'], shown['urls']], [url, 'fresh', [url]]);
    assert.equal((await admin('GET', at('/card'))).body, (await card('/team/card.json')).body);
    const asked = world.origin.asked.length;
    const refreshed = JSON.parse((await admin('POST', at('/refresh'), { reason: 'r' })).body) as Record<
      string,
      unknown
    >;
    assert.equal(refreshed['outcome'], 'stored');
    assert.equal(world.origin.asked.length, asked + 1);
    for (const other of [
      'https%3A%2F%2Fevil.test%2F',
      at('').replace('%3A', '%3a').slice('/agents/'.length),
      'http%3A%2F%2F%ff',
    ])
      assert.equal((await admin('GET', `/agents/${other}`)).status, 404, other);
    const receipts = await admin('GET', `/receipts?agent=${encodeURIComponent(url)}`);
    assert.ok(
      (JSON.parse(receipts.body) as { receipts: { agent: string }[] }).receipts.every(({ agent }) => agent === url),
    );
  });
  test('are explained by their URL, and so is what is none', async () => {
    const because = async (target: string): Promise<readonly string[]> => {
      const { body } = await admin('GET', `/explain?target=${encodeURIComponent(target)}`);
      return (JSON.parse(body) as { because: readonly string[] }).because;
    };
    assert.match(
      (await because(`${world.origin.url}/team/card.json`)).join(' '),
      /^origins\[0\] covers it\. .*is served: fresh/,
    );
    assert.match((await because('https://evil.test/')).join(' '), /^No rule .* Refused: origin-not-allowed/);
    assert.match(
      (await because('https://127.0.0.1/\\x')).join(' '),
      /Refused: origin-not-allowed\. The URL is refused/,
    );
  });
  test('are "other" in metrics, in nobody’s list, and by URL in receipts', async () => {
    const other = await world.metric(/^cardea_requests_total\{agent="other",kind="public",result="hit"\}/);
    assert.match(other ?? '', / [1-9]/);
    assert.equal(await world.metric(/team/), undefined);
    assert.doesNotMatch((await world.get('/agents')).body, /team/);
    const { receipts } = JSON.parse((await admin('GET', '/receipts?limit=200')).body) as {
      receipts: { kind: string; agent: string | null }[];
    };
    assert.ok(
      receipts.some(({ kind, agent }) => kind === 'exchange' && agent === `${world.origin.url}/team/card.json`),
    );
    assert.ok(receipts.every(({ kind, agent }) => kind !== 'refusal' || agent === null || agent === 'weather'));
  });
});

describe('whoever asks for one path after the other', () => {
  test('makes no failure of an agent forgotten, and no series', async (t) => {
    const dns = await startNameServer(() => []);
    const world = await World.start({ config: `egress: { dns: ["${dns.server}"] }\n${RULES}`, origin: fails(500) });
    t.after(async () => {
      await world.stop();
      dns.close();
    });
    const { host } = new URL(world.origin.url);
    const lines = async (): Promise<number> =>
      (await world.get(`http://${world.daemon.started.ops[0]}/metrics`)).body.split('\n').length;
    const round = (each: number) =>
      Promise.all([
        world.get(`/origins/http/${host}/${each}`),
        world.get(`/origins/host-${each}.evil.test/`),
        // Each of these is looked up and asked for.
        ...(each % 100 === 0 ? [world.get(`/origins/http/host-${each}.many.example/`)] : []),
      ]);
    assert.equal((await world.card()).code, 'origin-status');
    await round(0);
    const counted = await lines();
    // More than are remembered of cards without a name.
    for (let each = 1; each <= 1_010; each += 10)
      await Promise.all(Array.from({ length: 10 }, (_, more) => round(each + more)));
    const asked = world.origin.asked.length;
    assert.equal((await world.card()).code, 'origin-status');
    assert.equal(world.origin.asked.length, asked, 'the failure of the agent was forgotten');
    // A histogram more, perhaps, for a result that has not been there before; never one for a URL.
    assert.ok((await lines()) - counted < 200);
    assert.equal(await world.metric(/host-|evil\.test/), undefined);
  });
  test('fills no memory of what to stop', () => {
    const stops = createStops(new AbortController().signal);
    const first = stops.signal([tag('agent:weather')]);
    for (let each = 0; each < 4_095; each += 1) stops.signal([tag(`origin:h${each}.example`)]);
    assert.equal(stops.signal([tag('agent:weather')]), first);
    for (let each = 0; each < 4_095; each += 1) stops.signal([tag(`origin:g${each}.example`)]);
    assert.equal(stops.signal([tag('agent:weather')]), first);
    for (let each = 0; each < 4_096; each += 1) stops.signal([tag(`origin:h${each}.example`)]);
    assert.notEqual(stops.signal([tag('agent:weather')]), first);
  });
});
