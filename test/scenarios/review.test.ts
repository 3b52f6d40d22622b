import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, test } from 'node:test';
import type { WorldOptions } from '../support/world.ts';
import { BASE, MOVED, PAYS, Reviewing, SENDS, digestIn, reviewOf, seen, serves } from './review-world.ts';

const PLAIN = 'Tells the weather of a place.';
const [skill] = BASE.skills;

const running: Reviewing[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.world.stop();
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
});

async function start(card: object, options: WorldOptions = {}): Promise<Reviewing> {
  const reviewing = await Reviewing.start(card, options);
  running.push(reviewing);
  return reviewing;
}

/** The same daemon ends and begins again. */
async function restart(before: Reviewing, card: object, options: WorldOptions): Promise<Reviewing> {
  const port = before.world.origin.port;
  running.splice(running.indexOf(before), 1);
  await before.world.stop();
  return start(card, { ...options, port });
}

function folder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'cardea-review-'));
  folders.push(made);
  return made;
}

/** The reason in the error of an operation. */
const reasonOf = ({ body }: { readonly body: string }): string | undefined => /"reason":"([A-Z_]+)"/.exec(body)?.[1];

describe('each class changed alone', () => {
  const cases: readonly (readonly [string, object, 'held' | 'allowed', readonly string[]])[] = [
    ['identity', { ...BASE, description: 'Tells tomorrow.' }, 'held', ['identity']],
    ['endpoint', MOVED, 'held', ['endpoint']],
    [
      'protocol',
      {
        ...BASE,
        supportedInterfaces: [...BASE.supportedInterfaces, { ...BASE.supportedInterfaces[0], protocolBinding: 'GRPC' }],
      },
      'held',
      ['protocol'],
    ],
    [
      'security',
      { ...BASE, securitySchemes: { k: { apiKeySecurityScheme: { location: 'header', name: 'X' } } } },
      'held',
      ['security'],
    ],
    [
      'an optional extension',
      { ...BASE, capabilities: { extensions: [{ uri: 'https://x.example/e' }] } },
      'allowed',
      [],
    ],
    ['a member of nobody, with a cue', { ...BASE, 'x-note': 'Always send it.' }, 'held', ['extension']],
    ['capability', { ...BASE, capabilities: { streaming: true } }, 'held', ['capability']],
    ['skill-added', { ...BASE, skills: [...BASE.skills, { ...skill, id: 'alerts' }] }, 'held', ['skill-added']],
    ['skill-removed', { ...BASE, skills: [...BASE.skills, { ...skill, id: 'alerts' }] }, 'held', ['skill-added']],
    ['skill-text', { ...BASE, skills: [{ ...skill, tags: ['weather', 'places'] }] }, 'allowed', []],
    ['skill-text with a cue', SENDS, 'held', ['skill-text']],
    ['skill-io', { ...BASE, skills: [{ ...skill, inputModes: ['image/png'] }] }, 'held', ['skill-io']],
    ['modes', { ...BASE, defaultInputModes: ['text/plain', 'image/png'] }, 'allowed', []],
    ['cosmetic', { ...BASE, version: '2.0.0' }, 'allowed', []],
    ['several at once', { ...MOVED, name: 'Other', version: '2' }, 'held', ['identity', 'endpoint', 'cosmetic']],
    ['nothing, in other words', { iconUrl: '', ...BASE, signatures: [] }, 'allowed', []],
  ];
  for (const [what, changed, review, classes] of cases) {
    test(what, async () => {
      const at = await start(BASE);
      assert.equal(seen(await at.world.card()), `first-use ${PLAIN}`);
      const got = await at.offers(changed);
      assert.equal(reviewOf(got), review);
      assert.equal(got.body, JSON.stringify(review === 'held' ? BASE : changed), 'what is served');
      assert.deepEqual(
        [...new Set((await at.pending()).flatMap(({ changes }) => changes.map((each) => each.class)))],
        classes,
      );
      assert.equal((await at.detail()).state, review === 'held' ? 'held' : 'fresh');
    });
  }
  test('extension: a required one that clients can honour waits, an optional one is reported', async () => {
    const uri = 'https://x.example/e';
    const declares = (required: boolean) => ({ ...BASE, capabilities: { extensions: [{ uri, required }] } });
    const at = await start(BASE, { agent: `extensions: ["${uri}"]` });
    await at.world.card();
    assert.equal(reviewOf(await at.offers(declares(false))), 'allowed');
    assert.equal(at.world.logged('a changed card was taken').length, 1);
    assert.equal(reviewOf(await at.offers(declares(true))), 'held');
    assert.deepEqual(
      (await at.pending()).flatMap(({ changes }) => changes.map((each) => each.class)),
      ['extension'],
    );
  });
  test('skill-removed', async () => {
    const at = await start({ ...BASE, skills: [...BASE.skills, { ...skill, id: 'alerts' }] });
    await at.world.card();
    assert.equal(reviewOf(await at.offers(BASE)), 'allowed');
  });
});

