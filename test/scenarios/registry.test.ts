import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { describe, test } from 'node:test';
import { begin, catalog, createPaths, type Registered, entry, json, PAY_CARD, refuses } from './registry-world.ts';
import { reviewOf, serves } from './review-world.ts';

const fresh = createPaths();

const OTHER = { ...PAY_CARD, description: 'Pays more bills.' };

describe('what a registry lists', () => {
  test('is fetched from where it says, judged, and served', async () => {
    const here = await begin();
    const got = await here.pay();
    assert.equal(got.status, 200);
    assert.equal(JSON.parse(got.body).name, 'Pay');
    assert.equal(reviewOf(got), 'first-use');
    const { urls, tags, registry, state } = await here.view();
    assert.deepEqual([urls, state], [[here.card], 'fresh']);
    assert.ok(tags.includes('registry:catalog' as (typeof tags)[number]));
    assert.equal(registry?.status, 'approved');
  });

  test('may be a file, and a change of it counts at once', async () => {
    const file = fresh();
    writeFileSync(file, '{"specVersion":"1.0","entries":[]}');
    const here = await begin({ registry: `file: ${file}, refresh: 24h`, says: refuses });
    assert.equal((await here.pay()).code, 'first-use-held');
    writeFileSync(file, JSON.stringify(catalog(entry(here.card))));
    await here.until('approved');
    assert.equal((await here.pay()).status, 200);
    writeFileSync(file, JSON.stringify(catalog(entry(here.card, 'revoked'))));
    await here.until('revoked');
    assert.equal((await here.pay()).code, 'registry-revoked');
    assert.equal(here.registry.asked.length, 0);
  });

  test('is asked for again by its validator, and a registry that answers 304 was had', async () => {
    const here = await begin();
    here.says((request, response) => {
      const isKnown = request.headers['if-none-match'] === '"1"';
      response.writeHead(isKnown ? 304 : 200, { ETag: '"1"', 'Content-Type': 'application/json' });
      response.end(isKnown ? undefined : JSON.stringify(catalog(entry(here.card, 'deprecated'))));
    });
    await here.read();
    await here.world.clock.advance(10_000);
    await here.read();
    assert.equal((await here.view()).registry?.status, 'deprecated');
    assert.equal((await here.view()).registry?.at, here.world.clock.now());
    assert.match((await here.world.metric(/^cardea_registry_lookup_total.*deprecated/)) ?? '', / 2$/);
  });

  test('of others is not looked at, and is nothing that is served', async () => {
    const here = await begin();
    const strangers = Array.from({ length: 50 }, (_, at) =>
      entry(`https://other.example.com/${at}`, 'revoked', { identifier: `urn:x:${at}`, url: 7 }),
    );
    here.says(json(catalog(...strangers, entry(here.card))));
    await here.read();
    assert.equal((await here.pay()).status, 200);
    assert.equal((await here.world.get('/agents')).body.includes('other.example'), false);
  });
});

