import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ReadHead, readRpc } from '../../src/discovery/call-body.ts';
import { World } from '../support/world.ts';

/** A body that comes in chunks of this size, and how much of it was read. */
function bodyOf(text: string, size = 16_384) {
  const bytes = new TextEncoder().encode(text);
  const read = { bytes: 0 };
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) {
      read.bytes = Math.min(at + size, bytes.length);
      yield bytes.subarray(at, at + size);
    }
  }
  return { body: chunks(), read };
}

/** SDKs of some languages write the id behind the message. */
const request = (length: number): string =>
  `{"jsonrpc":"2.0","method":"SendMessage","params":{"text":"${'x'.repeat(length)}"},"id":"late"}`;
const idOf = async (read: ReadHead | Promise<ReadHead>) => (await read).lateId();

describe('the id of a JSON-RPC request that is refused', () => {
  const cases: readonly (readonly [what: string, body: string, id: string | number | null])[] = [
    ['in a short request', request(10), 'late'],
    ['behind a message that is not held', request(300_000), 'late'],
    ['before a message that is not held', `{"id":7,"params":"${'x'.repeat(300_000)}"}`, 7],
    ['behind more than anybody waits for', request(2_000_000), null],
    ['in what is no request', `[${request(100_000)}]`, null],
    ['in a request without one', '{"method":"x"}', null],
  ];
  for (const [what, text, id] of cases)
    test(`${what}: ${JSON.stringify(id)}`, async () => assert.equal(await idOf(readRpc(bodyOf(text).body)), id));

  test('no more is read than is needed', async () => {
    const { body, read } = bodyOf(`{"id":7,"params":"${'x'.repeat(300_000)}"}`);
    await idOf(readRpc(body));
    assert.ok(read.bytes < 100_000, String(read.bytes));
  });
  test('a caller that leaves meanwhile is no error', async () => {
    async function* leaves() {
      yield new TextEncoder().encode(`{"params":"${'x'.repeat(80_000)}`);
      throw new Error('the caller has left');
    }
    assert.equal(await idOf(readRpc(leaves())), null);
  });
  test('after part of the body was sent on, the rest is read', async () => {
    const read = await readRpc(bodyOf(request(300_000)).body);
    let passed = 0;
    for await (const chunk of read.body()) if ((passed += chunk.length) > 200_000) break;
    assert.equal(await read.lateId(), null, 'nobody reads what was let go');
    const whole = await readRpc(bodyOf(request(300_000)).body);
    for await (const _ of whole.body());
    assert.equal(await whole.lateId(), 'late');
  });
});

test('refused operations of any length are told of with their id, whether they pass through or not', async (t) => {
  for (const route of ['direct', 'through']) {
    const world = await World.start({ agent: `route: ${route}` });
    t.after(() => world.stop());
    for (const length of [10, 300_000]) {
      // The agent has no 0.3 interface, and no other is dialled where calls are its own business.
      const got = await world.post('/agents/weather', request(length), { 'A2A-Version': '0.3' });
      const { id, error } = JSON.parse(got.body) as { id: unknown; error: { code: number } };
      assert.deepEqual([got.status, id, error.code], [200, 'late', route === 'direct' ? -32004 : -32009]);
    }
  }
});
