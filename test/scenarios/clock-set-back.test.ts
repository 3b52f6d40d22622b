import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CARD, CARD_PATH, answers, fails } from '../support/world.ts';
import { scenario } from '../support/scenario.ts';
import { Attacked, EXTENDED, isHit } from './attacked-world.ts';

/** A clock that was ahead and is set back: nothing that is remembered for a moment becomes a day. */

const DAY = 86_400_000;

scenario('a failure of an origin', { config: 'cache: { prefetch: false, negativeTtl: 1m }' }, async (world) => {
  await world.clock.advance(DAY);
  world.says(fails(503));
  assert.equal((await world.card()).code, 'origin-status');
  world.says(answers(CARD));
  assert.equal((await world.card()).code, 'origin-status', 'remembered');
  await world.clock.advance(-DAY);
  assert.equal((await world.card()).status, 200);
});

scenario('how often one caller makes the origin be asked', {}, async (world) => {
  world.says(answers(CARD, { 'Cache-Control': 'max-age=300' }));
  await world.clock.advance(DAY);
  await world.card();
  await world.clock.advance(-DAY);
  const asked = world.origin.asked.length;
  for (let times = 0; times < 3; times += 1)
    assert.equal((await world.card({ 'Cache-Control': 'no-cache' })).status, 200);
  assert.equal(world.origin.asked.length, asked + 1, 'once, and then not for a second');
});

test('a failure of an extended card, and the wish for a newer one', async () => {
  const attacked = await Attacked.start();
  const { clock } = attacked.world;
  try {
    const caller = 'Bearer opaque';
    await clock.advance(DAY);
    attacked.behave = fails(503);
    assert.equal((await attacked.extended(caller)).status, 502);
    attacked.behave = undefined;
    assert.equal((await attacked.extended(caller)).status, 502, 'remembered');
    await clock.advance(-DAY);
    assert.equal((await attacked.extended(caller)).status, 200);
    assert.ok(isHit(await attacked.extended(caller)));
    await clock.advance(DAY);
    const other = 'Bearer another';
    await attacked.extended(other);
    await clock.advance(-DAY);
    assert.ok(!isHit(await attacked.extended(other, { 'Cache-Control': 'no-cache' })), EXTENDED);
    assert.ok(isHit(await attacked.extended(other, { 'Cache-Control': 'no-cache' })));
  } finally {
    await attacked.stop();
  }
});

scenario(
  'a token endpoint that failed',
  {
    agent:
      'credentials: { clientCredentials: { tokenUrl: "$ORIGIN/token", clientId: cardea, clientSecret: env:TEST_CLIENT_SECRET } }',
    config: 'cache: { prefetch: false, negativeTtl: 0s }',
  },
  async (world) => {
    process.env['TEST_CLIENT_SECRET'] = 'secret';
    await world.clock.advance(DAY);
    world.says((request, response) =>
      request.url === '/token' ? fails(500)(request, response) : answers(CARD)(request, response),
    );
    await world.get(CARD_PATH);
    const token = answers(JSON.stringify({ access_token: 'x', token_type: 'bearer' }));
    world.says((request, response) =>
      request.url === '/token' ? token(request, response) : answers(CARD)(request, response),
    );
    await world.clock.advance(-DAY);
    assert.equal((await world.get(CARD_PATH)).status, 200);
  },
);
