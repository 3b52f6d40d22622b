import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_DIRECTIVES, requestDirectives } from '../../src/http/cache-control.ts';
import { readerOf } from '../../src/http/fields.ts';
import { decideReuse, mayServeOnError } from '../../src/http/reuse.ts';
import type { CachePolicy } from '../../src/kernel/cache-policy.ts';
import { ms } from '../../src/kernel/units.ts';
import { ANY, at, CARD, entryOf } from './given.ts';

const stored = (control: string, policy: CachePolicy = CARD, age = '0'): ReturnType<typeof entryOf> =>
  entryOf({ fields: ['Cache-Control', control, 'Age', age], policy });
const asks = (control: string): ReturnType<typeof requestDirectives> =>
  requestDirectives(readerOf(['Cache-Control', control]));

/** How an entry with these directives is used so many seconds after it arrived. */
const use = (control: string, after: number, request = '', policy: CachePolicy = CARD): string => {
  const reuse = decideReuse({ entry: stored(control, policy), request: asks(request), now: at(after) });
  return `${reuse.use} ${reuse.ttl}`;
};

describe('decideReuse', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['fresh until the last moment', use('max-age=60', 59.999), 'fresh 1'],
    ['stale at its lifetime', use('max-age=60', 60), 'stale-while-revalidate 0'],
    ['within the window', use('max-age=60', 90), 'stale-while-revalidate -30'],
    ['beyond the window', use('max-age=60', 90.001), 'validate -30'],
    ['the origin gave the window', use('max-age=60, stale-while-revalidate=5', 65), 'stale-while-revalidate -5'],
    ['no window on any', use('max-age=60', 60, '', ANY), 'validate 0'],
    ['no-cache', use('max-age=60, no-cache', 1), 'validate 59'],
    ['must-revalidate while fresh', use('max-age=60, must-revalidate', 59), 'fresh 1'],
    ['must-revalidate when stale', use('max-age=60, must-revalidate', 61), 'validate -1'],
    ['a clock set back keeps it no longer fresh', use('max-age=60', -3600), 'fresh 60'],
    // Request directives (§5.2.1)
    ['no-cache asked', use('max-age=60', 1, 'no-cache'), 'validate 59'],
    ['max-age=0 asked', use('max-age=60', 0, 'max-age=0'), 'validate 60'],
    ['young enough', use('max-age=60', 10, 'max-age=10'), 'fresh 50'],
    ['too old', use('max-age=60', 10.001, 'max-age=10'), 'validate 50'],
    ['fresh for long enough', use('max-age=60', 20, 'min-fresh=40'), 'fresh 40'],
    ['not fresh for long enough', use('max-age=60', 20.001, 'min-fresh=40'), 'validate 40'],
    ['stale is wanted', use('max-age=60', 70, 'max-stale'), 'stale-as-asked -10'],
    ['as stale as wanted', use('max-age=60', 160, 'max-stale=100'), 'stale-as-asked -100'],
    ['staler than wanted', use('max-age=60', 160.001, 'max-stale=100'), 'validate -100'],
    ['stale is wanted, but never allowed', use('max-age=60, must-revalidate', 61, 'max-stale'), 'validate -1'],
    [
      'stale is wanted beyond the windows',
      use('max-age=60, stale-if-error=5, stale-while-revalidate=3', 66, 'max-stale'),
      'validate -6',
    ],
    ['max-age shuts out stale', use('max-age=60', 61, 'max-age=100'), 'validate -1'],
    ['max-age and max-stale', use('max-age=60', 61, 'max-age=100, max-stale'), 'stale-as-asked -1'],
    ['older than max-age, though max-stale', use('max-age=60', 101, 'max-age=100, max-stale'), 'validate -41'],
    ['min-fresh shuts out stale', use('max-age=60', 61, 'min-fresh=1'), 'validate -1'],
    ['min-fresh and max-stale want what cannot be', use('max-age=60', 61, 'min-fresh=1, max-stale'), 'validate -1'],
    ['nonsense asks nothing', use('max-age=60', 1, 'max-age=x, foo, min-fresh'), 'fresh 59'],
    // RFC 8246
    ['a reload of what never changes', use('max-age=60, immutable', 1, 'max-age=0'), 'fresh 59'],
    ['a forced reload of it', use('max-age=60, immutable', 1, 'no-cache'), 'validate 59'],
    ['a reload when it is stale', use('max-age=60, immutable, must-revalidate', 61, 'max-age=0'), 'validate -1'],
  ];
  for (const [name, found, expected] of table) test(name, () => assert.equal(found, expected));

  test('an Age at arrival counts', () => {
    const entry = stored('max-age=1500', ANY, '2000');
    assert.deepEqual(decideReuse({ entry, request: NO_DIRECTIVES, now: at(0) }), { use: 'validate', ttl: -500 });
    assert.equal(decideReuse({ entry, request: asks('max-stale=1000'), now: at(0) }).use, 'stale-as-asked');
  });

  test('maxStale 0 outlasts every wish', () => {
    assert.equal(
      use('max-age=60, stale-while-revalidate=99', 61, 'max-stale', { ...CARD, maxStale: ms(0) }),
      'validate -1',
    );
  });
});

describe('mayServeOnError (RFC 5861 §4)', () => {
  const may = (control: string, after: number, status: number | null, policy = CARD): boolean =>
    mayServeOnError({ entry: stored(control, policy), now: at(after), status });

  test('on failures, not on answers', () => {
    for (const status of [null, 500, 502, 503, 504, 599])
      assert.equal(may('max-age=1', 2, status), true, String(status));
    for (const status of [200, 304, 400, 401, 403, 404, 410, 429, 499, 600])
      assert.equal(may('max-age=1', 2, status), false, String(status));
  });

  test('within the window and no longer', () => {
    assert.deepEqual(
      [3_601, 3_601.001].map((after) => may('max-age=1', after, null)),
      [true, false],
    );
    assert.deepEqual(
      [61, 61.001].map((after) => may('max-age=1, stale-if-error=60', after, 503)),
      [true, false],
    );
    assert.equal(may('max-age=1, stale-if-error=0', 1, 503), false);
    assert.equal(may('max-age=1', 1.001, 503, { ...CARD, maxStale: ms(0) }), false);
  });

  for (const word of ['must-revalidate', 'proxy-revalidate', 's-maxage=1', 'no-cache']) {
    test(`never against ${word}`, () => assert.equal(may(`max-age=1, ${word}`, 2, null), false));
  }

  test('what is still fresh stands in for a failed reload, save under no-cache', () => {
    assert.equal(may('max-age=60, must-revalidate', 1, 503), true);
    assert.equal(may('max-age=60, no-cache', 1, 503), false);
    assert.equal(may('max-age=60', 1, 404), false);
  });

  test('a stored error is never served stale', () => {
    const entry = entryOf({ status: 503, fields: ['Cache-Control', 'max-age=1, stale-if-error=60'] });
    assert.deepEqual(
      [0.5, 1].map((after) => mayServeOnError({ entry, now: at(after), status: 503 })),
      [true, false],
    );
  });
});