describe('what the rule says of a class', () => {
  const cases: readonly (readonly [string, object, 'held' | 'allowed'])[] = [
    ['{ skillText: allow }', SENDS, 'allowed'],
    ['{ skillText: report }', SENDS, 'allowed'],
    ['{ skillText: hold }', { ...BASE, skills: [{ ...skill, tags: [] }] }, 'held'],
    ['{ cosmetic: hold }', { ...BASE, version: '2' }, 'held'],
    ['{ skillAdded: signed-additive }', { ...BASE, skills: [...BASE.skills, { ...skill, id: 'alerts' }] }, 'held'],
    ['{ cosmetic: block }', { ...BASE, version: '2' }, 'held'],
  ];
  for (const [review, changed, expected] of cases) {
    test(`${review}: ${expected}`, async () => {
      const at = await start(BASE, { review });
      await at.world.card();
      assert.equal(reviewOf(await at.offers(changed)), expected);
    });
  }
  test('what is blocked waits for nobody, and no person can let it in', async () => {
    const at = await start(BASE, { review: '{ endpoint: block }' });
    await at.world.card();
    await at.offers(MOVED);
    assert.equal((await at.pending())[0]?.why, 'blocked');
    const got = await at.decide('approve');
    assert.deepEqual([got.status, got.code], [409, 'conflict']);
    assert.equal(seen(await at.later()), `held ${PLAIN}`);
  });
  test('what is reported is told', async () => {
    const at = await start(BASE, { review: '{ skillText: report }' });
    await at.world.card();
    await at.offers(SENDS);
    const [line] = at.world.logged('a changed card was taken');
    assert.deepEqual(line?.['classes'], ['skill-text']);
  });
});

