import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { ANY_ORIGIN, anyOriginUrl, scenario } from '../support/scenario.ts';
import { CARD, CARD_PATH, World, type WorldOptions, answers, fails } from '../support/world.ts';

const PAGE = 'https://app.example.com';
const DEV = 'http://localhost:3000';

const NONE: WorldOptions = { origin: answers(CARD, { 'Cache-Control': 'max-age=60' }) };
const LISTED: WorldOptions = {
  ...NONE,
  listen: `{ agents: "127.0.0.1:0", ops: "127.0.0.1:0", admin: "127.0.0.1:0", cors: ["${PAGE}", "${DEV}"] }`,
};

const preflightOf = (origin: string, more: Readonly<Record<string, string>> = {}) => ({
  Origin: origin,
  'Access-Control-Request-Method': 'GET',
  ...more,
});

const corsFields = (headers: object): readonly string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe('with no page listed', () => {
  scenario('nothing is said to any page', NONE, async (world) => {
    for (const origin of [PAGE, 'null', world.base]) {
      const got = await world.card({ Origin: origin });
      assert.equal(got.status, 200);
      assert.deepEqual(corsFields(got.headers), []);
      assert.equal(got.headers.vary, 'A2A-Version, Accept-Encoding');
    }
    const preflight = await world.card(preflightOf(PAGE), 'OPTIONS');
    assert.equal(preflight.status, 405);
    assert.deepEqual(corsFields(preflight.headers), []);
  });
});

describe('with pages listed', () => {
  scenario('those may read what is there for them', LISTED, async (world) => {
    for (const origin of [PAGE, DEV]) {
      const got = await world.card({ Origin: origin });
      assert.equal(got.headers['access-control-allow-origin'], origin);
      assert.match(String(got.headers['access-control-expose-headers']), /Card-Status/);
      assert.equal(got.headers['access-control-allow-credentials'], undefined);
      assert.equal(got.body, CARD);
    }
  });

  scenario('every answer says that it depends on the page, to whomever it goes', LISTED, async (world) => {
    for (const headers of [{}, { Origin: PAGE }, { Origin: 'https://evil.example' }])
      assert.equal((await world.card(headers)).headers.vary, 'A2A-Version, Accept-Encoding, Origin');
    for (const path of ['/agents', '/.well-known/ai-catalog.json', '/nowhere', '/problems/killed'])
      assert.equal((await world.get(path)).headers.vary, 'Origin');
  });

  const OTHERS = [
    'https://evil.example',
    'null',
    '*',
    'http://app.example.com',
    'https://app.example.com:444',
    'https://app.example.com/',
    'https://APP.example.com',
    'https://app.example.com.evil.example',
    'https://sub.app.example.com',
    `${PAGE}, ${PAGE}`,
  ];
  for (const origin of OTHERS)
    scenario(`not ${origin}`, LISTED, async (world) => {
      const got = await world.card({ Origin: origin });
      assert.equal(got.status, 200);
      assert.deepEqual(corsFields(got.headers), []);
      const preflight = await world.card(preflightOf(origin), 'OPTIONS');
      assert.equal(preflight.status, 405);
      assert.deepEqual(corsFields(preflight.headers), []);
    });

  scenario('a 304, a HEAD and a refusal can be read like anything else', LISTED, async (world) => {
    const { headers } = await world.card({ Origin: PAGE });
    const same = await world.card({ Origin: PAGE, 'If-None-Match': headers.etag ?? '' });
    assert.equal(same.status, 304);
    const head = await world.card({ Origin: PAGE }, 'HEAD');
    const none = await world.get('/agents/stranger/.well-known/agent-card.json', { Origin: PAGE });
    assert.equal(none.code, 'unknown-agent');
    world.says(fails(503));
    for (const { headers: answered } of [same, head, none]) assert.equal(answered['access-control-allow-origin'], PAGE);
  });

  scenario('a preflight tells what may be sent, and nothing about what is there', LISTED, async (world) => {
    const wanted = 'authorization, a2a-version, if-none-match';
    const asked = preflightOf(PAGE, { 'Access-Control-Request-Headers': wanted });
    const answersOf = async (path: string) => world.get(path, asked, 'OPTIONS');
    const card = await answersOf(CARD_PATH);
    assert.equal(card.status, 204);
    assert.equal(card.headers['access-control-allow-origin'], PAGE);
    assert.equal(card.headers['access-control-allow-headers'], wanted);
    assert.match(String(card.headers['access-control-allow-methods']), /\bGET\b.*\bPOST\b/);
    assert.equal(card.headers['access-control-max-age'], '600');
    assert.match(String(card.headers.vary), /Origin/);
    assert.equal(card.headers['content-length'], undefined);
    const stranger = await answersOf('/agents/stranger/.well-known/agent-card.json');
    assert.deepEqual({ ...stranger.headers, date: '' }, { ...card.headers, date: '' });
    assert.equal(world.origin.asked.length, 0);
  });

  scenario('what is no list of field names is not handed back', LISTED, async (world) => {
    for (const wanted of ['a b', 'x;y', '"x"', 'x,,y', '']) {
      const got = await world.card(preflightOf(PAGE, { 'Access-Control-Request-Headers': wanted }), 'OPTIONS');
      assert.equal(got.status, 204);
      assert.equal(got.headers['access-control-allow-headers'], undefined);
    }
  });

  scenario('a page on a public address may call a private one where its browser asks for it', LISTED, async (world) => {
    const asked = preflightOf(PAGE, { 'Access-Control-Request-Private-Network': 'true' });
    const got = await world.card(asked, 'OPTIONS');
    assert.equal(got.headers['access-control-allow-private-network'], 'true');
    assert.equal(
      (await world.card(preflightOf(PAGE), 'OPTIONS')).headers['access-control-allow-private-network'],
      undefined,
    );
  });

  scenario('neither the admin API nor the ops pages', LISTED, async (world) => {
    for (const [listener, path] of [
      [world.daemon.started.admin[0], '/agents'],
      [world.daemon.started.ops[0], '/livez'],
    ]) {
      const url = `http://${listener}${path}`;
      assert.deepEqual(corsFields((await world.get(url, { Origin: PAGE })).headers), []);
      assert.deepEqual(corsFields((await world.get(url, preflightOf(PAGE), 'OPTIONS')).headers), []);
    }
  });
});

describe('with content: any', () => {
  const any: WorldOptions = {
    ...LISTED,
    origin: (request, response) => {
      response.writeHead(200, { 'Access-Control-Allow-Origin': '*', 'X-Method': request.method ?? '' }).end('theirs');
    },
    config: ANY_ORIGIN,
  };
  scenario('the origin says who may read its answers', any, async (world) => {
    const url = `${anyOriginUrl(world)}/x`;
    const got = await world.get(url, { Origin: PAGE });
    assert.equal(got.headers['access-control-allow-origin'], '*');
    assert.equal(got.headers.vary, undefined);
    const preflight = await world.get(url, preflightOf(PAGE), 'OPTIONS');
    assert.equal(preflight.headers['x-method'], 'OPTIONS');
  });
});

test('what is exposed is what the documentation says', async () => {
  const world = await World.start(LISTED);
  try {
    const { headers } = await world.card({ Origin: PAGE });
    const documented = readFileSync(new URL('../../docs/answers.md', import.meta.url), 'utf8');
    for (const name of String(headers['access-control-expose-headers']).split(', '))
      assert.ok(documented.includes(`\`${name}\``), name);
  } finally {
    await world.stop();
  }
});
