import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refuseLoop } from '../../src/discovery/loop.ts';
import type { Behave } from '../support/origin-server.ts';
import { CARD, CARD_PATH, OTHER_CARD, World, answers } from '../support/world.ts';

describe('a Via field with our own name', () => {
  const ours = [
    '1.1 cardea',
    '1.1 CARDEA',
    'HTTP/1.1 cardea',
    '1.0 fred, 1.1 cardea',
    '1.1 cardea (a comment), 2 x',
    '2\tcardea',
  ];
  for (const via of ours) test(`is a loop: ${via}`, () => assert.equal(refuseLoop(via)?.code, 'loop-detected'));
  const others = [
    undefined,
    '',
    'cardea',
    '1.1 cardea.example',
    '1.1 not-cardea',
    '1.1 cardea-2',
    '1.1 fred (cardea)',
    '1.1 cardea:80',
  ];
  for (const via of others) test(`is none: ${via}`, () => assert.equal(refuseLoop(via), undefined));
});

test('HTTP-HDR-29 a card asked for through Cardea is refused, stored or not, and the origin is not asked', async () => {
  const world = await World.start({ origin: answers(CARD, { 'Cache-Control': 'max-age=60' }) });
  const looped = { Via: '1.1 fred, 1.1 cardea' };
  const cold = await world.card(looped);
  assert.deepEqual([cold.status, cold.code, world.origin.asked.length], [508, 'loop-detected', 0]);
  await world.card();
  assert.deepEqual([(await world.card(looped)).status, world.origin.asked.length], [508, 1]);
  assert.equal((await world.card({ Via: '1.1 fred' })).status, 200);
  await world.stop();
});

test('an agent that points back at Cardea ends after one lap', async () => {
  const world = await World.start({ origin: answers(OTHER_CARD) });
  const lap = async (...[request, response]: Parameters<Behave>): Promise<void> => {
    // What Cardea sends an origin comes in again, as it does where the origin is Cardea.
    const { status, body } = await world.card({ Via: request.headers.via ?? '' });
    response.writeHead(status, { 'Content-Type': 'application/problem+json' });
    response.end(body);
  };
  world.says((request, response) => void lap(request, response));
  const got = await world.get(CARD_PATH);
  assert.deepEqual([got.status, got.code, world.origin.asked.length], [502, 'origin-status', 1]);
  assert.match(String(got.headers['proxy-status']), /received-status=508/);
  await world.stop();
});
