import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { freshFor, hasExplicitLifetime } from '../../src/http/freshness.ts';
import { responseDirectives } from '../../src/http/targeted.ts';
import { dateAt, entryOf, fields, NOW } from './given.ts';

type Given = Readonly<Record<string, string | readonly string[]>>;
const freshSeconds = (given: Given): number => freshFor(entryOf({ fields: fields(given) }), NOW) / 1000;

describe('targeted cache control (RFC 9213)', () => {
  const lifetimes: readonly (readonly [string, Given, number])[] = [
    [
      'it decides instead of Cache-Control',
      { 'CDN-Cache-Control': 'max-age=3600', 'Cache-Control': 'max-age=1' },
      3600,
    ],
    ['shorter too', { 'CDN-Cache-Control': 'max-age=1', 'Cache-Control': 'max-age=3600' }, 1],
    ['instead of Expires', { 'CDN-Cache-Control': 'max-age=0', Expires: dateAt(900), Date: dateAt(0) }, 0],
    ['Expires counts for nothing beside it', { 'CDN-Cache-Control': 'foo', Expires: dateAt(900) }, 0],
    ['ours comes first', { 'CDN-Cache-Control': 'max-age=1', 'Cardea-Cache-Control': 'max-age=9' }, 9],
    ['ours first also where it says less', { 'CDN-Cache-Control': 'max-age=9', 'Cardea-Cache-Control': 'foo' }, 0],
    ['an unreadable one leaves the next', { 'Cardea-Cache-Control': '&', 'CDN-Cache-Control': 'max-age=9' }, 9],
    ['an empty one leaves the next', { 'Cardea-Cache-Control': '', 'CDN-Cache-Control': 'max-age=9' }, 9],
    ['unknown directives are ignored', { 'CDN-Cache-Control': 'foobar, max-age=3600;x=1, a=(1 2)' }, 3600],
    ['the last of duplicates counts', { 'CDN-Cache-Control': 'max-age=1, max-age=60' }, 60],
    ['lines are one Dictionary', { 'CDN-Cache-Control': ['foo', 'max-age=60'] }, 60],
    ['beyond 2^31 is 2^31, under the ceiling', { 'CDN-Cache-Control': 'max-age=99999999999' }, 365 * 86_400],
    ['negative is 0', { 'CDN-Cache-Control': 'max-age=-5', 'Cache-Control': 'max-age=60' }, 0],
    ['s-maxage is obeyed', { 'CDN-Cache-Control': 'max-age=1, s-maxage=7' }, 7],
  ];
  for (const [name, given, expected] of lifetimes) test(name, () => assert.equal(freshSeconds(given), expected));

  for (const value of [
    'max-age=10000, &&&&&',
    'max-age="10000"',
    'max-age=10.0',
    'max-age=ten',
    'max-age',
    'max-age =100',
    'max-age= 100',
    'MaX-aGe=3600',
    'max-age=10000,',
    'max-age=9999999999999999',
    'no-store=1',
    'public="x"',
    'no-cache=5',
  ]) {
    test(`${JSON.stringify(value)} is as if it were not there`, () => {
      const given = fields({ 'CDN-Cache-Control': value, 'Cache-Control': 'no-store' });
      assert.deepEqual(responseDirectives(given).targeted, false);
      assert.equal(responseDirectives(given).directives.noStore, true);
    });
  }

  test('restrictions are read, qualified or not, and may be said to be false', () => {
    const { directives } = responseDirectives(
      fields({ 'CDN-Cache-Control': 'no-store, private="a", no-cache=b, public=?0' }),
    );
    assert.equal(directives.noStore && directives.private && directives.noCache, true);
    assert.equal(directives.public, false);
  });

  test('a fresh one overrules no-store of Cache-Control', () => {
    const { directives } = responseDirectives(
      fields({ 'Cache-Control': 'no-store', 'CDN-Cache-Control': 'max-age=10' }),
    );
    assert.equal(directives.noStore, false);
  });

  test('fields of others are not ours', () => {
    const given = { 'Surrogate-Control': 'max-age=99', 'Edge-Control': 'max-age=99', 'X-Accel-Expires': '99' };
    assert.equal(freshSeconds(given), 0);
    assert.equal(hasExplicitLifetime(fields(given)), false);
  });
});

describe('Pragma in a response', () => {
  test('means no-cache where it stands alone', () => {
    assert.equal(responseDirectives(['Pragma', 'No-Cache']).directives.noCache, true);
    assert.equal(responseDirectives(['Pragma', 'foo']).directives.noCache, false);
  });
  test('means nothing beside Cache-Control', () => {
    assert.equal(responseDirectives(['Pragma', 'no-cache', 'Cache-Control', 'max-age=1']).directives.noCache, false);
  });
});