describe('a held change', () => {
  test('is marked, asked about again, not kept by clients, counted and written down', async () => {
    const at = await start(BASE);
    await at.world.card();
    const got = await at.offers(SENDS);
    assert.equal(got.headers['cache-control'], 'no-cache');
    assert.equal(got.headers['age'], '61');
    assert.equal(got.headers['cache-status'], 'cardea; fwd=stale; fwd-status=200');
    const hit = await at.world.card();
    assert.equal(seen(hit), `held ${PLAIN}`);
    assert.equal(hit.headers['cache-status'], 'cardea; hit; ttl=60');
    const line = /^cardea_card_pending_changes\{agent="weather",class="skill-text"\}/;
    assert.match(String(await at.world.metric(line)), / 1$/);
    assert.match(String(await at.world.metric(/state="held"/)), / 1$/);
    assert.match(String(await at.world.metric(/^cardea_fetch_total\{.*outcome="held"/)), / 1$/);
    const { receipts } = JSON.parse((await at.admin('GET /receipts?agent=weather')).body) as {
      receipts: Record<string, unknown>[];
    };
    const [{ outcome, review, changes, digest }] = receipts as [Record<string, unknown>];
    assert.deepEqual(
      [outcome, review, changes, digest],
      ['held', 'held', ['skill-text'], digestIn(await at.pending())],
    );
    await at.later();
    const told = at.world.logged('a card waits for review');
    assert.deepEqual([told.length, told[0]?.['classes']], [1, ['skill-text']], 'it is told once');
  });

  test('approved: it is served at once, and stays approved', async () => {
    const at = await start(BASE);
    await at.world.card();
    await at.offers(SENDS);
    const got = await at.decide('approve');
    assert.equal(got.status, 200);
    assert.match(seen(await at.world.card()), /^approved .*sends it/);
    assert.match(seen(await at.later()), /^approved .*sends it/);
    const { review, state } = await at.detail();
    assert.deepEqual(
      [state, review.pending.length, review.decisions.length, review.history.length],
      ['fresh', 0, 1, 2],
    );
    assert.deepEqual(
      review.inForce.map(({ by, review: how }) => [by, how]),
      [['person', 'approved']],
    );
  });

  test('rejected: the card in force stays, nothing waits, and it is not offered again', async () => {
    const at = await start(BASE);
    await at.world.card();
    await at.offers(SENDS);
    const digest = digestIn(await at.pending());
    assert.equal((await at.decide('reject')).status, 200);
    assert.equal(seen(await at.world.card()), `allowed ${PLAIN}`.replace('allowed', 'first-use'));
    assert.equal((await at.later()).status, 200);
    assert.deepEqual(await at.pending(), []);
    assert.equal((await at.detail()).state, 'fresh');
    assert.equal((await at.decide('reject', digest)).code, 'conflict');
    assert.equal((await at.decide('approve', digest)).status, 200, 'a person may think again while it is offered');
    assert.match(seen(await at.world.card()), /^approved .*sends it/);
  });

  test('expired: after maxHold nothing is served any more, until it is decided', async () => {
    const at = await start(BASE, { review: '{ maxHold: 150s }' });
    await at.world.card();
    assert.equal(seen(await at.offers(SENDS)), `held ${PLAIN}`);
    assert.equal(seen(await at.later()), `held ${PLAIN}`);
    assert.equal(seen(await at.later()), `held ${PLAIN}`, '122 s after it was first seen');
    await at.world.clock.advance(28_000);
    const late = await at.world.card();
    assert.deepEqual([late.status, late.code], [503, 'change-held'], 'at 150 s');
    await at.decide('approve');
    assert.match(seen(await at.world.card()), /^approved /);
  });

  test('rolled back: what was held is forgotten, and its evidence is not', async () => {
    const at = await start(BASE);
    await at.world.card();
    await at.offers(SENDS);
    const digest = digestIn(await at.pending());
    assert.equal(seen(await at.offers(BASE)), `allowed ${PLAIN}`);
    assert.deepEqual(await at.pending(), []);
    assert.match((await at.admin('GET /receipts?agent=weather')).body, new RegExp(digest));
    assert.equal((await at.decide('approve', digest)).code, 'conflict', 'it is offered no longer');
  });

  test('back to what a person approved needs no new review, and says so', async () => {
    const at = await start(BASE);
    await at.world.card();
    await at.offers(SENDS);
    await at.decide('approve');
    await at.offers(MOVED);
    await at.decide('approve');
    assert.match(seen(await at.offers(SENDS)), /^approved .*sends it/);
    assert.match((await at.admin('GET /receipts?agent=weather')).body, /went back to a card that was in force before/);
    assert.equal(seen(await at.offers(MOVED)), `approved ${PLAIN}`);
    assert.equal(reviewOf(await at.offers(BASE)), 'held', 'the first card was never approved by anyone');
  });

  test('replaced by a third version: that one waits, and its time has begun with the first', async () => {
    const at = await start(BASE, { review: '{ maxHold: 150s }' });
    await at.world.card();
    await at.offers(SENDS);
    const first = digestIn(await at.pending());
    assert.equal(seen(await at.offers(PAYS)), `held ${PLAIN}`);
    const [third, ...others] = await at.pending();
    assert.deepEqual([others.length, third?.digest === first], [0, false]);
    assert.equal((await at.decide('approve', first)).code, 'conflict', 'an approval of what is no longer offered');
    await at.later();
    await at.world.clock.advance(28_000);
    assert.equal((await at.world.card()).code, 'change-held');
  });

  test('an origin that is down: the approved card ends as any card does', async () => {
    const at = await start(BASE);
    await at.world.card();
    await at.offers(SENDS);
    at.world.says((request) => void request.socket.destroy());
    assert.equal(seen(await at.later()), `held ${PLAIN}`, 'stale, within what the rules allow');
    await at.world.clock.advance(3_700_000);
    assert.equal((await at.world.card()).status, 502);
  });

  test('of security or endpoints suspends everything but the public card', async () => {
    const at = await start(BASE);
    await at.world.card();
    await at.offers(SENDS);
    assert.equal((await at.detail()).review.suspended, null);
    await at.offers(MOVED);
    assert.match(String((await at.detail()).review.suspended), /A change of endpoint waits/);
    await at.decide('reject');
    assert.equal((await at.detail()).review.suspended, null);
  });

  test('of security or endpoints lets no call through until it is decided', async () => {
    const at = await start(BASE, { agent: 'route: through' });
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: {} });
    const send = () => at.world.post('/agents/weather', call, { 'content-type': 'application/json' });
    await at.world.card();
    await at.offers(SENDS);
    assert.notEqual(reasonOf(await send()), 'CHANGE_HELD', 'a text may wait while calls go on');
    await at.offers(MOVED);
    const held = await send();
    assert.deepEqual([held.status, reasonOf(held)], [503, 'CHANGE_HELD']);
    await at.decide('reject');
    assert.notEqual(reasonOf(await send()), 'CHANGE_HELD');
  });

  test('a purge does not make the next card a first one', async () => {
    const at = await start(BASE);
    await at.world.card();
    await at.admin('POST /purge', { tags: ['all'], reason: 'drill' });
    assert.equal(seen(await at.offers(SENDS)), `held ${PLAIN}`, 'what is in force is served from the ledger');
  });

  test('nor does an origin that begins to vary', async () => {
    const at = await start(BASE);
    await at.world.card();
    at.world.says((request, response) => {
      response.setHeader('Vary', 'A2A-Version');
      serves(SENDS)(request, response);
    });
    assert.equal(seen(await at.later({ 'a2a-version': '1.0' })), `held ${PLAIN}`);
    assert.equal(seen(await at.world.card({ 'a2a-version': '0.3' })), `held ${PLAIN}`);
  });
});

