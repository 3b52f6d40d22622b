import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, test } from 'node:test';
import { digestCard } from '../../src/card/digest.ts';
import type { WorldOptions } from '../support/world.ts';
import { BASE, Reviewing, SENDS, seen, serves } from './review-world.ts';

const PLAIN = 'Tells the weather of a place.';

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function start(options: WorldOptions = {}): Promise<Reviewing> {
  const at = await Reviewing.start(BASE, options);
  ends.push(() => at.world.stop());
  await at.world.card();
  return at;
}

/** Another place on the same origin, as the configuration names it from the next reload on. */
async function moves(at: Reviewing, place: string): Promise<void> {
  const { url } = at.world.origin;
  at.world.writes(at.world.written.replace(/weather: \{ (?:origin|card): "[^"]*"/, `weather: { ${place}`));
  assert.ok(at.world.written.includes(place), url);
  const reloaded = await at.world.daemon.reload('SIGHUP');
  assert.ok(reloaded.ok, reloaded.ok ? '' : reloaded.refusal.detail);
  await at.world.quiet();
}

const to = (at: Reviewing, name: string): string => `card: "${at.world.origin.url}/${name}.json"`;

const classes = async (at: Reviewing): Promise<readonly unknown[]> =>
  (await at.pending()).flatMap(({ changes }) => changes.map((each) => [each.class, each['of']]));

describe('a card URL that changes at a reload', () => {
  test('is a change of class endpoint, though the card says the same; approved, it is served from there', async () => {
    const at = await start();
    await moves(at, to(at, 'b'));
    assert.equal(seen(await at.world.card()), `held ${PLAIN}`);
    assert.deepEqual(await classes(at), [['endpoint', 'card-url']]);
    assert.match(String((await at.detail()).review.suspended), /A change of endpoint waits/);
    assert.equal((await at.decide('approve')).status, 200);
    assert.equal(seen(await at.world.card()), `approved ${PLAIN}`);
    assert.equal((await at.detail()).review.suspended, null);
    assert.equal(at.world.origin.asked.at(-1), 'GET /b.json');
  });
  test('rejected: what was in force stays, also for whoever asks later', async () => {
    const at = await start();
    await moves(at, to(at, 'b'));
    await at.world.card();
    await at.decide('reject');
    assert.equal(seen(await at.later()), `first-use ${PLAIN}`);
    assert.deepEqual(await at.pending(), []);
  });
  test('back again: nothing waits, whatever was decided about the other place', async () => {
    for (const action of [null, 'reject'] as const) {
      const at = await start();
      await moves(at, to(at, 'b'));
      await at.world.card();
      if (action !== null) await at.decide(action);
      await moves(at, `origin: "${at.world.origin.url}"`);
      assert.equal(seen(await at.world.card()), `allowed ${PLAIN}`, String(action));
      assert.deepEqual(await at.pending(), []);
    }
  });
  test('back from a place that was approved is a change again', async () => {
    const at = await start();
    await moves(at, to(at, 'b'));
    await at.world.card();
    await at.decide('approve');
    await moves(at, `origin: "${at.world.origin.url}"`);
    assert.equal(seen(await at.world.card()), `held ${PLAIN}`);
    assert.deepEqual(await classes(at), [['endpoint', 'card-url']]);
  });
  test('with another card there is a change of both, approved together', async () => {
    const at = await start();
    at.world.says(serves(SENDS));
    await moves(at, to(at, 'b'));
    assert.equal(seen(await at.world.card()), `held ${PLAIN}`);
    assert.deepEqual((await classes(at)).length, 2);
    await at.decide('approve');
    assert.match(seen(await at.world.card()), /^approved .*sends it/);
  });
  test('is what the rule says of endpoint', async () => {
    const allowed = await start({ review: '{ endpoint: allow }' });
    await moves(allowed, to(allowed, 'b'));
    assert.equal(seen(await allowed.world.card()), `allowed ${PLAIN}`);
    const blocked = await start({ review: '{ endpoint: block }' });
    await moves(blocked, to(blocked, 'b'));
    assert.equal(seen(await blocked.world.card()), `held ${PLAIN}`);
    assert.equal((await blocked.decide('approve')).code, 'conflict');
  });
  test('waits on through a restart', async () => {
    const state = mkdtempSync(path.join(tmpdir(), 'cardea-moves-'));
    ends.push(() => rmSync(state, { recursive: true, force: true }));
    const at = await start({ state });
    const port = at.world.origin.port;
    await moves(at, to(at, 'b'));
    await at.world.card();
    await ends.pop()?.();
    const again = await Reviewing.start(BASE, { state, port });
    ends.push(() => again.world.stop());
    assert.deepEqual(await classes(again), [['endpoint', 'card-url']]);
    assert.equal(seen(await again.world.card()), `allowed ${PLAIN}`, 'it is configured where it was');
    assert.deepEqual(await again.pending(), []);
  });
});

describe('through a restart', () => {
  const folder = (): string => {
    const state = mkdtempSync(path.join(tmpdir(), 'cardea-again-'));
    ends.push(() => rmSync(state, { recursive: true, force: true }));
    return state;
  };
  const restart = async (at: Reviewing, card: object, options: WorldOptions): Promise<Reviewing> => {
    const { port } = at.world.origin;
    await ends.pop()?.();
    const again = await Reviewing.start(card, { ...options, port });
    ends.push(() => again.world.stop());
    // Clocks of tests begin anew with each world; time does not.
    await again.world.clock.advance(200_000);
    return again;
  };
  test('a hold that is over is over', async () => {
    const options = { state: folder(), review: '{ maxHold: 100s }' };
    let at = await start(options);
    await at.offers(SENDS);
    at = await restart(at, SENDS, options);
    assert.equal(seen(await at.world.card()), 'change-held');
    await at.decide('approve');
    assert.match(seen(await at.world.card()), /^approved /);
  });
  test('pins that came or went meanwhile count', async () => {
    const state = folder();
    const pins = path.join(state, 'pins.yaml');
    const [first, second] = [digestCard(BASE), digestCard(SENDS)];
    const pin = (...digests: readonly string[]): void => writeFileSync(pins, `weather: ${JSON.stringify(digests)}`);
    const options = {
      state,
      file: path.join(state, 'cardea.yaml'),
      review: `{ firstUse: pinned, pins: "file:${pins}" }`,
    };
    pin(first);
    let at = await start(options);
    assert.equal(seen(await at.world.card()), `approved ${PLAIN}`);
    assert.equal(seen(await at.offers(SENDS)), `held ${PLAIN}`);
    pin(first, second);
    at = await restart(at, SENDS, options);
    assert.match(seen(await at.world.card()), /^approved .*sends it/);
    pin(first);
    at = await restart(at, SENDS, options);
    assert.equal(seen(await at.world.card()), `held ${PLAIN}`);
    pin();
    at = await restart(at, SENDS, options);
    assert.equal(seen(await at.world.card()), 'first-use-held');
  });
  test('going back to what was approved needs no new review', async () => {
    const options = { state: folder() };
    let at = await start(options);
    await at.offers(SENDS);
    await at.decide('approve');
    at = await restart(at, SENDS, options);
    const named = { ...SENDS, name: 'Other' };
    assert.match(seen(await at.offers(named)), /^held .*sends it/);
    await at.decide('approve');
    at = await restart(at, SENDS, options);
    assert.match(seen(await at.later()), /^approved .*sends it/);
    assert.deepEqual(await at.pending(), []);
  });
  test('versions of A2A wait apart', async () => {
    const varying =
      (newest: object): NonNullable<WorldOptions['origin']> =>
      (request, response) => {
        response.setHeader('Vary', 'A2A-Version');
        serves(request.headers['a2a-version'] === '1.0' ? newest : BASE)(request, response);
      };
    const options = { state: folder() };
    let at = await start({ ...options, origin: varying(BASE) });
    await at.world.card({ 'a2a-version': '1.0' });
    await at.world.card({ 'a2a-version': '0.3' });
    at.world.says(varying(SENDS));
    assert.match(seen(await at.later({ 'a2a-version': '1.0' })), /^held /);
    assert.match(seen(await at.world.card({ 'a2a-version': '0.3' })), /^allowed /);
    at = await restart(at, BASE, { ...options, origin: varying(SENDS) });
    assert.deepEqual(
      (await at.pending()).map(({ variant }) => variant),
      ['1.0'],
    );
    await at.decide('approve');
    assert.match(seen(await at.later({ 'a2a-version': '1.0' })), /^approved .*sends it/);
    assert.equal(seen(await at.world.card({ 'a2a-version': '0.3' })), `allowed ${PLAIN}`);
  });
});
