import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tag } from '../../src/kernel/ids.ts';
import { createTagIndex } from '../../src/store/tag-index.ts';

const [a, b] = [tag('a'), tag('b')];

test('of one, of several and of one again: what carries the tag is found, once', () => {
  const index = createTagIndex();
  const [first, second] = [{ tags: [a, b] }, { tags: [a] }];
  assert.deepEqual(index.find([a, b]), []);
  index.add(first);
  index.add(first);
  assert.deepEqual(index.find([a]), [first]);
  assert.deepEqual(index.find([a, b]), [first]);
  index.add(second);
  assert.deepEqual(index.find([a, b]), [first, second]);
  index.remove(first);
  assert.deepEqual(index.find([a]), [second]);
  assert.deepEqual(index.find([b]), []);
  index.remove(second);
  assert.deepEqual(index.find([a, b]), []);
});

test('what was never there, alone or among others, takes nothing out', () => {
  const index = createTagIndex();
  const [there, other] = [{ tags: [a] }, { tags: [a] }];
  index.add(there);
  index.remove(other);
  assert.deepEqual(index.find([a]), [there]);
});