describe('a status', () => {
  for (const [status, first, then, state] of [
    ['active', 'first-use', 'first-use', 'fresh'],
    ['deprecated', 'first-use', 'first-use', 'fresh'],
    ['pending', 'first-use-held', 'held', 'held'],
    ['quarantined', 'first-use-held', 'held', 'held'],
    ['retired', 'registry-revoked', 'registry-revoked', 'revoked'],
    ['revoked', 'registry-revoked', 'registry-revoked', 'revoked'],
  ] as const)
    test(`${status}: ${first} where nothing was approved, ${then} where a card is in force`, async () => {
      const [cold, warm] = [await begin(), await begin()];
      await cold.now(status);
      const got = await cold.pay();
      assert.equal(got.code ?? reviewOf(got), first);
      assert.equal((await warm.pay()).status, 200);
      await warm.now(status);
      const later = await warm.pay();
      assert.equal(later.code ?? reviewOf(later), then);
      assert.equal((await warm.view()).state, state);
      assert.match((await warm.world.metric(new RegExp(`card_state.*pay.*"${state}"`))) ?? '', / 1$/);
    });

  test('that holds is told as what it is, and not as another card that waits', async () => {
    const here = await begin();
    await here.pay();
    await here.now('pending');
    const told = async (): Promise<string> =>
      JSON.parse((await here.admin('GET /explain?target=pay')).body).because.at(-1);
    assert.match(await told(), /its registry lets no other one be taken/);
    here.world.says(serves(OTHER));
    await here.world.clock.advance(61_000);
    await here.pay();
    assert.match(await told(), /while another one waits/);
    await here.now('retired');
    assert.match(await told(), /stopped by what its registry says/);
  });

  test('that nothing is said of is unknown', async () => {
    const here = await begin();
    await here.pay();
    here.says(json(catalog()));
    await here.read();
    assert.equal(reviewOf(await here.pay()), 'held');
    assert.deepEqual(
      [(await here.view()).registry?.status, (await here.view()).registry?.said],
      ['unknown', 'it does not list it'],
    );
  });

  test('means what the configuration makes of it', async () => {
    const here = await begin({ registry: 'url: $REGISTRY/catalog.json, status: { revoked: report, approved: block }' });
    assert.equal((await here.pay()).code, 'registry-revoked');
    await here.now('revoked');
    assert.equal((await here.pay()).status, 200);
  });

  test('that is reported stands in the receipt of each exchange', async () => {
    const here = await begin();
    await here.now('deprecated');
    await here.pay();
    const [exchange] = (await here.receipts('exchange')).filter(({ purpose }) => purpose === 'card');
    assert.deepEqual(exchange?.['warnings'], ['The registry catalog says that it is deprecated.']);
    const [change] = await here.receipts('registry');
    assert.deepEqual([change?.['agent'], change?.['status'], change?.['action']], ['pay', 'deprecated', 'report']);
  });

  test('that holds lets nothing new in: not another card, save what a person approves', async () => {
    const here = await begin();
    await here.pay();
    await here.now('pending');
    here.world.says(serves(OTHER));
    await here.world.clock.advance(61_000);
    const held = await here.pay();
    assert.deepEqual([reviewOf(held), JSON.parse(held.body).description], ['held', 'Pays bills.']);
    const { pending } = JSON.parse((await here.admin('GET /agents/pay/change')).body);
    await here.admin('POST /agents/pay/approve', { digest: pending[0].digest, reason: 'seen' });
    await here.world.quiet();
    const taken = await here.pay();
    assert.deepEqual([reviewOf(taken), JSON.parse(taken.body).description], ['held', 'Pays more bills.']);
    await here.now();
    assert.equal(reviewOf(await here.pay()), 'approved');
  });

  test('that holds without a card in force is told with its reason', async () => {
    const here = await begin();
    await here.now('pending');
    const { detail } = JSON.parse((await here.pay()).body);
    assert.match(detail, /waits for review: cardea review pay\. The registry catalog says that it is pending\./);
  });
});

