import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { appendCacheStatus } from '../../src/http/answer.ts';
import { NO_DIRECTIVES, parseCacheControl, requestDirectives } from '../../src/http/cache-control.ts';
import { evaluateConditions } from '../../src/http/conditions.ts';
import { readerOf } from '../../src/http/fields.ts';
import { endToEnd } from '../../src/kernel/end-to-end.ts';
import { freshFor } from '../../src/http/freshness.ts';
import { parseHttpDate } from '../../src/http/http-date.ts';
import { invalidatedUrls } from '../../src/http/invalidation.ts';
import { answerRange } from '../../src/http/range.ts';
import { decideReuse, mayServeOnError } from '../../src/http/reuse.ts';
import { storable } from '../../src/http/storable.ts';
import { conditionFields, mergeNotModified, selectForUpdate, updateFromHead } from '../../src/http/validation.ts';
import { selectVariant, varyNames } from '../../src/http/vary.ts';
import type { Entry } from '../../src/kernel/entry.ts';
import type { Fields } from '../../src/kernel/fields.ts';
import { urlId } from '../../src/kernel/ids.ts';
import { epochMs, later, ms } from '../../src/kernel/units.ts';
import { ANY, CARD, dateAt, entryOf, NOW } from './given.ts';

const NAMES = [
  'Cache-Control',
  'CDN-Cache-Control',
  'Cardea-Cache-Control',
  'Expires',
  'Date',
  'Age',
  'Last-Modified',
  'Vary',
  'ETag',
  'Pragma',
  'Content-Range',
  'Content-Location',
  'Location',
  'Connection',
  'Range',
  'If-Range',
  'If-None-Match',
  'If-Modified-Since',
  'Authorization',
  'Set-Cookie',
] as const;
const DIRECTIVES = [
  'no-store',
  'no-cache',
  'private',
  'public',
  'must-revalidate',
  'proxy-revalidate',
  'must-understand',
  'immutable',
  'max-age=0',
  'max-age=60',
  'max-age=x',
  's-maxage=30',
  's-maxage',
  'stale-if-error=20',
  'stale-while-revalidate=20',
  'foo="max-age=9',
  'max-age="7"',
  'no-cache="a, b"',
  '"no-store"',
  'max-age =5',
  '&',
] as const;

const date = fc.integer({ min: -200, max: 200 }).map(dateAt);
const control = fc.array(fc.constantFrom(...DIRECTIVES), { maxLength: 5 }).map((directives) => directives.join(', '));
const number = fc.oneof(fc.nat(120).map(String), fc.constantFrom('-1', 'x', '1.5', '0, 90', '9'.repeat(30)));
const value = fc.oneof(
  control,
  date,
  number,
  fc.string(),
  fc.constantFrom('*', '"a"', 'W/"a"', 'bytes=0-1', 'bytes 0-4/10', '/x', 'http://['),
);
const anyFields: fc.Arbitrary<Fields> = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), value), { maxLength: 8 })
  .map((lines) => lines.flat());
const policy = fc.constantFrom(ANY, CARD, { ...CARD, minTtl: ms(10_000), maxTtl: ms(40_000), maxStale: ms(15_000) });
const status = fc.constantFrom(200, 203, 206, 299, 301, 302, 404, 410, 500, 503, 599);
const response = fc.record({ fields: anyFields, rules: policy, code: status });
const passing = fc.nat(200_000);

/** From what is allowed most to what is allowed least. */
const RANKS = ['fresh', 'stale-while-revalidate', 'stale-as-asked', 'validate'] as const;
const rank = (entry: Entry, after: number): number =>
  RANKS.indexOf(decideReuse({ entry, request: NO_DIRECTIVES, now: epochMs(NOW + after) }).use);

