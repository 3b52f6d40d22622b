import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Event } from '../../src/kernel/event.ts';
import { createMemoryLedger, newReceiptId } from '../../src/store/ledger-memory.ts';
import { exchange } from '../support/events.ts';
import { FakeClock } from '../support/fake-clock.ts';

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

test('a ledger that keeps nothing tells the observer of every receipt', async () => {
  const heard: Event[] = [];
  const clock = new FakeClock();
  const ledger = createMemoryLedger({ clock, observer: { record: (event) => void heard.push(event) } });
  const receipt = exchange({ id: ledger.issue() });
  ledger.record(receipt);
  assert.deepEqual(heard, [{ kind: 'receipt', receipt }]);
  assert.ok(receipt.id.startsWith(clock.now().toString(16).padStart(12, '0')));
  await ledger.close();
});