describe('where the card is', () => {
  test('moves as a change of class endpoint, which a person approves', async () => {
    const here = await begin();
    await here.pay();
    await here.now(undefined, `${here.world.origin.url}/elsewhere.json`);
    const held = await here.pay();
    assert.equal(reviewOf(held), 'held');
    const { pending } = JSON.parse((await here.admin('GET /agents/pay/change')).body);
    assert.deepEqual(
      pending[0].changes.map((each: { class: string }) => each.class),
      ['endpoint'],
    );
    await here.admin('POST /agents/pay/approve', { digest: pending[0].digest, reason: 'it has moved' });
    await here.world.quiet();
    assert.equal(reviewOf(await here.pay()), 'approved');
    assert.deepEqual((await here.view()).urls, [`${here.world.origin.url}/elsewhere.json`]);
  });

  test('must be covered by a rule: else it stays where it was, and evidence says so', async () => {
    const here = await begin();
    await here.pay();
    await here.now(undefined, 'https://evil.example.net/card.json');
    assert.equal((await here.pay()).status, 200);
    const { urls, registry } = await here.view();
    assert.deepEqual(urls, [here.card]);
    assert.match(registry?.misplaced?.detail ?? '', /No rule allows https:\/\/evil\.example\.net/);
    const [change] = await here.receipts('registry');
    assert.deepEqual([change?.['code'], change?.['url']], ['origin-not-allowed', here.card]);
    const { because } = JSON.parse((await here.admin('GET /explain?target=pay')).body);
    assert.ok(because.some((line: string) => /The place that it names is not used: origin-not-allowed/.test(line)));
  });

  test('that was never at an allowed place is refused, with the line that would allow it', async () => {
    const here = await begin();
    await here.now(undefined, 'https://evil.example.net/card.json');
    const never = await begin({ says: json(catalog(entry('https://evil.example.net/card.json'))) });
    await never.read();
    const got = await never.pay();
    assert.deepEqual([got.status, got.code], [403, 'origin-not-allowed']);
    assert.match(got.body, /add \{ match: \\"https:\/\/evil\.example\.net\\", content: card \} to origins/);
    assert.equal((await here.pay()).status, 200);
  });

  test('is nowhere after its rule is taken out: what waits is told with why it may not be taken', async () => {
    const here = await begin();
    await here.pay();
    await here.now('pending');
    here.world.says(serves(OTHER));
    await here.world.clock.advance(61_000);
    assert.equal(reviewOf(await here.pay()), 'held');
    here.world.writes(here.world.written.replace(/.*content: card,.*\n/, ''));
    assert.equal((await here.world.daemon.reload('SIGHUP')).ok, true);
    assert.deepEqual((await here.view()).urls, []);
    const { pending } = JSON.parse((await here.admin('GET /agents/pay/change')).body);
    assert.deepEqual([pending.length, pending[0].verdict, pending[0].refusal.code], [1, null, 'origin-not-allowed']);
    const { digest } = pending[0];
    const approved = await here.admin('POST /agents/pay/approve', { digest, reason: 'as it was' });
    assert.deepEqual([approved.status, approved.code], [409, 'conflict']);
    assert.match(approved.body, /places this agent where it may not be fetched from\. No rule allows/);
    assert.equal((await here.admin('POST /agents/pay/reject', { digest, reason: 'not any more' })).status, 200);
    assert.deepEqual(JSON.parse((await here.admin('GET /changes')).body).pending, []);
  });

  test('is not where a rule is for URLs of the configuration alone', async () => {
    const here = await begin({ rule: 'content: none' });
    const got = await here.pay();
    assert.deepEqual([got.status, got.code], [403, 'origin-not-allowed']);
    assert.match(got.body, /origins\[0\] is for URLs written in the configuration alone/);
  });
});