describe('freshness only ever runs out', () => {
  test('a later moment allows no more', () => {
    fc.assert(
      fc.property(response, passing, passing, ({ fields, rules, code }, first, more) => {
        const entry = entryOf({ fields, policy: rules, status: code });
        const [early, late] = [epochMs(NOW + first), epochMs(NOW + first + more)];
        assert.ok(freshFor(entry, late) <= freshFor(entry, early));
        assert.ok(rank(entry, first + more) >= rank(entry, first));
        const onError = (now: typeof early): boolean => mayServeOnError({ entry, now, status: null });
        assert.ok(onError(early) || !onError(late));
      }),
    );
  });

  test('a larger Age allows no more', () => {
    const aged = (fields: Fields, age: number): Fields => ['Age', String(age), ...fields];
    fc.assert(
      fc.property(response, fc.nat(200), fc.nat(200), passing, ({ fields, rules }, age, more, passed) => {
        const [young, old] = [age, age + more].map((given) => entryOf({ fields: aged(fields, given), policy: rules }));
        assert.ok(young !== undefined && old !== undefined);
        assert.ok(rank(old, passed) >= rank(young, passed));
      }),
    );
  });

  test('an earlier Date allows no more', () => {
    fc.assert(
      fc.property(
        fc.record({ text: control, rules: policy }),
        fc.integer({ min: -200, max: 200 }),
        fc.nat(200),
        passing,
        ({ text, rules }, seconds, earlier, passed) => {
          const dated = (from: number): Entry =>
            entryOf({ fields: ['Cache-Control', `${text}, max-age=60`, 'Date', dateAt(from)], policy: rules });
          assert.ok(rank(dated(seconds - earlier), passed) >= rank(dated(seconds), passed));
        },
      ),
    );
  });

  const RESTRICTIONS = [
    'no-store',
    'no-cache',
    'private',
    'must-revalidate',
    'proxy-revalidate',
    'max-age=0',
    's-maxage=0',
    'max-age=junk',
    'no-cache="x"',
    '"no-cache"',
    'no-store; foo',
  ] as const;
  test('an added restriction allows no more, wherever it stands', () => {
    const added = fc.constantFrom(...RESTRICTIONS);
    fc.assert(
      fc.property(
        fc.record({ text: control, restriction: added, before: fc.boolean() }),
        policy,
        passing,
        (given, rules, passed) => {
          const { text, restriction, before } = given;
          const withIt = before ? `${restriction}, ${text}` : `${text}, ${restriction}`;
          const entry = (line: string): Entry => entryOf({ fields: ['Cache-Control', line], policy: rules });
          assert.ok(rank(entry(withIt), passed) >= rank(entry(text), passed), withIt);
          const stored = (line: string): boolean =>
            storable({
              method: 'GET',
              requestFields: readerOf([]),
              status: 200,
              fields: ['Cache-Control', line],
              policy: rules,
            }).store;
          assert.ok(stored(text) || !stored(withIt) || restriction.includes('revalidate'), withIt);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('no response outlives the ceilings', () => {
    fc.assert(
      fc.property(anyFields, status, (fields, code) => {
        const rules = { ...CARD, maxTtl: ms(40_000), maxStale: ms(15_000) };
        const entry = entryOf({ fields, policy: rules, status: code });
        assert.ok(entry.lifetime.fresh <= 40_000 && entry.initialAge >= 0);
        const end = later(NOW, ms(55_001));
        assert.equal(
          decideReuse({ entry, request: requestDirectives(readerOf(['Cache-Control', 'max-stale'])), now: end }).use,
          'validate',
        );
        assert.equal(mayServeOnError({ entry, now: end, status: null }), false);
      }),
    );
  });

  test('junk in Cache-Control never lengthens', () => {
    const explicit = (line: string): number =>
      parseCacheControl([`max-age=60, ${line}`]).maxAge ?? Number.POSITIVE_INFINITY;
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (junk) => assert.ok(explicit(junk) <= 60)),
    );
  });
});

describe('validation', () => {
  test('the same 304 twice is the same as once', () => {
    fc.assert(
      fc.property(anyFields, anyFields, policy, fc.nat(5_000), (stored, update, rules, took) => {
        const entry = entryOf({ fields: stored, policy: rules });
        const update304 = { fields: update, requestedAt: NOW, receivedAt: later(NOW, ms(took)) };
        const once = mergeNotModified(entry, update304, rules);
        assert.deepEqual(mergeNotModified({ ...entry, ...once }, update304, rules), once);
      }),
    );
  });

  test('a merge never touches what describes the bytes', () => {
    fc.assert(
      fc.property(anyFields, anyFields, (stored, update) => {
        const entry = entryOf({ fields: stored });
        const merged = mergeNotModified(entry, { fields: update, requestedAt: NOW, receivedAt: NOW }, ANY);
        for (const name of ['etag', 'content-range'])
          assert.equal(readerOf(merged.fields)(name), readerOf(stored)(name));
      }),
    );
  });
});

describe('malformed fields', () => {
  test('make nothing throw', () => {
    const wild: fc.Arbitrary<Fields> = fc
      .array(
        fc.tuple(fc.oneof(fc.constantFrom(...NAMES), fc.string()), fc.oneof(value, fc.string({ unit: 'binary' }))),
        { maxLength: 10 },
      )
      .map((lines) => lines.flat());
    fc.assert(
      fc.property(
        fc.record({ fields: wild, request: wild, method: fc.string() }),
        fc.nat(999),
        policy,
        (given, code, rules) => {
          const { fields, request, method } = given;
          const entry = entryOf({ fields, request, status: code, policy: rules, body: 'body' });
          const [read, url] = [readerOf(request), urlId('https://origin.example/')];
          const answer = { status: code, fields: request, requestedAt: NOW, receivedAt: NOW };
          storable({ method, requestFields: read, status: code, fields, policy: rules, url });
          decideReuse({ entry, request: requestDirectives(read), now: NOW });
          selectVariant([entry, entry], read);
          conditionFields([entry, entry]);
          selectForUpdate([entry, entry], request);
          mergeNotModified(entry, answer, rules);
          updateFromHead(entry, answer, rules);
          evaluateConditions(read, 'GET', { etag: entry.etag, lastModified: read('last-modified') });
          answerRange(read, entry);
          invalidatedUrls({ method, url, status: code, fields });
          endToEnd(fields);
          varyNames(fields);
          appendCacheStatus(read('cache-status'), 'cardea; hit');
          parseHttpDate(method, NOW);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
