import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  currentAge,
  dateOf,
  freshFor,
  hasExplicitLifetime,
  initialAge,
  isStrongDate,
  lifetimeOf,
  mostRecent,
  ttlOf,
} from '../../src/http/freshness.ts';
import type { CachePolicy } from '../../src/kernel/cache-policy.ts';
import { epochMs, later, ms } from '../../src/kernel/units.ts';
import { ANY, at, CARD, dateAt, entryOf, fields, NOW } from './given.ts';

type Given = Readonly<Record<string, string | readonly string[]>>;

describe('age (RFC 9111 §4.2.3)', () => {
  const age = (given: Given, requestedAt = NOW, receivedAt = NOW): number =>
    initialAge({ fields: fields(given), requestedAt, receivedAt }) / 1000;

  const table: readonly (readonly [string, Given, number])[] = [
    ['nothing said', {}, 0],
    ['Date now', { Date: dateAt(0) }, 0],
    ['Date past: apparent age', { Date: dateAt(-100) }, 100],
    ['Date ahead: never negative', { Date: dateAt(100) }, 0],
    ['Date invalid: received time', { Date: 'foo' }, 0],
    ['Date twice: received time', { Date: [dateAt(-100), dateAt(-50)] }, 0],
    ['Age', { Age: '30' }, 30],
    ['Age beyond apparent age', { Age: '30', Date: dateAt(-10) }, 30],
    ['apparent age beyond Age', { Age: '30', Date: dateAt(-60) }, 60],
    ['Age with spaces', { Age: ' 30 ' }, 30],
    ['Age 2^31 - 1', { Age: '2147483647' }, 2 ** 31 - 1],
    ['Age 2^31', { Age: '2147483648' }, 2 ** 31],
    ['Age beyond 2^31', { Age: '2147483649' }, 2 ** 31],
    ['Age without end', { Age: '9'.repeat(400) }, 2 ** 31],
    // "SHOULD use the first member … discarding subsequent ones"
    ['Age list, old first', { Age: '7200, 0' }, 7200],
    ['Age list, young first', { Age: '0,7200' }, 0],
    ['Age lines, old first', { Age: ['7200', '0'] }, 7200],
    ['Age lines, young first', { Age: ['0', '7200'] }, 0],
    ['Age lines, the first empty', { Age: ['', '7200'] }, 7200],
    // "If the field value … is invalid …, a cache SHOULD ignore the field"
    ['Age in letters', { Age: 'abc' }, 0],
    ['Age negative', { Age: '-7200' }, 0],
    ['Age with a fraction', { Age: '7200.0' }, 0],
    ['Age with a parameter is an Integer still', { Age: '7200;foo=bar' }, 7200],
  ];
  for (const [name, given, expected] of table) test(name, () => assert.equal(age(given), expected));

  test('the time that the exchange took is added to Age', () => {
    assert.equal(age({ Age: '30' }, at(-4), NOW), 34);
    assert.equal(age({ Age: '30', Date: dateAt(-90) }, at(-4), NOW), 90);
  });
  test('a clock set back during the exchange adds nothing', () => assert.equal(age({ Age: '30' }, at(4), NOW), 30));
  test('a Date of the same second is no age', () => {
    assert.equal(age({ Date: dateAt(0) }, later(NOW, ms(999)), later(NOW, ms(999))), 0);
    assert.equal(age({ Date: dateAt(-1) }, NOW, NOW), 1);
  });

  test('residence counts from arrival, and never backwards', () => {
    const entry = { initialAge: ms(5_000), receivedAt: NOW };
    assert.deepEqual(
      [-3_600, 0, 1, 60].map((s) => currentAge(entry, at(s)) / 1000),
      [5, 5, 6, 65],
    );
  });
});

const life = (given: Given, policy: CachePolicy = ANY, status = 200): number =>
  lifetimeOf({ status, fields: fields(given), receivedAt: NOW }, policy).fresh / 1000;

