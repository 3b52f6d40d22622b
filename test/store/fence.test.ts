import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { tag } from '../../src/kernel/ids.ts';
import { MOST_MARKS, createFence } from '../../src/store/fence.ts';

const A = tag('origin:a.example.com');
const B = tag('origin:b.example.com');
const ALL = tag('all');

describe('what began before a purge', () => {
  test('is barred by a hard one of any of its tags, stale by a soft one, free by none', () => {
    const fence = createFence();
    const since = fence.now();
    fence.raise([A], 'hard');
    fence.raise([B], 'soft');
    assert.equal(fence.passage([A], since), 'barred');
    assert.equal(fence.passage([B], since), 'stale');
    assert.equal(fence.passage([tag('origin:c.example.com')], since), 'free');
    assert.equal(fence.passage([B, A], since), 'barred');
    assert.equal(fence.passage([], since), 'free');
  });

  test('is held to the generation: at the purge it is free, one before it is not', () => {
    const fence = createFence();
    const before = fence.now();
    fence.raise([A], 'hard');
    assert.equal(fence.passage([A], before), 'barred');
    assert.equal(fence.passage([A], fence.now()), 'free');
  });

  test('is stale after a soft purge of all, and barred after a hard one, whatever its tags', () => {
    const fence = createFence();
    const since = fence.now();
    fence.raise([ALL], 'soft');
    assert.equal(fence.passage([], since), 'stale');
    fence.raise([ALL], 'hard');
    assert.equal(fence.passage([], since), 'barred');
    assert.equal(fence.passage([A, ALL], fence.now()), 'free');
  });

  test('a purge of one tag after one of all is known too', () => {
    const fence = createFence();
    fence.raise([ALL], 'hard');
    const since = fence.now();
    fence.raise([A], 'hard');
    assert.equal(fence.passage([A], since), 'barred');
    assert.equal(fence.passage([B], since), 'free');
  });
});

describe('marks', () => {
  const flood = (count: number) => {
    const fence = createFence();
    const since = fence.now();
    fence.raise([A], 'hard');
    const after = fence.now();
    for (let each = 0; each < count; each += 1) fence.raise([tag(`origin:${each}.example.com`)], 'hard');
    return { fence, since, after };
  };

  test('as many as are remembered bar nothing else', () => {
    const { fence, since, after } = flood(MOST_MARKS - 1);
    assert.equal(fence.passage([A], since), 'barred');
    assert.equal(fence.passage([B], since), 'free');
    assert.equal(fence.passage([A], after), 'free');
  });

  test('one more, and what is older than the forgotten purge is barred whatever it is', () => {
    const { fence, since, after } = flood(MOST_MARKS);
    assert.equal(fence.passage([A], since), 'barred');
    assert.equal(fence.passage([B], since), 'barred');
    assert.equal(fence.passage([B], after), 'free');
  });

  test('a tag that is purged again is remembered as of the last time', () => {
    const fence = createFence();
    fence.raise([A], 'hard');
    const since = fence.now();
    for (let each = 0; each < MOST_MARKS - 1; each += 1) fence.raise([tag(`origin:${each}.example.com`)], 'hard');
    fence.raise([A], 'hard');
    fence.raise([B], 'hard');
    assert.equal(fence.passage([A], since), 'barred');
    assert.equal(fence.passage([tag('kid:x')], fence.now()), 'free');
  });
});
