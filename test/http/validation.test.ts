import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldLines, fieldValue } from '../../src/http/fields.ts';
import { freshFor } from '../../src/http/freshness.ts';
import { conditionFields, mergeNotModified, selectForUpdate, updateFromHead } from '../../src/http/validation.ts';
import type { Fields } from '../../src/kernel/fields.ts';
import { ANY, at, dateAt, entryOf, fields } from './given.ts';

type Given = Readonly<Record<string, string | readonly string[]>>;
const stored = (given: Given, receivedAt = at(0)): ReturnType<typeof entryOf> =>
  entryOf({ fields: fields(given), receivedAt, body: 'body!' });
const LM = dateAt(-9999);

describe('conditionFields (RFC 9111 §4.3.1)', () => {
  test('tag and date of the only one', () => {
    assert.deepEqual(conditionFields([stored({ ETag: '"a"', 'Last-Modified': LM })]), [
      'If-None-Match',
      '"a"',
      'If-Modified-Since',
      LM,
    ]);
    assert.deepEqual(conditionFields([stored({ ETag: 'W/"a"' })]), ['If-None-Match', 'W/"a"']);
    assert.deepEqual(conditionFields([stored({ 'Last-Modified': LM })]), ['If-Modified-Since', LM]);
  });
  test('tags of several, each once, and no date', () => {
    const several = [
      stored({ ETag: '"a"', 'Last-Modified': LM }),
      stored({}),
      stored({ ETag: '"b"' }),
      stored({ ETag: '"a"' }),
    ];
    assert.deepEqual(conditionFields(several), ['If-None-Match', '"a", "b"']);
  });
  test('the date as the origin wrote it', () => {
    const rfc850 = 'Sunday, 06-Nov-94 08:49:37 GMT';
    assert.deepEqual(conditionFields([stored({ 'Last-Modified': rfc850 })]), ['If-Modified-Since', rfc850]);
  });
  for (const given of [
    { ETag: 'a' },
    { ETag: '"a' },
    { ETag: "'a'" },
    { ETag: '"a"b"' },
    { ETag: `"${'x'.repeat(10_240)}"` },
    { ETag: ['"a"', '"b"'] },
    { 'Last-Modified': 'foo' },
    { 'Last-Modified': [LM, LM] },
    {},
  ]) {
    test(`nothing to ask by: ${JSON.stringify(given).slice(0, 50)}`, () =>
      assert.deepEqual(conditionFields([stored(given)]), []));
  }
});

describe('selectForUpdate (RFC 9111 §4.3.4)', () => {
  const a = stored({ ETag: '"a"', Date: dateAt(-5) });
  const b = stored({ ETag: '"b"', Date: dateAt(-4) });
  const weak = stored({ ETag: 'W/"a"', Date: dateAt(-3), 'Last-Modified': LM });
  const dated = stored({ 'Last-Modified': LM, Date: dateAt(-2) });
  const bare = stored({});
  const select = (notModified: Given, ...entries: readonly ReturnType<typeof entryOf>[]): readonly unknown[] =>
    selectForUpdate(entries, fields(notModified));

  test('those with its strong tag', () => {
    assert.deepEqual(select({ ETag: '"a"' }, a, b, weak), [a]);
    const twin = stored({ ETag: '"a"', Vary: 'x' });
    assert.deepEqual(select({ ETag: '"a"' }, a, twin), [a, twin]);
  });
  test('none where it names another representation, not even the only one', () => {
    assert.deepEqual(select({ ETag: '"c"' }, a), []);
    assert.deepEqual(select({ ETag: '"a"' }, weak), []);
    assert.deepEqual(select({ ETag: '"a"', 'Last-Modified': LM }, dated), []);
  });
  test('the most recent with its weak tag, or its date', () => {
    assert.deepEqual(select({ ETag: 'W/"a"' }, a, b, weak), [weak]);
    assert.deepEqual(select({ ETag: 'W/"c"' }, a, weak), []);
    assert.deepEqual(select({ 'Last-Modified': LM }, a, weak, dated), [dated]);
    assert.deepEqual(select({ 'Last-Modified': dateAt(-1) }, dated), []);
  });
  test('the only one, where it names nothing', () => {
    assert.deepEqual(select({}, a), [a]);
    assert.deepEqual(select({}, bare), [bare]);
    assert.deepEqual(select({}, a, b), []);
    assert.deepEqual(select({ ETag: 'malformed' }, a), [a]);
  });
});

