import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createCoder, LARGEST_CODED, SHORTEST_CODED } from '../../src/store/coder.ts';

const text = (length: number): Uint8Array =>
  new TextEncoder().encode('a card says this. '.repeat(length)).subarray(0, length);

test('both codings decode to the body, the shortest first', async () => {
  const body = text(20_000);
  const made = await createCoder().code(body);
  assert.deepEqual(made.map(({ coding }) => coding).toSorted(), ['br', 'gzip']);
  const lengths = made.map((each) => each.body.byteLength);
  assert.deepEqual(
    lengths,
    lengths.toSorted((one, other) => one - other),
  );
  for (const { coding, body: coded } of made) {
    const decoded = coding === 'br' ? brotliDecompressSync(coded) : gunzipSync(coded);
    assert.deepEqual(new Uint8Array(decoded), body);
  }
});

test('the same bytes every time, so that a tag outlives a restart', async () => {
  assert.deepEqual(await createCoder().code(text(5_000)), await createCoder().code(text(5_000)));
});

test('what is too short, too long or does not shrink is not coded', async () => {
  const coder = createCoder();
  const count = async (body: Uint8Array): Promise<number> => (await coder.code(body)).length;
  assert.equal(await count(new Uint8Array()), 0);
  assert.equal(await count(text(SHORTEST_CODED - 1)), 0);
  assert.equal(await count(text(SHORTEST_CODED)), 2);
  assert.equal(await count(text(LARGEST_CODED)), 2);
  assert.equal(await count(text(LARGEST_CODED + 1)), 0);
  assert.equal(await count(randomBytes(4_096)), 0);
});

test('many at once all get theirs', async () => {
  const coder = createCoder();
  const made = await Promise.all(Array.from({ length: 20 }, (_, index) => coder.code(text(1_000 + index))));
  assert.ok(made.every((codings) => codings.length === 2));
});
