import assert from 'node:assert/strict';
import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { begin, catalog, createPaths, json, PAY_CARD, refuses } from './registry-world.ts';
import { serves } from './review-world.ts';

const fresh = createPaths();

describe('a revocation', () => {
  test('counts within one refresh, whatever is cached', async () => {
    const here = await begin();
    assert.equal((await here.pay()).status, 200);
    here.lists('revoked');
    await here.world.pass(60);
    const got = await here.pay();
    assert.deepEqual([got.status, got.code], [403, 'registry-revoked']);
    assert.match(got.body, /The registry catalog says that this agent is revoked/);
    assert.match((await here.world.metric(/^cardea_cache_entries\{kind="public"/)) ?? '', / 0$/);
  });

  test('counts at once when an administrator has the registry read, and leaves a receipt', async () => {
    const here = await begin();
    await here.pay();
    here.lists('revoked');
    const got = await here.read();
    const { agents, receipt } = JSON.parse(got.body);
    assert.deepEqual([agents[0].agent, agents[0].state, agents[0].status], ['pay', 'revoked', 'revoked']);
    assert.equal((await here.pay()).code, 'registry-revoked');
    const order = (await here.receipts('change')).find(({ id }) => id === receipt);
    assert.deepEqual(
      [order?.['action'], order?.['about'], order?.['reason']],
      ['refresh', ['registry:catalog'], 'it has changed'],
    );
  });

  test('reaches operations and extended cards', async () => {
    const here = await begin({ pay: 'route: through' });
    await here.pay();
    await here.now('revoked');
    const call = await here.world.post('/agents/pay', '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}', {
      'content-type': 'application/json',
    });
    assert.equal(call.status, 403);
    assert.match(call.body, /REGISTRY_REVOKED/);
    assert.equal((await here.world.get('/agents/pay/extendedAgentCard')).status, 403);
  });

  test('cuts a stream of events that runs, on both sides, and the reader is told', async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const here = await begin({ pay: 'route: through' });
    here.world.says((request, response) => {
      if (request.method === 'GET') return callable(here.world.origin.url)(request, response);
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('data: {"n":1}\n\n');
      response.once('close', () => end());
    });
    assert.equal((await here.pay()).status, 200);
    const request = http.request(`${here.world.base}/agents/pay`, {
      method: 'POST',
      headers: { 'A2A-Version': '1.0', 'Content-Type': 'application/json', Accept: 'text/event-stream' },
    });
    request.end('{"jsonrpc":"2.0","id":"r-1","method":"SendStreamingMessage","params":{}}');
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    const [first] = (await once(response, 'data')) as [Buffer];
    assert.equal(first.toString(), 'data: {"n":1}\n\n');
    const rest = text(response);
    await here.now('revoked');
    assert.match(await rest, /REGISTRY_REVOKED/);
    assert.equal(response.complete, true);
    await ended;
  });

  test('keeps a person from approving what waits', async () => {
    const here = await begin();
    await here.pay();
    here.world.says(serves({ ...PAY_CARD, name: 'Payer' }));
    await here.world.clock.advance(61_000);
    await here.pay();
    const { pending } = JSON.parse((await here.admin('GET /agents/pay/change')).body);
    await here.now('revoked');
    const got = await here.admin('POST /agents/pay/approve', { digest: pending[0].digest, reason: 'seen' });
    assert.deepEqual([got.status, got.code], [409, 'conflict']);
    assert.equal((await here.pay()).code, 'registry-revoked');
  });

  test('is taken back by the registry alone: not by leaving the agent out, nor by being away', async () => {
    const here = await begin();
    await here.pay();
    await here.now('revoked');
    here.says(json(catalog()));
    await here.read();
    assert.equal((await here.pay()).code, 'registry-revoked');
    here.says(refuses);
    await here.read();
    await here.world.clock.advance(2 * 3_600_000);
    assert.equal((await here.pay()).code, 'registry-revoked');
    await here.now('active');
    assert.equal((await here.pay()).status, 200);
  });

  for (const how of ['full', 'confirmed', 'uncacheable'] as const)
    test(`while a fetch of that card is on its way (${how}): the card never comes back, also not after a restart`, async () => {
      const state = fresh();
      const here = await begin({ state });
      if (how === 'confirmed') here.world.says(answer304);
      if (how !== 'full') await here.pay();
      const waiting: ServerResponse[] = [];
      here.world.says((_request, response) => void waiting.push(response));
      await here.world.clock.advance(61_000);
      const asked = here.world.origin.asked.length;
      const late = here.pay();
      await here.world.asked(asked + 1);
      await here.now('revoked');
      for (const response of waiting) release(response, how);
      const got = await late;
      assert.deepEqual([got.status, got.code], [403, 'registry-revoked']);
      assert.equal((await here.pay()).code, 'registry-revoked');
      await here.world.quiet();
      assert.match((await here.world.metric(/^cardea_cache_entries\{kind="public"/)) ?? '', / 0$/);
      const { registry, world } = here;
      await here.stop();
      const again = await begin({ state, port: world.origin.port, registryPort: registry.port, says: refuses });
      assert.equal((await again.pay()).code, 'registry-revoked');
      assert.equal(again.world.origin.asked.length, 0);
      await again.now('active');
      assert.equal((await again.pay()).status, 200);
    });
});

/** A card whose agent is called where the card is. */
const callable = (url: string): ReturnType<typeof serves> =>
  serves({
    ...PAY_CARD,
    supportedInterfaces: [{ url: `${url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  });

/** A card that is confirmed where it is asked about. */
const answer304 = (request: { headers: Record<string, unknown> }, response: ServerResponse): void => {
  const isKnown = request.headers['if-none-match'] === '"1"';
  response.writeHead(isKnown ? 304 : 200, {
    ETag: '"1"',
    'Content-Type': 'application/json',
    'Cache-Control': 'max-age=60',
  });
  response.end(isKnown ? undefined : JSON.stringify(PAY_CARD));
};

function release(response: ServerResponse, how: 'full' | 'confirmed' | 'uncacheable'): void {
  if (how === 'confirmed') response.writeHead(304, { ETag: '"1"' }).end();
  else {
    const cacheControl = how === 'full' ? 'max-age=60' : 'no-store';
    response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': cacheControl });
    response.end(JSON.stringify(PAY_CARD));
  }
}
