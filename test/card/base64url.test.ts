import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeBase64Url, encodeBase64Url } from '../../src/card/base64url.ts';

test('bytes are written as Node writes them, whatever their number, and read back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
      const text = encodeBase64Url(bytes);
      assert.equal(text, Buffer.from(bytes).toString('base64url'));
      assert.deepEqual(decodeBase64Url(text), bytes);
    }),
  );
});

test('text is written by its UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(encodeBase64Url(text), Buffer.from(text).toString('base64url'));
    }),
  );
});

for (const [text, why] of [
  ['QQ==', 'padding'],
  ['QR', 'bits after the end'],
  ['Q+', 'another alphabet'],
  ['QQQQQ', 'a length that nothing has'],
] as const)
  test(`one signature has one spelling: ${why} is no base64url`, () => {
    assert.equal(decodeBase64Url(text), undefined);
  });
