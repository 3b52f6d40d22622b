import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { freshnessOf, freshnessText, instantText, spanText } from '../../console/freshness.js';
import { cardDigest } from '../../src/kernel/ids.ts';
import { epochMs } from '../../src/kernel/units.ts';

const AGENT = {
  state: 'fresh',
  digest: cardDigest('00'),
  lifetime: 60_000,
  freshUntil: epochMs(1_060_000),
  staleUntil: epochMs(1_160_000),
} as const;

describe('what a card has left', () => {
  const cases: readonly (readonly [name: string, now: number, phase: string, share: number, span: number])[] = [
    ['just fetched', 1_000_000, 'fresh', 1, 60_000],
    ['in the middle', 1_030_000, 'fresh', 0.5, 30_000],
    ['a millisecond before the end', 1_059_999, 'fresh', 1 / 60_000, 1],
    ['at the end', 1_060_000, 'stale', 1, 0],
    ['stale for a while', 1_085_000, 'stale', 0.75, 25_000],
    ['a millisecond before it may be served no more', 1_159_999, 'stale', 1e-5, 99_999],
    ['no more', 1_160_000, 'ended', 0, 100_000],
    ['a clock that is behind', 900_000, 'fresh', 1, 160_000],
  ];
  for (const [name, now, phase, share, span] of cases)
    test(name, () => assert.deepEqual(freshnessOf(AGENT, now), { phase, share, span }));

  test('nothing while there is no card', () => {
    assert.equal(freshnessOf({ ...AGENT, digest: null }, 1_000_000).phase, 'none');
    assert.equal(freshnessOf({ ...AGENT, freshUntil: epochMs(0) }, 1_000_000).phase, 'none');
  });

  test('what has expired is not called stale', () => {
    assert.equal(freshnessOf({ ...AGENT, state: 'expired' }, 1_070_000).phase, 'ended');
    assert.equal(freshnessOf({ ...AGENT, staleUntil: epochMs(0) }, 1_070_000).phase, 'ended');
  });

  test('the share never leaves 0 to 1', () => {
    const instant = fc.integer({ min: 0, max: 4_000_000_000_000 }).map(epochMs);
    fc.assert(
      fc.property(instant, instant, instant, (staleUntil, freshUntil, now) => {
        const { share, span } = freshnessOf({ ...AGENT, staleUntil, freshUntil }, now);
        assert.ok(share >= 0 && share <= 1 && span >= 0);
      }),
    );
  });
});

describe('spans in words', () => {
  const cases: readonly (readonly [ms: number, text: string])[] = [
    [0, '0 s'],
    [999, '0 s'],
    [1_000, '1 s'],
    [59_999, '59 s'],
    [60_000, '1 m'],
    [61_000, '1 m 1 s'],
    [3_599_999, '59 m 59 s'],
    [3_600_000, '1 h'],
    [3_601_000, '1 h'],
    [86_399_999, '23 h 59 m'],
    [86_400_000, '1 d'],
    [90_000_000, '1 d 1 h'],
  ];
  for (const [ms, text] of cases) test(text, () => assert.equal(spanText(ms), text));

  test('a card says what is left, or since when it is over', () => {
    assert.equal(freshnessText({ phase: 'fresh', share: 1, span: 61_000 }), '1 m 1 s left');
    assert.equal(freshnessText({ phase: 'stale', share: 0, span: 5_000 }), 'stale for 5 s');
    assert.equal(freshnessText({ phase: 'ended', share: 0, span: 5_000 }), 'ended 5 s ago');
    assert.equal(freshnessText({ phase: 'none', share: 0, span: 0 }), 'no card');
  });

  test('an instant is written to the second', () => assert.equal(instantText(1_000), '1970-01-01 00:00:01Z'));
});
