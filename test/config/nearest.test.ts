import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { nearest } from '../../src/config/nearest.ts';

const KNOWN = ['origin', 'card', 'maxStale', 'maxTtl', 'unsafeCleartext', 'level'];

describe('the nearest known word', () => {
  const cases: readonly (readonly [string, string | null])[] = [
    ['origin', 'origin'],
    ['orign', 'origin'],
    ['orgiin', 'origin'],
    ['oriigin', 'origin'],
    ['origni', 'origin'],
    ['orxxin', 'origin'],
    ['oxxxin', null],
    ['max_stale', 'maxStale'],
    ['MAX-STALE', 'maxStale'],
    ['max.stale', 'maxStale'],
    ['maxtll', 'maxTtl'],
    ['unsafeClearText', 'unsafeCleartext'],
    ['levels', 'level'],
    ['lev', 'level'],
    ['le', null],
    ['', null],
    ['registry', null],
  ];
  for (const [word, found] of cases) test(`of "${word}"`, () => assert.equal(nearest(word, KNOWN), found));
  test('of nothing', () => assert.equal(nearest('origin', []), null));
});
