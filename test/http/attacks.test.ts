import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_DIRECTIVES } from '../../src/http/cache-control.ts';
import { evaluateConditions } from '../../src/http/conditions.ts';
import { readerOf } from '../../src/http/fields.ts';
import { freshFor } from '../../src/http/freshness.ts';
import { decideReuse } from '../../src/http/reuse.ts';
import { storable } from '../../src/http/storable.ts';
import { conditionFields, selectForUpdate } from '../../src/http/validation.ts';
import { selectVariant } from '../../src/http/vary.ts';
import { ms } from '../../src/kernel/units.ts';
import { at, CARD, dateAt, entryOf, fields, NOW } from './given.ts';

/** The freshness, storing and validator cases of the attack table, as far as the rules alone decide them; ids are the table's. */
const CAPPED = { ...CARD, maxTtl: ms(3_600_000), defaultTtl: ms(0), staleWhileRevalidate: ms(0) };

type Given = Readonly<Record<string, string | readonly string[]>>;
const left = (given: Given, date = dateAt(0)): number =>
  freshFor(entryOf({ fields: fields({ Date: date, ...given }), policy: CAPPED }), NOW) / 1000;
const cc = (value: string): Given => ({ 'Cache-Control': value });

describe('origins that lie about freshness', () => {
  const table: readonly (readonly [string, Given, number])[] = [
    ['HTTP-FRESH-2', cc('max-age="60"'), 60],
    ['HTTP-FRESH-4', cc('max-age=0, max-age=60'), 0],
    ['HTTP-FRESH-6', cc('max-age=1.5'), 0],
    ['HTTP-FRESH-8', cc('max-age=99999999999999999999'), 3600],
    ['HTTP-FRESH-10', cc('max-age'), 0],
    ['HTTP-FRESH-12', cc('max-age =60'), 0],
    ['HTTP-FRESH-14', cc('s-maxage=0, max-age=60'), 0],
    ['HTTP-FRESH-16', cc('foo="max-age=60"'), 0],
    ['HTTP-FRESH-20', cc('x-max-age=60'), 0],
    ['HTTP-FRESH-22', cc('max-age=60, immutable'), 60],
    ['HTTP-FRESH-24', { Expires: 'Fri, 01 Jan 2100 00:00:00 GMT' }, 3600],
    ['HTTP-FRESH-26', { ...cc('max-age=60'), Expires: dateAt(-9) }, 60],
    ['HTTP-FRESH-28', { ...cc('max-age=60'), Age: '-10' }, 60],
    ['HTTP-FRESH-30', { ...cc('max-age=60'), Age: 'abc' }, 60],
    ['HTTP-FRESH-34', { ...cc('max-age=60'), Date: 'Fri, 01 Jan 2100 00:00:00 GMT' }, 60],
    [
      'HTTP-FRESH-38',
      { 'Surrogate-Control': 'max-age=9999', 'Edge-Control': 'max-age=9999', 'X-Accel-Expires': '9999' },
      0,
    ],
    ['HTTP-FRESH-42', cc(`max-age=60${', x'.repeat(3000)}`), 60],
  ];
  for (const [id, given, expected] of table) test(id, () => assert.equal(left(given), expected));

  test('HTTP-FRESH-32: of two Ages the first counts, as RFC 9111 §5.1 asks', () => {
    assert.equal(left({ ...cc('max-age=60'), Age: ['50', '0'] }), 10);
    assert.equal(left({ ...cc('max-age=60'), Age: ['0', '50'] }), 60);
  });
  test('HTTP-FRESH-36: Date 1970 and Expires 2100 is as old as it says', () => {
    assert.ok(left({ Expires: 'Fri, 01 Jan 2100 00:00:00 GMT' }, 'Thu, 01 Jan 1970 00:00:00 GMT') < 0);
  });
  test('HTTP-FRESH-40: the stale windows are capped', () => {
    const entry = entryOf({ fields: ['Cache-Control', 'max-age=1, stale-while-revalidate=999999999'], policy: CAPPED });
    assert.equal(entry.lifetime.staleWhileRevalidate, CAPPED.maxStale);
  });
  test('HTTP-FRESH-44: a clock that jumps makes nothing younger', () => {
    const entry = entryOf({ fields: ['Cache-Control', 'max-age=60', 'Age', '10'], policy: CAPPED });
    assert.deepEqual(
      [-86_400, 0, 86_400].map((s) => freshFor(entry, at(s)) / 1000),
      [50, 50, 50 - 86_400],
    );
  });
  test('HTTP-FRESH-46: fresh only while age is less than the lifetime', () => {
    const entry = entryOf({ fields: ['Cache-Control', 'max-age=60'], policy: CAPPED });
    const use = (seconds: number): string => decideReuse({ entry, request: NO_DIRECTIVES, now: at(seconds) }).use;
    assert.deepEqual([59.999, 60, 60.001].map(use), ['fresh', 'validate', 'validate']);
  });
});

