import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type RawResponse, RawSocket, parseResponses } from '../support/raw-socket.ts';
import { CARD_PATH, World } from '../support/world.ts';
import { type AttackCase, REQUEST_CASES, bytesOf } from './attack-cases.ts';
import { NOT_APPLICABLE } from './not-applicable.ts';

/** What the table leaves to words, as statuses that its words allow. */
const STATUSES: Readonly<Record<string, readonly number[]>> = {
  'HTTP-SMUG-13': [400],
  'HTTP-SMUG-31': [200],
  'HTTP-SMUG-51': [200],
  'HTTP-SMUG-57': [400],
  // Callers may use the agents listener as their proxy, and this origin is on no allowlist.
  'HTTP-TGT-2': [403],
  'HTTP-TGT-4': [400, 421],
  'HTTP-TGT-6': [400],
  'HTTP-TGT-8': [405],
  'HTTP-TGT-12': [400],
  'HTTP-TGT-14': [404],
  'HTTP-TGT-16': [404],
  'HTTP-TGT-18': [404],
  'HTTP-TGT-20': [404],
  'HTTP-TGT-22': [404],
  'HTTP-TGT-24': [400],
  'HTTP-TGT-26': [400, 404],
  'HTTP-TGT-28': [404],
  'HTTP-TGT-30': [404],
  'HTTP-TGT-32': [404],
  'HTTP-TGT-34': [404],
  'HTTP-TGT-36': [200],
  'HTTP-TGT-38': [414, 431],
  'HTTP-TGT-M11': [200],
  // A trailing dot and case are ignored in Host.
  'HTTP-TGT-H10': [200],
  'HTTP-TGT-H12': [200],
};

describe('attack table: bytes on an HTTP/1.1 connection', { timeout: 60_000 }, () => {
  let world: World;
  let port: number;
  before(async () => {
    world = await World.start();
    port = Number(new URL(world.base).port);
    await world.card();
  });
  after(() => world.stop());

  for (const one of REQUEST_CASES.filter(({ raw, id }) => raw !== undefined && NOT_APPLICABLE[id] === undefined)) {
    if (one.id === 'HTTP-SMUG-55') continue;
    test(`${one.id} ${one.title}`, async () => {
      const asked = world.origin.asked.length;
      const socket = await RawSocket.connect(port);
      await socket.send(bytesOf(one.raw ?? ''));
      const [first] = await answersOf(socket, one);
      socket.close();
      const wanted = STATUSES[one.id] ?? one.assert?.status ?? [];
      assert.ok(wanted.includes(first?.status ?? 0), `${first?.status} is none of ${wanted.join()}: ${socket.text}`);
      assert.ok(!/HTTP\/1\.1 1\d\d/.test(socket.text), 'an interim answer before the decision');
      assert.equal(world.origin.asked.length, asked, 'the origin was asked');
      assert.equal((await world.card()).status, 200, 'another client is served');
    });
  }

  test('HTTP-SMUG-55 100 pipelined requests', async () => {
    const socket = await RawSocket.connect(port);
    await socket.send(bytesOf('<100 x GET /agents/alpha>'));
    const answers = await socket.responses(100);
    socket.close();
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array.from({ length: 100 }, () => 200),
    );
  });
});

/** The answers to one case: to the end of the connection where it must end, else to the answer of one more request. */
async function answersOf(socket: RawSocket, { raw = '', assert: wanted }: AttackCase): Promise<readonly RawResponse[]> {
  const method = raw.slice(0, raw.indexOf(' '));
  if (wanted?.closed === true) {
    await socket.ended();
    const answers = parseResponses(socket.text, method);
    if (wanted.responses !== undefined) assert.equal(answers.length, wanted.responses, socket.text);
    return answers;
  }
  return socket.responses(1, method);
}

test('route names from Object.prototype are no agents (HTTP-TGT-30)', async () => {
  const world = await World.start();
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    const got = await world.get(CARD_PATH.replace('weather', name));
    assert.deepEqual([got.status, got.code], [404, 'unknown-agent']);
  }
  await world.stop();
});