describe('mergeNotModified (RFC 9111 §3.2)', () => {
  const entry = stored({
    'Cache-Control': 'max-age=2',
    ETag: '"a"',
    Date: dateAt(0),
    Age: '1',
    A: '1',
    'Set-Cookie': ['a=1', 'b=2'],
    'Content-Type': 'text/plain',
    'Content-Encoding': 'gzip',
    'Content-MD5': 'x',
    'Content-Range': 'r',
    'Content-Length': '5',
  });
  const merge = (given: Given, when = 3): ReturnType<typeof mergeNotModified> =>
    mergeNotModified(entry, { fields: fields(given), requestedAt: at(when), receivedAt: at(when) }, ANY);
  const after = (given: Given, name: string): string | undefined => fieldValue(merge(given).fields, name);

  test('what it says replaces, what it does not say stays', () => {
    assert.equal(after({ A: '2' }, 'a'), '2');
    assert.equal(after({}, 'a'), '1');
    assert.equal(after({ B: '3' }, 'b'), '3');
    assert.deepEqual(fieldLines(merge({ 'Set-Cookie': 'c=3' }).fields, 'set-cookie'), ['c=3']);
    assert.equal(after({ 'Content-Type': 'text/html', 'Content-Location': '/x' }, 'content-type'), 'text/html');
  });

  for (const name of ['Content-Encoding', 'Content-Length', 'Content-MD5', 'Content-Range', 'ETag']) {
    test(`${name} is of the stored bytes and stays`, () => {
      assert.equal(after({ [name]: '"other"' }, name), fieldValue(entry.fields, name));
    });
  }

  test('fields of the connection are not taken over', () => {
    const merged = merge({ Connection: 'x', X: '1', 'Keep-Alive': 'timeout=5', Y: '2' }).fields;
    assert.deepEqual(
      ['connection', 'x', 'keep-alive', 'y'].map((name) => fieldValue(merged, name)),
      [undefined, undefined, undefined, '2'],
    );
  });

  test('age starts anew, and is never inherited', () => {
    assert.equal(merge({}).initialAge, 0);
    assert.equal(after({}, 'age'), undefined);
    assert.equal(merge({ Age: '7' }).initialAge, 7_000);
    assert.equal(merge({ Date: dateAt(-1) }).initialAge, 4_000);
  });

  test('without a Date it is dated by its arrival', () => {
    assert.equal(after({}, 'date'), dateAt(3));
    assert.equal(after({ Date: dateAt(1) }, 'date'), dateAt(1));
  });

  test('the lifetime is that of the merged fields', () => {
    assert.equal(merge({}).lifetime.fresh, 2_000);
    assert.equal(merge({ 'Cache-Control': 'max-age=3600' }).lifetime.fresh, 3_600_000);
    assert.equal(merge({ 'Cache-Control': 'no-cache' }).lifetime.validateAlways, true);
    const expiring = stored({ Expires: dateAt(100), Date: dateAt(0) });
    const merged = mergeNotModified(expiring, { fields: [], requestedAt: at(40), receivedAt: at(40) }, ANY);
    assert.equal(freshFor(merged, at(40)), 60_000);
  });

  test('the same 304 twice changes nothing more', () => {
    const response = {
      fields: fields({ A: '2', 'Cache-Control': 'max-age=9', 'Set-Cookie': ['x=1', 'y=2'], Age: '3' }),
      requestedAt: at(3),
      receivedAt: at(4),
    };
    const once = mergeNotModified(entry, response, ANY);
    assert.deepEqual(mergeNotModified({ ...entry, ...once }, response, ANY), once);
  });
});

describe('updateFromHead (RFC 9111 §4.3.5)', () => {
  const entry = stored({ 'Cache-Control': 'max-age=2', ETag: '"a"', 'Last-Modified': LM, 'Template-A': '1' });
  const head = (status: number, given: Fields): ReturnType<typeof updateFromHead> =>
    updateFromHead(entry, { status, fields: given, requestedAt: at(3), receivedAt: at(3) }, ANY);

  test('a 200 of the same representation updates', () => {
    const verdict = head(200, [
      'Template-A',
      '2',
      'Cache-Control',
      'max-age=1000',
      'ETag',
      '"a"',
      'Content-Length',
      '5',
    ]);
    assert.ok(verdict.stored === 'updated');
    assert.equal(fieldValue(verdict.parts.fields, 'template-a'), '2');
    assert.equal(verdict.parts.lifetime.fresh, 1_000_000);
    assert.equal(head(200, []).stored, 'updated');
  });
  for (const given of [
    ['ETag', '"b"'],
    ['Last-Modified', dateAt(-1)],
    ['Content-Length', '6'],
  ]) {
    test(`another ${given[0]} outdates`, () => assert.equal(head(200, given).stored, 'outdated'));
  }
  test('another status says nothing', () => {
    for (const status of [204, 304, 404, 410, 500]) assert.equal(head(status, ['ETag', '"b"']).stored, 'unconcerned');
  });
});
