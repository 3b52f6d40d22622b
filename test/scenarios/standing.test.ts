import assert from 'node:assert/strict';
import type http from 'node:http';
import { tag } from '../../src/kernel/ids.ts';
import { scenario } from '../support/scenario.ts';
import { CARD, type Got, OTHER_CARD, TAKES_ALL, type World, answers, fails } from '../support/world.ts';

/**
 * Answers that stand are given without a look at their requests. Here each is held against the answer to the same request with one
 * more field that nobody reads, which has no answer that stands.
 */

const MINUTE = {
  origin: answers(CARD, { 'Cache-Control': 'max-age=60', ETag: '"one"', Vary: 'A2A-Version' }),
  keepsConnection: true,
};
/** So many times until a request is answered by its bytes alone. */
const TIMES = 5;
let unique = 0;

/** All of an answer; a refusal has the Date of the machine's own clock. */
function shown({ status, headers: { date, ...headers }, body }: Got) {
  return { status, headers, body, date: status < 400 ? date : '' };
}

/** Asks until an answer stands, and resolves to it once it is found to be the ordinary one. */
async function asked(world: World, fields: http.OutgoingHttpHeaders = {}, method = 'GET'): Promise<Got> {
  for (let times = 0; times < TIMES; times += 1) await world.card(fields, method);
  await world.quiet();
  const got = await world.card(fields, method);
  unique += 1;
  assert.deepEqual(shown(got), shown(await world.card({ ...fields, [`X-Unique-${unique}`]: '1' }, method)));
  return got;
}

const kinds = (etag: string): readonly (readonly [fields: http.OutgoingHttpHeaders, method: string])[] => [
  [{}, 'GET'],
  [{}, 'HEAD'],
  [{}, 'POST'],
  [{ 'A2A-Version': '1.0' }, 'GET'],
  [{ 'A2A-Version': '9.9' }, 'GET'],
  [{ 'Accept-Encoding': 'gzip' }, 'GET'],
  [{ 'Accept-Encoding': 'identity;q=0, gzip;q=0, br;q=0' }, 'GET'],
  [{ 'If-None-Match': etag }, 'GET'],
  [{ 'If-None-Match': '"other"' }, 'GET'],
  [{ 'If-Modified-Since': 'Mon, 01 Jan 2035 00:00:00 GMT' }, 'GET'],
  [{ Range: 'bytes=0-1' }, 'GET'],
  [{ 'Cache-Control': 'no-cache' }, 'GET'],
  [{ Origin: 'http://localhost:3000' }, 'GET'],
  [{ Via: '1.1 cardea' }, 'GET'],
  [{ Authorization: 'Bearer a' }, 'GET'],
  [{ Host: 'evil.test' }, 'GET'],
];

scenario('every kind of request gets what it would get, at any moment', MINUTE, async (world) => {
  const { headers } = await world.card();
  for (const passed of [0, 400, 700, 28_000, 31_000]) {
    await world.clock.advance(passed);
    for (const [fields, method] of kinds(headers.etag ?? '')) await asked(world, fields, method);
  }
});

scenario('what was killed answers nobody from then on, and again once the kill is lifted', MINUTE, async (world) => {
  assert.equal((await asked(world)).status, 200);
  for (const scope of ['all', 'agent:weather']) {
    const engaged = await world.daemon.killSwitch.engage({ scope: tag(scope), reason: 'drill', by: 'admin' });
    assert.ok(engaged.ok);
    assert.equal((await world.card()).code, 'killed');
    await world.daemon.killSwitch.lift({ id: engaged.value.kill.id, reason: 'drill over', by: 'admin' });
    assert.equal((await asked(world)).status, 200);
  }
});

scenario('a reload is felt by the next request', MINUTE, async (world) => {
  assert.equal((await asked(world)).status, 200);
  const before = world.written;
  world.writes(before.replace('origin:', 'visibleTo: [{ tenant: acme }], origin:'));
  assert.ok((await world.daemon.reload('SIGHUP')).ok);
  assert.equal((await world.card()).code, 'unknown-agent');
  world.writes(before);
  assert.ok((await world.daemon.reload('SIGHUP')).ok);
  assert.equal((await asked(world)).status, 200);
});

scenario(
  'a newer card takes its place at once, and each hit is counted',
  { ...MINUTE, review: TAKES_ALL },
  async (world) => {
    assert.equal((await asked(world)).body, CARD);
    world.says(answers(OTHER_CARD, { 'Cache-Control': 'max-age=60', ETag: '"two"', Vary: 'A2A-Version' }));
    await world.pass(2);
    await world.card({ 'Cache-Control': 'no-cache' });
    assert.equal((await asked(world)).body, OTHER_CARD);
    const hits = /^cardea_requests_total\{agent="weather",kind="public",result="hit"\} (\d+)$/m;
    const before = Number(await world.metric(hits));
    for (let times = 0; times < 5; times += 1) await world.card();
    assert.equal(Number(await world.metric(hits)), before + 5);
  },
);

scenario('an answer that stands keeps nobody from asking for a newer card', MINUTE, async (world) => {
  const asks = (): Promise<Got> => world.card({ 'Cache-Control': 'no-cache' });
  await asks();
  await world.clock.advance(5_400);
  world.says(fails(503));
  await asks();
  await world.clock.advance(700);
  for (let times = 0; times < 3; times += 1) await asks();
  const before = world.origin.asked.length;
  // In the same second of the card's age the second is over in which its origin was left alone.
  await world.clock.advance(400);
  await asks();
  assert.equal(world.origin.asked.length, before + 1);
});
