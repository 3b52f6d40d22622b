import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogFaults } from '../support/ai-catalog.ts';
import { CARD, World, answers } from '../support/world.ts';

const CATALOG = '/.well-known/ai-catalog.json';

interface Catalog {
  readonly entries: readonly { readonly identifier: string; readonly url: string }[];
}

test('the agents that there are, as a list and as a catalog', async () => {
  const world = await World.start({ origin: answers(CARD, { 'Cache-Control': 'max-age=60' }) });
  try {
    const before = await world.get('/agents');
    const card = `${world.base}/agents/weather/.well-known/agent-card.json`;
    assert.deepEqual(JSON.parse(before.body), { agents: [{ name: 'weather', card, state: 'missing' }] });
    await world.card();
    const list = await world.get('/agents');
    assert.deepEqual(JSON.parse(list.body), { agents: [{ name: 'weather', card, state: 'fresh' }] });
    assert.equal(list.headers['cache-control'], 'no-store');

    const got = await world.get(CATALOG);
    assert.equal(got.headers['content-type'], 'application/ai-catalog+json');
    const catalog = JSON.parse(got.body) as Catalog;
    assert.deepEqual(catalogFaults(catalog), []);
    assert.deepEqual(
      catalog.entries.map(({ url }) => url),
      [card],
    );
    assert.equal((await world.get(catalog.entries[0]?.url ?? '')).body, CARD, 'an entry leads to its card');

    const head = await world.get(CATALOG, {}, 'HEAD');
    assert.equal(head.headers['content-length'], String(got.bytes.byteLength));
    assert.equal(head.body, '');
    const post = await world.post(CATALOG, '{}');
    assert.equal(post.code, 'method-not-allowed');
    assert.equal(post.headers.allow, 'GET, HEAD');
  } finally {
    await world.stop();
  }
});

test('an entry leads back the way its reader came, and keeps its name', async () => {
  const world = await World.start();
  try {
    const port = new URL(world.base).port;
    const entryAt = async (host: string) => {
      const { body } = await world.get(CATALOG, { Host: host });
      return (JSON.parse(body) as Catalog).entries[0];
    };
    const [one, other] = [await entryAt(`127.0.0.1:${port}`), await entryAt(`localhost:${port}`)];
    assert.match(other?.url ?? '', /^http:\/\/localhost:/);
    assert.notEqual(one?.url, other?.url);
    assert.equal(one?.identifier, other?.identifier);
  } finally {
    await world.stop();
  }
});

test('both lists show a caller the same agents, and only those that it may see', async () => {
  const world = await World.start({ agent: 'visibleTo: [{ tenant: acme }]' });
  try {
    assert.deepEqual(JSON.parse((await world.get('/agents')).body), { agents: [] });
    const { body } = await world.get(CATALOG);
    assert.deepEqual((JSON.parse(body) as Catalog).entries, []);
    assert.doesNotMatch(body, /weather/);
  } finally {
    await world.stop();
  }
});
