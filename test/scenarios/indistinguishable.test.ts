import assert from 'node:assert/strict';
import { test } from 'node:test';
import type http from 'node:http';
import { type Got, answers, fails } from '../support/world.ts';
import type { Behave } from '../support/origin-server.ts';
import { Attacked, EXTENDED, cardOf } from './attacked-world.ts';

/*
 * What one caller sees does not depend on what is held for another: the same dialogue in a world in which somebody with an equal card was
 * there before, and in one without, answer by answer and field by field, and with as many requests to the agent. How long an answer takes
 * follows from the last: whether the network is waited for.
 */

interface Seen {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** How often the agent was asked for it. */
  readonly asked: number;
}

/** All that a caller can see, what differs from world to world and request to request by chance aside. */
function seenOf({ status, headers, body }: Got, asked: number, attacked: Attacked): Seen {
  const plain = (text: string): string =>
    text.replaceAll(attacked.world.base, 'http://cardea').replaceAll(/[0-9a-f]{12}-[0-9a-f]{20}/g, 'RECEIPT');
  const { date, ...rest } = JSON.parse(plain(JSON.stringify(headers))) as typeof headers;
  // What is no card is dated by the machine's own clock.
  return { status, headers: rest.etag === undefined ? rest : { date, ...rest }, body: plain(body), asked };
}

interface Bob {
  readonly who: string;
  /** How the agent answers when it is well: with one card for everybody. */
  readonly well: Behave;
  readonly note: (got: Got) => void;
}

/** Bob's side of everything that can be asked: misses, hits, conditions, other bindings, refreshes, failures, logout. */
async function dialogue(attacked: Attacked, { who, well, note }: Bob): Promise<void> {
  const ask = async (more: http.OutgoingHttpHeaders = {}, path = EXTENDED): Promise<Got> => {
    const got = await attacked.extended(who, more, path);
    note(got);
    return got;
  };
  const rpc = async (): Promise<void> => {
    const order = { jsonrpc: '2.0', id: 'x', method: 'GetExtendedAgentCard', params: {} };
    const headers = { Authorization: who, 'A2A-Version': '1.0', 'Content-Type': 'application/json' };
    note(await attacked.world.post('/agents/weather', JSON.stringify(order), headers));
  };
  const { clock } = attacked.world;
  const etag = String((await ask()).headers.etag);
  await ask();
  await ask({ 'If-None-Match': etag });
  await ask({ 'If-None-Match': '"other"' });
  await rpc();
  await ask({}, '/agents/weather/v1/card');
  await ask({ 'A2A-Extensions': 'https://x.test/one' });
  await clock.advance(1_500);
  await ask({ 'Cache-Control': 'no-cache' });
  await ask({ 'If-None-Match': etag });
  await clock.advance(601_000);
  attacked.behave = fails(503, { 'Retry-After': '5' });
  await ask();
  await ask();
  await clock.advance(90_000_000);
  await ask();
  attacked.behave = answers('<p>', { 'Content-Type': 'text/html' });
  await clock.advance(11_000);
  await ask();
  attacked.behave = well;
  await clock.advance(11_000);
  await ask();
  note(await attacked.world.get('/logout', { Authorization: who }, 'POST'));
  await ask();
  note(await attacked.world.get('/agents', { Authorization: who }));
  note(await attacked.extended('Bearer nobody', { 'If-None-Match': etag }));
}

/** Plays the dialogue, with or without somebody who has had everything before. */
async function play(
  port: number,
  before: (attacked: Attacked) => Promise<readonly string[]>,
): Promise<{ readonly seen: readonly Seen[]; readonly port: number }> {
  const attacked = await Attacked.start({ port, config: 'cache: { prefetch: false, staleIfError: 1h }' });
  const seen: Seen[] = [];
  try {
    const equal = cardOf(attacked.url, 'the same for everybody');
    attacked.fields = {
      'Cache-Control': 'max-age=600',
      ETag: '"same"',
      'Last-Modified': 'Fri, 01 Jan 2021 00:00:00 GMT',
    };
    const well = answers(equal, attacked.fields);
    attacked.behave = well;
    const others = await before(attacked);
    // The public card, which is everybody's, is there in both worlds.
    await attacked.world.card({ 'A2A-Version': '1.0' });
    for (const other of others) {
      await attacked.extended(other);
      await attacked.extended(other, {}, '/agents/weather/v1/card');
      await attacked.extended(other, { 'A2A-Extensions': 'https://x.test/one' });
    }
    let asked = attacked.asked;
    const exp = Math.floor(attacked.world.clock.now() / 1_000) + 200_000_000;
    const who = await attacked.caller({ sub: 'bob', tenant: 'acme', exp });
    const note = (got: Got): void => {
      seen.push(seenOf(got, attacked.asked - asked, attacked));
      asked = attacked.asked;
    };
    await dialogue(attacked, { who, well, note });
    return { seen, port: attacked.world.origin.port };
  } finally {
    await attacked.stop();
  }
}

test('HTTP-CACHE-37 same body, different partition: what another holds is not to be seen', async () => {
  const { seen: alone, port } = await play(0, async () => []);
  // The agent is at the same place, so that its card has the same bytes.
  const { seen: among } = await play(port, async (attacked) =>
    Promise.all([
      attacked.caller(), // another user of the tenant
      attacked.caller({ sub: 'bob', tenant: 'globex' }), // the same user of another tenant
      attacked.caller({ sub: 'bob', scope: 'other' }),
      attacked.caller({ sub: 'bob', aud: ['weather', 'more'] }),
      Promise.resolve('Bearer opaque'),
    ]),
  );
  assert.equal(alone.length, among.length);
  for (const [at, seen] of alone.entries()) assert.deepEqual(among[at], seen, `answer ${at}`);
  // It is told apart what is to be told apart: hits, misses, conditions, failures and stale answers are all among them.
  const kinds = new Set(
    alone.map(({ status, headers }) => `${status} ${/hit|fwd=[a-z-]+/.exec(String(headers['cache-status']))?.[0]}`),
  );
  for (const kind of ['200 fwd=uri-miss', '200 hit', '304 hit', '200 fwd=stale'])
    assert.ok(kinds.has(kind), [...kinds].join());
  assert.ok(alone.some(({ status }) => status === 502) && alone.some(({ asked }) => asked === 0));
});
