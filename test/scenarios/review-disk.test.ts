import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { answers } from '../support/world.ts';
import { BASE, Reviewing, SENDS, digestIn, seen } from './review-world.ts';

const PLAIN = 'Tells the weather of a place.';

async function start(t: TestContext): Promise<{ readonly at: Reviewing; readonly state: string }> {
  const state = mkdtempSync(path.join(tmpdir(), 'cardea-review-disk-'));
  const at = await Reviewing.start(BASE, { state });
  t.after(async () => {
    await at.world.stop();
    rmSync(state, { recursive: true, force: true });
  });
  return { at, state };
}

test('a decision that cannot be written down is none', async (t) => {
  const { at, state } = await start(t);
  await at.world.card();
  await at.offers(SENDS);
  const digest = digestIn(await at.pending());
  for (const name of readdirSync(state)) if (name.startsWith('ledger.db')) rmSync(path.join(state, name));
  for (const action of ['approve', 'reject'] as const) {
    const got = await at.decide(action, digest);
    assert.deepEqual([got.status, got.code], [503, 'overloaded']);
  }
  assert.equal(seen(await at.world.card()), `held ${PLAIN}`);
  assert.equal(digestIn(await at.pending()), digest, 'it waits as before');
  assert.equal(seen(await at.later()), `held ${PLAIN}`);
});

test('a card that may not be stored is compared with the next one, and not served in its place', async (t) => {
  const { at } = await start(t);
  const unstored = (card: object) => answers(JSON.stringify(card), { 'Cache-Control': 'no-store' });
  at.world.says(unstored(BASE));
  assert.equal(seen(await at.world.card()), `first-use ${PLAIN}`);
  at.world.says(unstored(SENDS));
  assert.equal(seen(await at.later()), 'change-held');
  assert.deepEqual(
    (await at.pending()).flatMap(({ changes }) => changes.map((each) => each.class)),
    ['skill-text'],
  );
  await at.decide('approve');
  assert.match(seen(await at.later()), /^approved .*sends it/);
});