describe('freshness lifetime (RFC 9111 §4.2.1)', () => {
  const table: readonly (readonly [string, Given, number])[] = [
    ['nothing said', {}, 0],
    ['max-age', { 'Cache-Control': 'max-age=60' }, 60],
    ['s-maxage over longer max-age', { 'Cache-Control': 'max-age=3600, s-maxage=1' }, 1],
    ['s-maxage over shorter max-age', { 'Cache-Control': 's-maxage=3600, max-age=1' }, 3600],
    ['s-maxage malformed is 0', { 'Cache-Control': 's-maxage=x, max-age=60' }, 0],
    ['max-age over Expires', { 'Cache-Control': 'max-age=60', Expires: dateAt(-7200), Date: dateAt(0) }, 60],
    ['max-age=0 over Expires', { 'Cache-Control': 'max-age=0', Expires: dateAt(3600), Date: dateAt(0) }, 0],
    ['max-age over an invalid Expires', { 'Cache-Control': 'max-age=60', Expires: '0' }, 60],
    ['Expires less Date', { Expires: dateAt(300), Date: dateAt(100) }, 200],
    ['Expires without Date', { Expires: dateAt(300) }, 300],
    ['Expires with an invalid Date', { Expires: dateAt(10), Date: 'foo' }, 10],
    ['Expires before Date, both ahead', { Expires: dateAt(300), Date: dateAt(400) }, 0],
    ['Expires now', { Expires: dateAt(0), Date: dateAt(0) }, 0],
    ['Expires one second on', { Expires: dateAt(1), Date: dateAt(0) }, 1],
    ['Expires 0', { Expires: '0', Date: dateAt(0) }, 0],
    ['Expires empty', { Expires: '', Date: dateAt(0) }, 0],
    ['Expires in another zone', { Expires: 'Thu, 18 Aug 2050 02:01:18 UTC' }, 0],
    ['Expires twice: the earlier', { Expires: [dateAt(300), dateAt(60)], Date: dateAt(0) }, 60],
    ['Expires twice, one invalid', { Expires: [dateAt(300), '0'], Date: dateAt(0) }, 0],
    ['Expires and a heuristic: Expires', { Expires: dateAt(5), Date: dateAt(0), 'Last-Modified': dateAt(-86_400) }, 5],
    ['beyond 2^31 under the ceiling', { 'Cache-Control': 'max-age=99999999999' }, 365 * 86_400],
    ['10 % since Last-Modified', { 'Last-Modified': dateAt(-1000), Date: dateAt(0) }, 100],
    ['10 % of Date less Last-Modified', { 'Last-Modified': dateAt(-1000), Date: dateAt(-500) }, 50],
    ['a guess ends after a day', { 'Last-Modified': dateAt(-100 * 86_400), Date: dateAt(0) }, 86_400],
    ['Last-Modified ahead: none', { 'Last-Modified': dateAt(100), Date: dateAt(0) }, 0],
    ['Last-Modified invalid: none', { 'Last-Modified': 'yesterday', Date: dateAt(0) }, 0],
    ['Last-Modified twice: none', { 'Last-Modified': [dateAt(-1000), dateAt(-1000)] }, 0],
  ];
  for (const [name, given, expected] of table) test(name, () => assert.equal(life(given), expected));

  test('heuristics are for cacheable statuses and for what is public', () => {
    const guess: Given = { 'Last-Modified': dateAt(-50), Date: dateAt(0) };
    for (const status of [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501])
      assert.equal(life(guess, ANY, status), 5);
    for (const status of [201, 202, 302, 303, 307, 403, 500, 502, 503, 504, 599])
      assert.equal(life(guess, ANY, status), 0);
    assert.equal(life({ ...guess, 'Cache-Control': 'public' }, ANY, 599), 5);
  });

  test('a guess about an error ends with the negative TTL', () => {
    const guess: Given = { 'Last-Modified': dateAt(-86_400), Date: dateAt(0) };
    assert.deepEqual(
      [399, 400, 404].map((status) => life({ ...guess, 'Cache-Control': 'public' }, ANY, status)),
      [8640, 10, 10],
    );
    assert.equal(life({ 'Cache-Control': 'max-age=60' }, ANY, 404), 60);
  });

  test('with credentials in the request nobody guesses', () => {
    const guess = fields({ 'Last-Modified': dateAt(-86_400), 'Cache-Control': 'public' });
    const response = { status: 200, fields: guess, receivedAt: NOW, hadAuthorization: true };
    assert.equal(lifetimeOf(response, ANY).fresh, 0);
    assert.equal(lifetimeOf({ ...response, fields: ['Cache-Control', 's-maxage=5'] }, CARD).fresh, 5_000);
  });
});

describe('ceilings and defaults', () => {
  test('the default is for what says nothing', () => {
    assert.equal(life({}, CARD), 300);
    assert.equal(life({ 'Cache-Control': 'foo' }, CARD), 300);
    assert.equal(life({ 'Cache-Control': 'max-age=5' }, CARD), 5);
    assert.equal(life({ 'Cache-Control': 'max-age=x' }, CARD), 0);
    assert.equal(life({ Expires: '0' }, CARD), 0);
    assert.equal(life({}, { ...CARD, defaultTtl: ms(0) }), 0);
    assert.equal(life({ 'Last-Modified': dateAt(-1000) }, { ...CARD, defaultTtl: ms(0) }), 0);
  });

  test('maxTtl caps the origin and the default', () => {
    const policy = { ...CARD, maxTtl: ms(60_000) };
    assert.deepEqual(
      ['59', '60', '61', '99999999999'].map((n) => life({ 'Cache-Control': `max-age=${n}` }, policy)),
      [59, 60, 60, 60],
    );
    assert.equal(life({ Expires: 'Fri, 01 Jan 2100 00:00:00 GMT' }, policy), 60);
    assert.equal(life({}, policy), 60);
  });

  test('minTtl lifts what the origin says, never against no-store, no-cache or private, never beyond maxTtl', () => {
    const policy = { ...CARD, minTtl: ms(30_000) };
    assert.deepEqual(
      ['0', '29', '30', '31'].map((n) => life({ 'Cache-Control': `max-age=${n}` }, policy)),
      [30, 30, 30, 31],
    );
    for (const word of ['no-store', 'no-cache', 'private', 'no-cache="a"', 'private="a"']) {
      assert.equal(life({ 'Cache-Control': `max-age=5, ${word}` }, policy), 5, word);
    }
    assert.equal(life({ 'Cache-Control': 'max-age=5' }, { ...policy, maxTtl: ms(10_000) }), 10);
  });
});

