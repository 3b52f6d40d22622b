import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatHttpDate, parseHttpDate } from '../../src/http/http-date.ts';
import { parseRetryAfter } from '../../src/http/retry-after.ts';
import { epochMs } from '../../src/kernel/units.ts';
import { NOW } from './given.ts';

const utc = (...parts: readonly [number, number, number, number, number, number]): number => Date.UTC(...parts);

describe('parseHttpDate', () => {
  const valid: readonly (readonly [string, number])[] = [
    ['Sun, 06 Nov 1994 08:49:37 GMT', utc(1994, 10, 6, 8, 49, 37)],
    ['Sunday, 06-Nov-94 08:49:37 GMT', utc(1994, 10, 6, 8, 49, 37)],
    ['Sun Nov  6 08:49:37 1994', utc(1994, 10, 6, 8, 49, 37)],
    ['Sun Nov 16 08:49:37 1994', utc(1994, 10, 16, 8, 49, 37)],
    ['Tue, 19 Jan 2038 14:14:08 GMT', utc(2038, 0, 19, 14, 14, 8)],
    ['Sun, 21 Nov 2286 04:46:39 GMT', utc(2286, 10, 21, 4, 46, 39)],
    ['Thursday, 18-Aug-50 02:01:18 GMT', utc(2050, 7, 18, 2, 1, 18)],
    ['Thu Aug  8 02:01:18 2050', utc(2050, 7, 8, 2, 1, 18)],
    ['THU, 18 Aug 2050 02:01:18 GMT', utc(2050, 7, 18, 2, 1, 18)],
    ['Thu, 18 AUG 2050 02:01:18 GMT', utc(2050, 7, 18, 2, 1, 18)],
    ['Thu, 18 Aug 2050 02:01:18 gMT', utc(2050, 7, 18, 2, 1, 18)],
    ['Tue, 29 Feb 2028 00:00:00 GMT', utc(2028, 1, 29, 0, 0, 0)],
    ['Tue, 29 Feb 2000 00:00:00 GMT', utc(2000, 1, 29, 0, 0, 0)],
    ['Sat, 31 Dec 2016 23:59:60 GMT', utc(2017, 0, 1, 0, 0, 0)],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['  Thu, 01 Jan 1970 00:00:00 GMT\t', 0],
    // The weekday is not checked against the date.
    ['Mon, 06 Nov 1994 08:49:37 GMT', utc(1994, 10, 6, 8, 49, 37)],
  ];
  for (const [text, expected] of valid) {
    test(`reads ${text}`, () => assert.equal(parseHttpDate(text, NOW), expected));
  }

  for (const text of [
    '',
    '0',
    '-1',
    'foo',
    '1800000000',
    '2050-08-18T02:01:18Z',
    'Thu, 18 Aug 2050 02:01:18 UTC',
    'Thu, 18 Aug 2050 02:01:18 AEST',
    'Thu, 18 Aug 2050 02:01:18 +0000',
    'Thu, 18 Aug 2050 02:01:18',
    'Thu, 18 Aug 50 02:01:18 GMT',
    'Thu 18 Aug 2050 02:01:18 GMT',
    'Thu, 18  Aug  2050 02:01:18 GMT',
    'Thu, 18-Aug-2050 02:01:18 GMT',
    'Thu, 18 Aug 2050 02.01.18 GMT',
    'Thu, 18 Aug 2050 2:01:18 GMT',
    'Thu, 8 Aug 2050 02:01:18 GMT',
    'Thu, 18 Aug 20500 02:01:18 GMT',
    'Xxx, 18 Aug 2050 02:01:18 GMT',
    'Thu, 18 Foo 2050 02:01:18 GMT',
    'Thu, 00 Aug 2050 02:01:18 GMT',
    'Thu, 32 Aug 2050 02:01:18 GMT',
    'Thu, 31 Jun 2050 02:01:18 GMT',
    'Mon, 29 Feb 2027 00:00:00 GMT',
    'Mon, 29 Feb 2100 00:00:00 GMT',
    'Thu, 18 Aug 2050 24:00:00 GMT',
    'Thu, 18 Aug 2050 02:60:00 GMT',
    'Thu, 18 Aug 2050 02:01:61 GMT',
    'Thu, 18 Aug 2050 02:01:18 GMT, Thu, 18 Aug 2050 02:01:18 GMT',
    'Thu Aug 8 02:01:18 2050',
    'Thursday, 18-Aug-2050 02:01:18 GMT',
  ]) {
    test(`refuses ${JSON.stringify(text)}`, () => assert.equal(parseHttpDate(text, NOW), undefined));
  }

  test('a two-digit year is at most 50 years ahead', () => {
    const year = (yy: string): number =>
      new Date(parseHttpDate(`Monday, 01-Jan-${yy} 00:00:00 GMT`, NOW) ?? Number.NaN).getUTCFullYear();
    assert.deepEqual(['27', '77', '78', '99', '00'].map(year), [2027, 2077, 1978, 1999, 2000]);
    const in2090 = epochMs(Date.UTC(2090, 0, 1));
    const late = parseHttpDate('Monday, 01-Jan-10 00:00:00 GMT', in2090);
    assert.equal(late, Date.UTC(2110, 0, 1));
  });
});

describe('formatHttpDate', () => {
  test("agrees with the platform's calendar for every second of ten thousand years", () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }), (second) => {
        assert.equal(formatHttpDate(epochMs(second * 1000)), new Date(second * 1000).toUTCString());
      }),
    );
  });

  test('is read back to the second, whatever the milliseconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799_999 }), (instant) => {
        assert.equal(parseHttpDate(formatHttpDate(epochMs(instant)), NOW), instant - (instant % 1000));
      }),
    );
  });
});

describe('parseRetryAfter', () => {
  const cases: readonly (readonly [string | undefined, number | null])[] = [
    [undefined, null],
    ['', null],
    ['soon', null],
    ['-1', null],
    ['1.5', null],
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7_000],
    ['99999999999999999999', 2 ** 31 * 1000],
    [formatHttpDate(epochMs(NOW + 5_000)), 5_000],
    [formatHttpDate(epochMs(NOW - 5_000)), 0],
  ];
  for (const [text, expected] of cases) {
    test(`${text ?? 'absent'} is ${expected}`, () => assert.equal(parseRetryAfter(text, NOW), expected));
  }
});
