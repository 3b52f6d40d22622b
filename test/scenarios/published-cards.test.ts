import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { VERDICTS } from '../support/card-verdicts.ts';
import { sharedPath } from '../support/shared.ts';
import { World } from '../support/world.ts';

const folder = sharedPath('cards');

/** Every published card from a real origin through the listener: served byte for byte, or refused by its code with the member named. */
describe('published cards through the listener', {
  skip: folder === undefined ? 'the cards are not on this machine' : false,
}, () => {
  let world: World;
  before(async () => {
    world = await World.start({
      agent: 'interfaces: any',
      config: 'cache: { prefetch: false, negativeTtl: 0s, staleWhileRevalidate: 0s, maxStale: 0s }',
    });
  });
  after(() => world.stop());

  for (const [file, [verdict, named]] of Object.entries(VERDICTS)) {
    test(`${file}: ${verdict}`, async () => {
      const card = readFileSync(`${folder}/${file}`);
      world.says((_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(card);
      });
      const got = await world.card();
      if (verdict.startsWith('accepted')) {
        assert.equal(got.status, 200, got.body);
        assert.equal(got.body, card.toString());
        return;
      }
      assert.equal(got.code, verdict);
      assert.ok(JSON.parse(got.body).detail.includes(named), got.body);
    });
  }
});
