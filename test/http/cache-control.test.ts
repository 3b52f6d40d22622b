import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Directives, NO_DIRECTIVES, parseCacheControl, requestDirectives } from '../../src/http/cache-control.ts';
import { readerOf } from '../../src/http/fields.ts';
import { fields } from './given.ts';

/** What a record says beyond nothing. */
const said = (directives: Directives): Partial<Record<keyof Directives, unknown>> =>
  Object.fromEntries(
    Object.entries(directives).filter(([name, value]) => value !== NO_DIRECTIVES[name as keyof Directives]),
  );

describe('parseCacheControl', () => {
  const table: readonly (readonly [string, Partial<Record<keyof Directives, unknown>>])[] = [
    ['', {}],
    [',', {}],
    [' , ,\t', {}],
    ['max-age=60', { maxAge: 60 }],
    ['MaX-aGe=60', { maxAge: 60 }],
    [' max-age=60 ', { maxAge: 60 }],
    ['max-age="60"', { maxAge: 60 }],
    ['max-age="6\\0"', { maxAge: 60 }],
    ['max-age=003600', { maxAge: 3600 }],
    ['max-age=0', { maxAge: 0 }],
    ['No-StOrE', { noStore: true }],
    ['no-store="x"', { noStore: true }],
    ['no-store=', { noStore: true }],
    ['no-store x', { noStore: true }],
    ['no-store; max-age=60', { noStore: true, maxAge: 0 }],
    ['max-age=60; no-store', { maxAge: 0, noStore: true }],
    ['public max-age=60', { maxAge: 0 }],
    ['no-cache', { noCache: true }],
    ['no-cache="x"', { noCache: true }],
    ['no-cache="a, b"', { noCache: true }],
    ['private="set-cookie"', { private: true }],
    ['must-revalidate, proxy-revalidate', { mustRevalidate: true, proxyRevalidate: true }],
    ['public, must-understand, immutable', { public: true, mustUnderstand: true, immutable: true }],
    [
      's-maxage=5, stale-while-revalidate=6, stale-if-error=7',
      { sMaxage: 5, staleWhileRevalidate: 6, staleIfError: 7 },
    ],
    ['foobar, max-age=60', { maxAge: 60 }],
    ['foo=bar, max-age=60, baz="q"', { maxAge: 60 }],
    ['x-max-age=60', {}],
    ['max-age-x=60', {}],
    // Quoted text is not a directive.
    ['extension="max-age=3600", max-age=1', { maxAge: 1 }],
    ['max-age=1, extension="max-age=3600"', { maxAge: 1 }],
    ['foo="no-store"', {}],
    ['foo="a\\", no-store, b"', {}],
    // Duplicates: the most restrictive.
    ['max-age=0, max-age=60', { maxAge: 0 }],
    ['max-age=60, max-age=0', { maxAge: 0 }],
    ['max-age=1800, max-age=1', { maxAge: 1 }],
    ['max-age=60, max-age=x', { maxAge: 0 }],
    ['min-fresh=5, min-fresh=9', { minFresh: 9 }],
    // Overflow: 2^31.
    ['max-age=2147483647', { maxAge: 2 ** 31 - 1 }],
    ['max-age=2147483648', { maxAge: 2 ** 31 }],
    ['max-age=2147483649', { maxAge: 2 ** 31 }],
    [`max-age=${'9'.repeat(400)}`, { maxAge: 2 ** 31 }],
    // Malformed values are as if 0.
    ['max-age', { maxAge: 0 }],
    ['max-age=', { maxAge: 0 }],
    ['max-age=""', { maxAge: 0 }],
    ['max-age=-3600', { maxAge: 0 }],
    ['max-age=+60', { maxAge: 0 }],
    ['max-age=3600.0', { maxAge: 0 }],
    ['max-age=1e3', { maxAge: 0 }],
    ['max-age=0x10', { maxAge: 0 }],
    ["max-age='3600'", { maxAge: 0 }],
    ['max-age=a3600', { maxAge: 0 }],
    ['max-age=3600a', { maxAge: 0 }],
    ['max-age =3600', { maxAge: 0 }],
    ['max-age= 3600', { maxAge: 0 }],
    ['max-age=60 60', { maxAge: 0 }],
    ['max-age="60" x', { maxAge: 0 }],
    ['stale-while-revalidate=x', { staleWhileRevalidate: 0 }],
    // What permits must be exact; what restricts need not be.
    ['public=1', {}],
    ['"public"', {}],
    ['"no-store", max-age=60', { noStore: true, maxAge: 60 }],
    ['must-understand=x, no-store', { noStore: true }],
    // A quote that is never closed hides no restriction and grants nothing.
    ['foo="a, no-store', { noStore: true }],
    ['foo="a, max-age=60', { maxAge: 0 }],
    ['foo="a, public', {}],
    ['foo="a, no-store="b"', { noStore: true }],
    ['foo="a, "no-store"', { noStore: true }],
    ['foo="a"b, public, max-age=9', { public: true, maxAge: 9 }],
    ['max-age="3600', { maxAge: 0 }],
    ['max-age=60, foo="', { maxAge: 60 }],
  ];
  for (const [line, expected] of table) {
    test(JSON.stringify(line.slice(0, 60)), () => assert.deepEqual(said(parseCacheControl([line])), expected));
  }

  test('several lines are one field', () => {
    assert.deepEqual(said(parseCacheControl(['max-age=60', 'no-cache', 'max-age=5'])), { maxAge: 5, noCache: true });
    assert.deepEqual(said(parseCacheControl([])), {});
  });

  test('a quote left open on one line does not reach the next', () => {
    assert.deepEqual(said(parseCacheControl(['foo="a', 'max-age=60'])), { maxAge: 60 });
  });

  test('three thousand directives are read in one pass', () => {
    const line = `${Array.from({ length: 3000 }, (_, i) => `x${i}="a,b"`).join(',')},max-age=60`;
    assert.deepEqual(said(parseCacheControl([line])), { maxAge: 60 });
  });
});

describe('requestDirectives', () => {
  const table: readonly (readonly [Readonly<Record<string, string>>, Partial<Record<keyof Directives, unknown>>])[] = [
    [{}, {}],
    [{ 'Cache-Control': 'no-cache' }, { noCache: true }],
    [{ 'Cache-Control': 'max-age=0' }, { maxAge: 0 }],
    [{ 'Cache-Control': 'max-stale' }, { maxStale: 2 ** 31 }],
    [{ 'Cache-Control': 'max-stale=10' }, { maxStale: 10 }],
    [{ 'Cache-Control': 'max-stale=5, max-stale' }, { maxStale: 5 }],
    [
      { 'Cache-Control': 'min-fresh=10, only-if-cached, no-store' },
      { minFresh: 10, onlyIfCached: true, noStore: true },
    ],
    // Nonsense from a caller is ignored.
    [{ 'Cache-Control': 'max-age=x, min-fresh=-1, max-stale=y' }, {}],
    [{ 'Cache-Control': 'nothing-to-see-here' }, {}],
    [{ Pragma: 'no-cache' }, { noCache: true }],
    [{ Pragma: 'foo, No-Cache' }, { noCache: true }],
    [{ Pragma: 'foo' }, {}],
    // "When the Cache-Control header field is also present … Pragma is ignored" — RFC 9111 §5.4
    [{ Pragma: 'no-cache', 'Cache-Control': 'max-stale' }, { maxStale: 2 ** 31 }],
  ];
  for (const [given, expected] of table) {
    test(JSON.stringify(given), () => assert.deepEqual(said(requestDirectives(readerOf(fields(given)))), expected));
  }
});
