import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CARD, CARD_PATH, World, answers } from '../support/world.ts';

/*
 * A label whose values strangers choose fills a Prometheus. Everything that a caller or an origin can choose is varied hundreds of times here,
 * and the daemon may not have a series more for it than after the first few.
 */

const TIMES = 300;
/** After these every way to answer has been seen: a miss, a hit, a refusal. */
const FIRST = 5;
/** As a caller or an origin would vary it; each is told apart from every other. */
const FLOODS: readonly (readonly [string, (world: World, at: number) => Promise<unknown>])[] = [
  ['names of agents', (world, at) => world.get(`/agents/agent-${at}/.well-known/agent-card.json`)],
  ['paths', (world, at) => world.get(`/${at}/${'x'.repeat(at % 50)}`)],
  ['queries', (world, at) => world.get(`${CARD_PATH}?q=${at}`)],
  ['methods', (world, at) => world.get(CARD_PATH, {}, `X${at}`)],
  ['hosts', (world, at) => world.get(CARD_PATH, { Host: `host-${at}.example` })],
  ['absolute targets', (world, at) => world.post(`/origins/host-${at}.example/a`, '')],
  ['A2A versions', (world, at) => world.get(CARD_PATH, { 'A2A-Version': `${at}.0` })],
  [
    'callers',
    (world, at) => world.get(CARD_PATH, { Authorization: `Bearer token-${at}`, 'User-Agent': `agent/${at}` }),
  ],
  ['problem pages', (world, at) => world.get(`/problems/code-${at}`)],
  ['targets on ops', (world, at) => world.get(`http://${world.daemon.started.ops[0]}/readyz?require=agent-${at}`)],
];

let world: World;
before(async () => void (world = await World.start({ origin: answers(CARD, { 'Cache-Control': 'max-age=60' }) })));
after(() => world.stop());

async function series(): Promise<readonly string[]> {
  const metrics = `http://${world.daemon.started.ops[0]}/metrics`;
  await world.get(metrics); // a scrape is a request too
  const { body } = await world.get(metrics);
  const lines = body.split('\n').filter((line) => line.startsWith('cardea_'));
  return lines.map((line) => line.slice(0, line.lastIndexOf(' '))).toSorted();
}

for (const [what, ask] of FLOODS) {
  test(`hundreds of ${what} make no series`, async () => {
    for (let at = 0; at < FIRST; at += 1) await ask(world, at);
    const known = new Set(await series());
    for (let at = FIRST; at < TIMES; at += 1) await ask(world, at);
    const grown = (await series()).filter((each) => !known.has(each));
    assert.deepEqual(grown, []);
  });
}

test('versions that an origin writes replace each other: one series per agent', async () => {
  for (let at = 0; at < 50; at += 1) {
    world.says(
      answers(CARD.replace('1.0.0', `${at}.${'9'.repeat(40)}"x`.replace('"', '\\"')), { 'Cache-Control': 'max-age=1' }),
    );
    await world.pass(2);
    await world.card();
    await world.quiet();
  }
  const found = (await series()).filter((line) => line.startsWith('cardea_card_info{'));
  assert.equal(found.length, 1);
  assert.match(found[0] ?? '', /version="[0-9A-Za-z.+-]{0,32}"/);
});
