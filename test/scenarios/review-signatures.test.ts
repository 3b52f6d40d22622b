import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { type Pair, pair, signature } from '../card/signer.ts';
import type { Behave } from '../support/origin-server.ts';
import { BASE, Reviewing, SENDS, reviewOf, seen, serves } from './review-world.ts';

const [own, other, stranger] = [await pair('own'), await pair('other'), await pair('own')];
const set = (name: string, key: Pair): string => `${name}: { inline: '${JSON.stringify({ keys: [key.publicJwk] })}' }`;
const CONFIG = `keys: { ${set('own', own)}, ${set('other', other)} }`;
const AGENT = 'keys: [own, other]';
const PLAIN = 'Tells the weather of a place.';

const by = async (card: object, ...keys: readonly Pair[]): Promise<object> => ({
  ...card,
  signatures: await Promise.all(keys.map((key) => signature(card, key))),
});

let at: Reviewing | undefined;
afterEach(async () => {
  await at?.world.stop();
  at = undefined;
});

async function start(card: object, review = '{}'): Promise<Reviewing> {
  at = await Reviewing.start(card, { agent: AGENT, config: CONFIG, review });
  await at.world.card();
  return at;
}

const classes = async (reviewing: Reviewing): Promise<readonly string[]> =>
  (await reviewing.pending()).flatMap(({ changes }) => changes.map((each) => each.class));

describe('signatures', () => {
  test('one that is stripped is a change, though the card says the same', async () => {
    const reviewing = await start(await by(BASE, own));
    const got = await reviewing.offers(BASE);
    assert.equal(seen(got), `held ${PLAIN}`);
    assert.match(got.body, /"signatures"/, 'the signed card is served');
    assert.deepEqual(await classes(reviewing), ['signature']);
    await reviewing.decide('approve');
    assert.equal(seen(await reviewing.later()), `approved ${PLAIN}`);
    assert.doesNotMatch((await reviewing.world.card()).body, /"signatures"/);
  });
  test('one by another key set is a change; one by another key of the same set, or one more, is none', async () => {
    const reviewing = await start(await by(BASE, own));
    assert.equal(reviewOf(await reviewing.offers(await by(BASE, own, other))), 'allowed');
    assert.equal(reviewOf(await reviewing.offers(await by(BASE, other))), 'held');
    assert.deepEqual(await classes(reviewing), ['signature']);
  });
  test('a changed card whose signature fails is refused, and waits for nobody', async () => {
    const reviewing = await start(await by(BASE, own));
    const got = await reviewing.offers(await by(SENDS, stranger));
    assert.match(got.body, new RegExp(PLAIN), 'what is stored is served for a while, as after any failure');
    assert.deepEqual(await reviewing.pending(), []);
    assert.match((await reviewing.admin('GET /receipts?agent=weather')).body, /"code":"signature-invalid"/);
  });
  test('what a person approved has to keep its signature', async () => {
    const reviewing = await start(await by(BASE, own));
    await reviewing.offers(await by(SENDS, own));
    await reviewing.decide('approve');
    assert.match(seen(await reviewing.offers(SENDS)), /^held .*sends it/);
    assert.deepEqual(await classes(reviewing), ['signature']);
  });
  test('signed-additive takes what only adds, where a key of the agent signed it', async () => {
    const skills = [...BASE.skills, { id: 'alerts', name: 'Alerts', description: 'Warns of storms.', tags: [] }];
    const reviewing = await start(await by(BASE, own), '{ skillAdded: signed-additive, skillIo: signed-additive }');
    const more = { ...BASE, skills };
    assert.equal(reviewOf(await reviewing.offers(await by(more, own))), 'allowed');
    const modes = { ...more, skills: skills.map((skill) => ({ ...skill, inputModes: ['image/png'] })) };
    assert.equal(reviewOf(await reviewing.offers(await by(modes, own))), 'allowed');
    const others = { ...more, skills: skills.map((skill) => ({ ...skill, inputModes: ['image/gif'] })) };
    assert.equal(reviewOf(await reviewing.offers(await by(others, own))), 'held');
  });
});

describe('servers that never send the same twice', () => {
  /** Answers with whatever the server makes of the card this time. */
  const making =
    (make: () => Promise<object>): Behave =>
    (request, response) =>
      void make().then((card) => serves(card)(request, response));

  test('one that signs anew at every request settles after one approval', async () => {
    const reviewing = await start(await by(BASE, own));
    reviewing.world.says(making(() => by(SENDS, own)));
    assert.equal(seen(await reviewing.later()), `held ${PLAIN}`);
    assert.equal(seen(await reviewing.later()), `held ${PLAIN}`);
    assert.equal((await reviewing.pending()).length, 1);
    await reviewing.decide('approve');
    for (let again = 0; again < 3; again += 1) assert.match(seen(await reviewing.later()), /^approved .*sends it/);
    const { review } = await reviewing.detail();
    assert.deepEqual([review.pending.length, review.history.length], [0, 2]);
  });
  test('one that adds a signature at every request does, too', async () => {
    const reviewing = await start(await by(BASE, own));
    const signatures = [await signature(SENDS, own)];
    reviewing.world.says(
      making(async () => {
        const now = [...signatures];
        signatures.push(await signature(SENDS, own));
        return { ...SENDS, signatures: now };
      }),
    );
    await reviewing.later();
    await reviewing.decide('approve');
    for (let again = 0; again < 5; again += 1) assert.match(seen(await reviewing.later()), /^approved .*sends it/);
    assert.equal((await reviewing.detail()).review.history.length, 2);
  });
});