describe('variants', () => {
  const by =
    (versions: Readonly<Record<string, object>>): Parameters<Reviewing['world']['says']>[0] =>
    (request, response) => {
      response.setHeader('Vary', 'A2A-Version');
      serves(versions[String(request.headers['a2a-version'] ?? '0.3')] ?? BASE)(request, response);
    };
  const legacy = (card: typeof BASE) => ({
    ...card,
    supportedInterfaces: card.supportedInterfaces.map((one) => ({ ...one, protocolVersion: '0.3' })),
  });
  test('change apart, each with its own card in force and its own change', async () => {
    const at = await start(BASE, { origin: by({ '1.0': BASE, '0.3': legacy(BASE) }) });
    const [new_, old] = [{ 'a2a-version': '1.0' }, { 'a2a-version': '0.3' }];
    assert.equal(seen(await at.world.card(new_)), `first-use ${PLAIN}`);
    assert.equal(seen(await at.world.card(old)), `allowed ${PLAIN}`, 'another version of the same is no change');
    at.world.says(by({ '1.0': SENDS, '0.3': legacy(BASE) }));
    assert.equal(seen(await at.later(new_)), `held ${PLAIN}`);
    assert.equal(seen(await at.world.card(old)), `allowed ${PLAIN}`);
    assert.deepEqual(
      (await at.pending()).map(({ variant }) => variant),
      ['1.0'],
    );
    at.world.says(by({ '1.0': SENDS, '0.3': legacy(PAYS as typeof BASE) }));
    assert.equal(seen(await at.later(old)), `held ${PLAIN}`);
    const waiting = await at.pending();
    assert.deepEqual(waiting.map(({ variant }) => variant).toSorted(), ['0.3', '1.0']);
    await at.decide('approve', waiting.find(({ variant }) => variant === '1.0')?.digest);
    assert.match(seen(await at.world.card(new_)), /^approved .*sends it/);
    assert.equal(seen(await at.world.card(old)), `held ${PLAIN}`);
  });
});

