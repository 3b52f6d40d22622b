import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tag } from '../../src/kernel/ids.ts';
import { createIssuer } from '../support/issuer.ts';
import { ANY_ORIGIN, anyOriginUrl } from '../support/scenario.ts';
import { World, answers } from '../support/world.ts';

const ISSUER = 'https://idp.test';

/** Who is stopped while others wait for the same answer takes nothing of theirs away. */
test('an answer that is not handed out any more holds nobody up who wants the same', async () => {
  let now = (): number => 0;
  const idp = await createIssuer(ISSUER, () => now());
  const world = await World.start({
    origin: (request, response) => answers(JSON.stringify(idp.jwks))(request, response),
    config: `principals: { issuers: [{ issuer: "${ISSUER}", audience: [cardea], jwks: "$ORIGIN/jwks.json" }] }
cache: { prefetch: false }
${ANY_ORIGIN}`,
  });
  now = () => world.clock.now();
  try {
    const url = `${anyOriginUrl(world)}/page`;
    const mallory = { 'Proxy-Authorization': `Bearer ${await idp.token({ sub: 'mallory' })}` };
    await world.get(`${anyOriginUrl(world)}/first`, mallory); // the issuer's keys are there from here on
    const page = answers('page', { 'Content-Type': 'text/plain', 'Cache-Control': 'max-age=60' });
    const arrived = Promise.withResolvers<() => void>();
    world.says((request, response) => arrived.resolve(() => page(request, response)));
    const first = world.get(url, mallory);
    const go = await arrived.promise;
    const scope = tag(`principal:${ISSUER}#mallory`);
    const engaged = await world.daemon.killSwitch.engage({ scope, reason: 'a drill', by: 'admin' });
    assert.ok(engaged.ok);
    go();
    assert.equal((await first).code, 'killed');
    world.says(page);
    assert.equal((await world.get(url)).body, 'page');
  } finally {
    await world.stop();
  }
});