describe('staleness (RFC 9111 §4.2.4, RFC 5861)', () => {
  const windows = (control: string, policy: CachePolicy = CARD, status = 200): readonly number[] => {
    const lifetime = lifetimeOf({ status, fields: ['Cache-Control', control], receivedAt: NOW }, policy);
    return [lifetime.staleWhileRevalidate / 1000, lifetime.staleIfError / 1000];
  };

  test('defaults act where the origin says nothing, its own values replace them', () => {
    assert.deepEqual(windows('max-age=1'), [30, 3600]);
    assert.deepEqual(windows('max-age=1, stale-while-revalidate=5, stale-if-error=6'), [5, 6]);
    assert.deepEqual(windows('max-age=1, stale-if-error=0'), [30, 0]);
    assert.deepEqual(windows('max-age=1, stale-if-error=x'), [30, 0]);
    assert.deepEqual(windows('max-age=1', ANY), [0, 3600]);
    assert.deepEqual(windows('max-age=1, stale-while-revalidate=9', ANY), [9, 3600]);
  });

  test('maxStale caps both, 0 is never', () => {
    const most = 'max-age=1, stale-while-revalidate=999999999, stale-if-error=999999999';
    assert.deepEqual(windows(most), [86_400, 86_400]);
    assert.deepEqual(windows('max-age=1', { ...CARD, maxStale: ms(10_000) }), [10, 10]);
    assert.deepEqual(windows('max-age=1', { ...CARD, maxStale: ms(0) }), [0, 0]);
    assert.equal(
      lifetimeOf({ status: 200, fields: [], receivedAt: NOW }, { ...CARD, maxStale: ms(0) }).mustRevalidate,
      true,
    );
  });

  for (const word of ['must-revalidate', 'proxy-revalidate', 's-maxage=1', 'no-cache', 'no-cache="x"']) {
    test(`${word} forbids it, whatever else is said`, () => {
      assert.deepEqual(windows(`max-age=1, ${word}, stale-while-revalidate=5, stale-if-error=6`), [0, 0]);
    });
  }

  test('a stored error is never served stale', () => {
    assert.deepEqual(windows('max-age=1, stale-if-error=60', CARD, 399), [30, 60]);
    assert.deepEqual(windows('max-age=1, stale-if-error=60', CARD, 400), [0, 0]);
    assert.deepEqual(windows('max-age=1, stale-if-error=60', CARD, 503), [0, 0]);
  });
});

describe('freshness left', () => {
  const entry = entryOf({ fields: fields({ 'Cache-Control': 'max-age=60', Age: '10' }) });

  test('is fresh only while age is less than the lifetime', () => {
    const left = (millis: number): number => freshFor(entry, epochMs(NOW + millis));
    assert.deepEqual([left(0), left(49_999), left(50_000), left(50_001)], [50_000, 1, 0, -1]);
  });

  test('ttl is the lifetime less Age in whole seconds', () => {
    assert.deepEqual(
      [300_000, 299_988, 1, 0, -1, -999, -1000, -3_200].map((left) => ttlOf(ms(left))),
      [300, 300, 1, 0, 0, 0, -1, -3],
    );
    assert.ok(Object.is(ttlOf(ms(-1)), 0));
  });
});

describe('dates of responses', () => {
  test('the most recent by Date, the first among equals', () => {
    const one = { fields: ['Date', dateAt(-5)], receivedAt: at(0) };
    const two = { fields: ['Date', dateAt(-4)], receivedAt: at(-4) };
    const three = { fields: ['Date', dateAt(-4)], receivedAt: at(-3) };
    assert.equal(mostRecent([one, two, three]), two);
    assert.equal(mostRecent([one]), one);
    assert.equal(mostRecent([]), undefined);
    assert.equal(dateOf([], NOW), NOW);
  });

  test('Last-Modified is strong a second before Date', () => {
    const strong = (modified: string, date?: string): boolean =>
      isStrongDate(fields({ 'Last-Modified': modified, ...(date === undefined ? {} : { Date: date }) }));
    assert.deepEqual(
      [strong(dateAt(-1), dateAt(0)), strong(dateAt(0), dateAt(0)), strong(dateAt(-9)), strong('x', dateAt(0))],
      [true, false, false, false],
    );
  });

  test('a lifetime is explicit in any form, malformed ones too', () => {
    const explicit: readonly Given[] = [
      { Expires: '0' },
      { 'Cache-Control': 'max-age=x' },
      { 'Cache-Control': 's-maxage=1' },
    ];
    for (const given of explicit) assert.equal(hasExplicitLifetime(fields(given)), true);
    assert.equal(hasExplicitLifetime(fields({ 'Cache-Control': 'public', 'Last-Modified': dateAt(-5) })), false);
  });
});
