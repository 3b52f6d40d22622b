import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Failure, createSetbacks } from '../../src/discovery/setbacks.ts';
import type { EntryKey } from '../../src/kernel/ids.ts';
import { refuse } from '../../src/kernel/refusal.ts';
import { epochMs, ms } from '../../src/kernel/units.ts';

const KEY = 'card\0weather\0https://weather.example' as EntryKey;
const NOW = epochMs(1_000_000);

const failure = (over: Partial<Failure> = {}): Failure => ({
  refusal: refuse('origin-unreachable', 'down'),
  status: null,
  policy: null,
  now: NOW,
  negativeTtl: ms(10_000),
  retryAfter: null,
  chance: 0.5,
  ...over,
});

describe('what is remembered of failures', () => {
  test('callers are held back for the negative TTL, whatever the row of failures', () => {
    const setbacks = createSetbacks();
    for (let row = 1; row <= 5; row += 1) {
      const setback = setbacks.note(KEY, failure());
      assert.equal(setback.failures, row);
      assert.equal(setback.until, NOW + 10_000);
    }
  });

  test('the schedule backs off by doubling, within jitter, up to five minutes', () => {
    const setbacks = createSetbacks();
    const delays = Array.from({ length: 12 }, () => setbacks.note(KEY, failure({ chance: 0 })).retryAt - NOW);
    assert.deepEqual(delays.slice(0, 4), [500, 1_000, 2_000, 4_000]);
    assert.equal(delays.at(-1), 150_000);
    const late = createSetbacks();
    for (let row = 0; row < 40; row += 1) late.note(KEY, failure({ chance: 0.999 }));
    const last = late.get(KEY);
    assert.ok(last !== undefined && last.retryAt - NOW <= 300_000 && last.retryAt - NOW > 299_000);
  });

  test("the origin's Retry-After holds both back, up to an hour", () => {
    const asked = createSetbacks().note(KEY, failure({ retryAfter: ms(120_000) }));
    assert.equal(asked.until, NOW + 120_000);
    assert.equal(asked.retryAt, NOW + 120_000);
    const forever = createSetbacks().note(KEY, failure({ retryAfter: ms(1e12) }));
    assert.equal(forever.until, NOW + 3_600_000);
  });

  test('a success forgets the row', () => {
    const setbacks = createSetbacks();
    setbacks.note(KEY, failure());
    setbacks.clear(KEY);
    assert.equal(setbacks.get(KEY), undefined);
    assert.equal(setbacks.note(KEY, failure()).failures, 1);
  });

  test('memory is bounded: the oldest keys go', () => {
    const setbacks = createSetbacks();
    const keyAt = (index: number): EntryKey => `card\0a${index}` as EntryKey;
    for (let index = 0; index <= 10_000; index += 1) setbacks.note(keyAt(index), failure());
    assert.equal(setbacks.get(keyAt(0)), undefined);
    assert.notEqual(setbacks.get(keyAt(1)), undefined);
    assert.notEqual(setbacks.get(keyAt(10_000)), undefined);
  });
});
