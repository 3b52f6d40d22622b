import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { evaluateConditions, type Validators } from '../../src/http/conditions.ts';
import { entityTagOf, isEntityTag, parseEntityTags, strongMatch, weakMatch } from '../../src/http/etag.ts';
import { readerOf } from '../../src/http/fields.ts';
import { dateAt, fields } from './given.ts';

const STRONG: Validators = { etag: '"abcdef"', lastModified: dateAt(-3000) };
const evaluate = (request: Readonly<Record<string, string>>, validators = STRONG, method = 'GET'): string =>
  evaluateConditions(readerOf(fields(request)), method, validators);

describe('evaluateConditions (RFC 9110 §13.2.2, RFC 9111 §4.3.2)', () => {
  const table: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['no condition', {}, 'proceed'],
    ['the tag', { 'If-None-Match': '"abcdef"' }, 'not-modified'],
    ['the tag, weak', { 'If-None-Match': 'W/"abcdef"' }, 'not-modified'],
    ['another tag', { 'If-None-Match': '"abcdeg"' }, 'proceed'],
    ['anything', { 'If-None-Match': ' * ' }, 'not-modified'],
    ['the tag first', { 'If-None-Match': '"abcdef", "1234", "5678"' }, 'not-modified'],
    ['the tag in the middle', { 'If-None-Match': '"1234", "abcdef", "5678"' }, 'not-modified'],
    ['the tag last', { 'If-None-Match': '"1234" ,"5678","abcdef"' }, 'not-modified'],
    ['not quoted', { 'If-None-Match': 'abcdef' }, 'proceed'],
    ['lower-case w', { 'If-None-Match': 'w/"abcdef"' }, 'proceed'],
    ['backslash', { 'If-None-Match': 'W\\"abcdef"' }, 'proceed'],
    ['without a slash', { 'If-None-Match': 'W"abcdef"' }, 'proceed'],
    ['the tag among nonsense', { 'If-None-Match': 'foo, , "abcdef", "' }, 'not-modified'],
    ['the star among tags is a malformed tag', { 'If-None-Match': '*, "x"' }, 'proceed'],
    ['the tag inside another', { 'If-None-Match': '"x, "abcdef" y"' }, 'proceed'],
    ['empty', { 'If-None-Match': '' }, 'proceed'],
    ['same date', { 'If-Modified-Since': dateAt(-3000) }, 'not-modified'],
    ['later date', { 'If-Modified-Since': dateAt(-2000) }, 'not-modified'],
    ['earlier date', { 'If-Modified-Since': dateAt(-3001) }, 'proceed'],
    ['a date far ahead', { 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' }, 'not-modified'],
    ['no date', { 'If-Modified-Since': 'yesterday' }, 'proceed'],
    ['RFC 850 date', { 'If-Modified-Since': 'Friday, 15-Jan-27 07:10:00 GMT' }, 'not-modified'],
    ['RFC 850 date, earlier', { 'If-Modified-Since': 'Friday, 15-Jan-27 07:09:59 GMT' }, 'proceed'],
    ['tag before date', { 'If-None-Match': '"other"', 'If-Modified-Since': dateAt(0) }, 'proceed'],
    ['tag before earlier date', { 'If-None-Match': '"abcdef"', 'If-Modified-Since': dateAt(-9999) }, 'not-modified'],
    ['a malformed tag silences the date', { 'If-None-Match': 'x', 'If-Modified-Since': dateAt(0) }, 'proceed'],
    // "not applicable to a cache"
    ['If-Match', { 'If-Match': '"other"' }, 'proceed'],
    ['If-Unmodified-Since', { 'If-Unmodified-Since': dateAt(-9999) }, 'proceed'],
  ];
  for (const [name, request, expected] of table) test(name, () => assert.equal(evaluate(request), expected));

  test('other methods fail on a match, and know no date', () => {
    assert.equal(evaluate({ 'If-None-Match': '"abcdef"' }, STRONG, 'HEAD'), 'not-modified');
    assert.equal(evaluate({ 'If-None-Match': '"abcdef"' }, STRONG, 'PUT'), 'failed');
    assert.equal(evaluate({ 'If-None-Match': '*' }, STRONG, 'PUT'), 'failed');
    assert.equal(evaluate({ 'If-Modified-Since': dateAt(0) }, STRONG, 'PUT'), 'proceed');
  });

  test('without Last-Modified the Date stands in', () => {
    const dated: Validators = { etag: null, lastModified: undefined, date: dateAt(0) };
    assert.equal(evaluate({ 'If-Modified-Since': dateAt(0) }, dated), 'not-modified');
    assert.equal(evaluate({ 'If-Modified-Since': dateAt(-1) }, dated), 'proceed');
    assert.equal(evaluate({ 'If-Modified-Since': dateAt(0) }, { etag: null, lastModified: undefined }), 'proceed');
  });

  test('a malformed stored tag matches nothing but itself never', () => {
    assert.equal(evaluate({ 'If-None-Match': 'abcdef' }, { etag: 'abcdef', lastModified: undefined }), 'proceed');
  });
});

describe('entity tags (RFC 9110 §8.8.3)', () => {
  test('well-formed ones, and nothing else', () => {
    for (const tag of ['""', '"a"', 'W/"a"', '"a,b"', '"a\\b"', '"\u00fc"']) assert.ok(isEntityTag(tag), tag);
    for (const tag of [
      '',
      'a',
      '"a',
      "'a'",
      '"a"b"',
      'w/"a"',
      'W/a',
      '"a b"',
      '"a\nb"',
      '"a" ',
      `"${'x'.repeat(1023)}"`,
    ]) {
      assert.ok(!isEntityTag(tag), tag.slice(0, 20));
    }
    assert.ok(isEntityTag(`"${'x'.repeat(1022)}"`));
  });

  test('the comparison table of §8.8.3.2', () => {
    const rows: readonly (readonly [string, string, boolean, boolean])[] = [
      ['W/"1"', 'W/"1"', false, true],
      ['W/"1"', 'W/"2"', false, false],
      ['W/"1"', '"1"', false, true],
      ['"1"', '"1"', true, true],
    ];
    for (const [one, other, strong, weak] of rows) {
      assert.deepEqual([strongMatch(one, other), weakMatch(one, other)], [strong, weak], `${one} ${other}`);
      assert.deepEqual([strongMatch(other, one), weakMatch(other, one)], [strong, weak], `${other} ${one}`);
    }
  });

  test('a response has one or none', () => {
    assert.equal(entityTagOf(['ETag', ' "a" ']), '"a"');
    assert.equal(entityTagOf(['ETag', '"a"', 'ETag', '"a"']), undefined);
    assert.equal(entityTagOf(['ETag', '"a", "b"']), undefined);
    assert.equal(entityTagOf(['ETag', 'a']), undefined);
  });

  test('a list of five thousand is read in one pass', () => {
    const many = Array.from({ length: 5000 }, (_, i) => `"${i}"`).join(', ');
    assert.equal(parseEntityTags(many).length, 5000);
    assert.deepEqual(parseEntityTags(`${',   '.repeat(5000)}x`), []);
  });

  test('tags survive being listed, whatever is in them', () => {
    const tag = fc
      .tuple(fc.boolean(), fc.stringMatching(/^[\x21\x23-\x7e]{0,12}$/))
      .map(([weak, text]) => `${weak ? 'W/' : ''}"${text}"`);
    fc.assert(fc.property(fc.array(tag), (tags) => assert.deepEqual(parseEntityTags(tags.join(', ')), tags)));
  });
});