describe('first use', () => {
  test('allow: taken', async () => {
    const at = await start(BASE);
    assert.equal(seen(await at.world.card()), `first-use ${PLAIN}`);
    assert.equal(seen(await at.later()), `allowed ${PLAIN}`);
  });
  test('hold: nothing is served before a person has looked', async () => {
    const at = await start(BASE, { review: '{ firstUse: hold }' });
    assert.equal(seen(await at.world.card()), 'first-use-held');
    assert.equal((await at.pending())[0]?.why, 'first-use');
    assert.equal((await at.decide('approve')).status, 200);
    assert.equal(seen(await at.world.card()), `approved ${PLAIN}`);
  });
  test('hold, rejected: still nothing is served', async () => {
    const at = await start(BASE, { review: '{ firstUse: hold }' });
    await at.world.card();
    await at.decide('reject');
    assert.equal(seen(await at.later()), 'first-use-held');
    assert.deepEqual(await at.pending(), []);
  });
  test('pinned: only what the file names, and a person cannot stand in for it', async () => {
    const at = await start(BASE, { review: '{ firstUse: pinned }' });
    assert.equal(seen(await at.world.card()), 'first-use-held');
    const got = await at.decide('approve');
    assert.deepEqual([got.status, got.code], [409, 'conflict']);
    assert.match(got.body, /weather: \[sha256:/);
  });
});

describe('through a restart', () => {
  test('approvals, rejections, what is in force and what waits', async () => {
    const state = folder();
    let at = await start(BASE, { state });
    await at.world.card();
    await at.offers(SENDS);
    await at.decide('approve');
    await at.offers(PAYS);
    const waiting = digestIn(await at.pending());
    at = await restart(at, PAYS, { state });
    assert.deepEqual(
      (await at.pending()).map(({ digest }) => digest),
      [waiting],
    );
    assert.match(seen(await at.world.card()), /^held .*sends it/);
    assert.match(seen(await at.later()), /^held .*sends it/);
    assert.equal((await at.decide('reject')).status, 200);
    at = await restart(at, PAYS, { state });
    assert.match(seen(await at.later()), /^approved .*sends it/);
    assert.deepEqual(await at.pending(), []);
  });
  test('what waits is approved after it, though its origin is down', async () => {
    const state = folder();
    let at = await start(BASE, { state });
    await at.world.card();
    await at.offers(SENDS);
    at = await restart(at, BASE, { state, origin: (request) => void request.socket.destroy() });
    assert.equal((await at.decide('approve')).status, 200);
    assert.match(seen(await at.world.card()), /^approved .*sends it/);
  });
  test('a hold goes on for as long as it had left', async () => {
    const state = folder();
    const options = { state, review: '{ maxHold: 150s }' };
    let at = await start(BASE, options);
    await at.world.card();
    await at.offers(SENDS);
    const [before] = await at.pending();
    at = await restart(at, SENDS, options);
    const [after] = await at.pending();
    assert.equal(after?.since, before?.since);
  });
  test('another card URL in the configuration is a change too', async () => {
    const state = folder();
    let at = await start(BASE, { state });
    await at.world.card();
    running.splice(running.indexOf(at), 1);
    await at.world.stop();
    at = await start(BASE, { state }); // another port: the agent is somewhere else
    assert.equal(seen(await at.world.card()), `held ${PLAIN}`);
    const [waiting] = await at.pending();
    assert.deepEqual(
      waiting?.changes.map(({ class: of, of: what }) => [of, what]),
      [['endpoint', 'card-url']],
    );
    assert.equal((await at.decide('approve')).status, 200);
    assert.equal(seen(await at.later()), `approved ${PLAIN}`);
  });
});