describe('a registry that is away', () => {
  const ceiling = 3_600_000;
  for (const [past, review] of [
    [0, 'allowed'],
    [1, 'held'],
  ] as const)
    test(`for ${ceiling + past} ms: ${review}`, async () => {
      const here = await begin();
      await here.pay();
      here.says(refuses);
      await here.world.clock.advance(ceiling + past);
      await here.world.quiet();
      assert.equal(reviewOf(await here.pay()), review);
      const metric = await here.world.metric(/^cardea_registry_last_success.*\{/);
      assert.equal(Number(metric?.split(' ')[1]), (here.world.clock.now() - ceiling - past) / 1000);
    });

  test('is asked again sooner than its pace, and not more and more often', async () => {
    const here = await begin();
    here.says(refuses);
    await here.world.pass(180);
    const failed = Number((await here.world.metric(/^cardea_registry_lookup_total.*failed/))?.split(' ')[1]);
    assert.ok(failed >= 6 && failed <= 12, String(failed));
  });

  test('says why when it is read by an administrator', async () => {
    const here = await begin();
    here.says((_request, response) => response.writeHead(200).end('<html>'));
    const got = await here.read();
    assert.deepEqual([got.status, got.code], [502, 'origin-status']);
    assert.match(got.body, /cannot be read: it is no JSON: line 1, column 1/);
    assert.equal((await here.admin('POST /registries/catalogue/refresh', { reason: 'x' })).status, 404);
    assert.equal((await here.admin('POST /registries/catalog/refresh', {})).status, 400);
  });

  test('at a restart loses no agent and forgets nothing that it said', async () => {
    const state = fresh();
    const first = await begin({ state });
    await first.pay();
    const { world, registry } = first;
    await first.stop();
    const again = await begin({ state, port: world.origin.port, registryPort: registry.port, says: refuses });
    await again.world.quiet();
    const got = await again.pay();
    assert.equal(got.status, 200);
    assert.equal(JSON.parse(got.body).name, 'Pay');
    assert.equal(again.world.origin.asked.length, 0);
    assert.equal((await again.view()).registry?.status, 'approved');
  });

  test('at a restart with a record that cannot be believed serves none of its agents', async () => {
    const state = fresh();
    const first = await begin({ state });
    await first.pay();
    const { world, registry } = first;
    await first.stop();
    writeFileSync(path.join(state, 'registries.json'), '{}');
    const again = await begin({ state, port: world.origin.port, registryPort: registry.port, says: refuses });
    assert.equal((await again.pay()).code, 'registry-revoked');
    await again.now();
    assert.equal((await again.pay()).status, 200);
  });
});

describe('risk: high', () => {
  for (const [past, review] of [
    [0, 'allowed'],
    [1, 'held'],
  ] as const)
    test(`needs a status no older than refresh: ${60_000 + past} ms is ${review}`, async () => {
      const here = await begin({ pay: 'risk: high' });
      await here.pay();
      here.says(refuses);
      await here.world.clock.advance(60_000 + past);
      await here.world.quiet();
      assert.equal(reviewOf(await here.pay()), review);
    });

  test('holds where nothing is known, whatever the policy allows', async () => {
    const options = { registry: 'url: $REGISTRY/catalog.json, status: { unknown: allow }' };
    for (const [pay, review] of [
      ['risk: normal', 'first-use'],
      ['risk: high', 'held'],
    ] as const) {
      const here = await begin({ ...options, pay });
      await here.pay();
      here.says(json(catalog()));
      await here.read();
      assert.equal(reviewOf(await here.pay()), review);
    }
  });

  test('serves nothing stale', async () => {
    const here = await begin({ pay: 'risk: high' });
    await here.pay();
    here.world.says((_request, response) => response.writeHead(503).end());
    await here.world.clock.advance(61_000);
    assert.equal((await here.pay()).status, 502);
  });
});

describe('nested catalogs', () => {
  /** Documents at `/1`, `/2` and so on, each leading to the next, the last one listing the card. */
  const chain =
    (here: Registered, length: number, last: object) =>
    (request: { url?: string | undefined }, response: ServerResponse): void => {
      const at = request.url === '/catalog.json' ? 1 : Number(request.url?.slice(1));
      const next = { identifier: `urn:x:${at}`, type: 'application/ai-catalog+json', url: `/${at + 1}` };
      json(catalog(at < length ? next : last))({} as never, response);
      assert.ok(here);
    };

  test('are followed to depth 4, and not to 5', async () => {
    const here = await begin();
    here.says(chain(here, 4, entry(here.card, 'deprecated')));
    assert.equal((await here.read()).status, 200);
    assert.equal((await here.view()).registry?.status, 'deprecated');
    here.says(chain(here, 5, entry(here.card)));
    assert.match((await here.read()).body, /nested deeper than 4/);
    assert.equal((await here.view()).registry?.status, 'deprecated');
  });

  test('that lead back are no registry', async () => {
    const here = await begin();
    const back = { identifier: 'urn:x:1', type: 'application/ai-catalog+json', url: '/catalog.json' };
    here.says(json(catalog(back, entry(here.card))));
    assert.match((await here.read()).body, /contains itself/);
  });

  test('that no rule covers are passed over, aloud', async () => {
    const here = await begin();
    const away = {
      identifier: 'urn:x:1',
      type: 'application/ai-catalog+json',
      url: 'https://evil.example.net/catalog.json',
    };
    here.says(json(catalog(away, entry(here.card))));
    assert.equal((await here.read()).status, 200);
    const [line] = here.world.logged('a nested catalog is passed over: no rule in origins covers it');
    assert.equal(line?.['url'], 'https://evil.example.net/catalog.json');
  });

  test('larger than limits.cardBytes are not read', async () => {
    const here = await begin({ config: 'limits: { cardBytes: 4KiB }' });
    here.says(json(catalog(entry(here.card, undefined, { description: 'x'.repeat(5_000) }))));
    assert.equal((await here.read()).status, 502);
  });
});

test('the registry is in the list of agents as nothing but its agents', async () => {
  const here = await begin();
  await here.pay();
  await here.now('revoked');
  const { agents } = JSON.parse((await here.world.get('/agents')).body);
  assert.deepEqual(
    agents.map(({ name, state }: { name: string; state: string }) => [name, state]),
    [
      ['weather', 'missing'],
      ['pay', 'revoked'],
    ],
  );
  assert.equal((await here.world.get(`http://${here.world.daemon.started.ops[0]}/readyz`)).status, 200);
});