describe('what must not be stored', () => {
  const why = (given: Given, request: Given = {}, status = 200): string => {
    const requestFields = readerOf(fields(request));
    const decision = storable({ method: 'GET', requestFields, status, fields: fields(given), policy: CAPPED });
    return decision.store ? 'stored' : decision.why;
  };
  test('HTTP-CACHE-13', () => {
    for (const value of ['no-store', 'No-Store', 'no-store="x"', ' no-store '])
      assert.equal(why(cc(value)), 'no-store', value);
    assert.equal(why({ 'Cache-Control': ['max-age=60', 'no-store'] }), 'no-store');
  });
  test('HTTP-FRESH-18', () => assert.equal(why(cc('"no-store", max-age=60')), 'no-store'));
  test('HTTP-CACHE-17', () => {
    const line = cc('must-understand, no-store, max-age=60');
    assert.deepEqual([why(line), why(line, {}, 299)], ['stored', 'not-understood']);
  });
  test('HTTP-CACHE-19', () => assert.equal(why(cc('max-age=60'), { Authorization: 'Bearer x' }), 'authorization'));
  test('HTTP-CACHE-15: validated each time', () => {
    for (const given of [
      cc('max-age=60, no-cache'),
      cc('max-age=60, no-cache="x"'),
      { Pragma: 'no-cache', Expires: dateAt(60) },
    ]) {
      const entry = entryOf({ fields: fields(given), policy: CAPPED });
      assert.equal(decideReuse({ entry, request: NO_DIRECTIVES, now: NOW }).use, 'validate');
    }
  });
  test('HTTP-CACHE-21: Vary on credentials keeps callers apart', () => {
    const entry = entryOf({
      fields: fields({ ...cc('public, max-age=60'), Vary: 'Authorization, Cookie' }),
      request: ['Authorization', 'a'],
    });
    assert.equal(selectVariant([entry], readerOf(['Authorization', 'a'])), entry);
    for (const other of [['Authorization', 'b'], ['Authorization', 'a', 'Cookie', 'x'], []]) {
      assert.equal(selectVariant([entry], readerOf(other)), undefined);
    }
  });
  test('HTTP-CACHE-23: a Vary that comes later does not widen what was stored before', () => {
    const before = entryOf({ fields: fields({ Date: dateAt(-9) }), request: ['Accept', 'a'] });
    const after = entryOf({ fields: fields({ Date: dateAt(0), Vary: 'Accept' }), request: ['Accept', 'b'] });
    assert.equal(selectVariant([before, after], readerOf(['Accept', 'b'])), after);
    assert.equal(selectVariant([before, after], readerOf(['Accept', 'c'])), undefined);
  });
});

describe('validators that lie', () => {
  const stored = entryOf({ fields: ['ETag', '"a"'] });
  test('HTTP-FRESH-48: a 304 for another tag updates nothing', () => {
    assert.deepEqual(selectForUpdate([stored], ['ETag', '"b"']), []);
  });
  test('HTTP-FRESH-52: a malformed tag validates nothing', () => {
    for (const tag of ['a', '"a', "'a'", '"a"b"', `"${'x'.repeat(10_240)}"`, '"a\r\nX: y"']) {
      assert.deepEqual(conditionFields([entryOf({ fields: ['ETag', tag] })]), [], tag.slice(0, 10));
    }
  });
  test('HTTP-FRESH-56: only a date is held against our own', () => {
    const since = (value: string): string =>
      evaluateConditions(readerOf(['If-Modified-Since', value]), 'GET', { etag: null, lastModified: dateAt(-100) });
    assert.deepEqual([dateAt(-101), dateAt(-100), 'Fri, 01 Jan 2100 00:00:00 GMT', 'garbage'].map(since), [
      'proceed',
      'not-modified',
      'not-modified',
      'proceed',
    ]);
  });
  test('HTTP-DOS-31: five thousand tags are one pass', () => {
    const tags = `${Array.from({ length: 5000 }, (_, i) => `"${i}"`).join(',')},"a"`;
    assert.equal(
      evaluateConditions(readerOf(['If-None-Match', tags]), 'GET', { etag: '"a"', lastModified: undefined }),
      'not-modified',
    );
  });
});
