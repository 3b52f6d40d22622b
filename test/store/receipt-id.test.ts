import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { newReceiptId } from '../../src/store/receipt-id.ts';

describe('receipt ids', () => {
  test('sort by time, also across the digits of their length', () => {
    const times = [0, 15, 16, 1_700_000_000_000, 1_800_000_000_000, 2 ** 47];
    const ids = times.map((time) => newReceiptId(time));
    assert.deepEqual(ids.toSorted(), ids);
  });

  test('are all different within one millisecond, and fit for a header', () => {
    const ids = Array.from({ length: 1_000 }, () => newReceiptId(1_800_000_000_000));
    assert.equal(new Set(ids).size, 1_000);
    for (const id of ids) assert.match(id, /^[0-9a-f]{12}-[0-9a-f]{20}$/);
  });
});
