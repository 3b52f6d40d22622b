import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseDictionary, parseItem, parseList, structuredString } from '../../src/http/structured.ts';

describe('structured fields (RFC 9651)', () => {
  const items: readonly (readonly [string, unknown])[] = [
    ['42', { type: 'integer', value: 42 }],
    ['-0', { type: 'integer', value: -0 }],
    ['999999999999999', { type: 'integer', value: 999_999_999_999_999 }],
    ['1.5', { type: 'decimal', value: 1.5 }],
    ['"a \\"b\\" \\\\"', { type: 'string', value: 'a "b" \\' }],
    ['""', { type: 'string', value: '' }],
    ['*foo/bar:baz', { type: 'token', value: '*foo/bar:baz' }],
    [':aGk=:', { type: 'bytes', base64: 'aGk=' }],
    ['?1', { type: 'boolean', value: true }],
    ['?0', { type: 'boolean', value: false }],
    ['@1659578233', { type: 'date', seconds: 1_659_578_233 }],
    ['%"f%c3%bc"', { type: 'display', value: 'fü' }],
    ['  7  ', { type: 'integer', value: 7 }],
  ];
  for (const [text, expected] of items) {
    test(`${text} is an item`, () => assert.deepEqual(parseItem(text)?.item, expected));
  }

  for (const text of [
    '',
    '1000000000000000',
    '1.',
    '1.2345',
    '1234567890123.1',
    '-',
    '--1',
    '"a',
    '"a\\x"',
    '"\u00e9"',
    '?2',
    '@1.5',
    '@',
    ':a b:',
    '%"%FF"',
    '%"%zz"',
    '%"%ff"',
    "'a'",
    '1 2',
    '1,',
    '\t1',
    '7;',
    '7;A=1',
    '7; a=',
  ]) {
    test(`${JSON.stringify(text)} is none`, () => assert.equal(parseItem(text), undefined));
  }

  test('parameters: booleans, values, and the last of duplicates', () => {
    assert.deepEqual(
      [...(parseItem('a; b;c=2; c=3')?.parameters ?? [])],
      [
        ['b', { type: 'boolean', value: true }],
        ['c', { type: 'integer', value: 3 }],
      ],
    );
  });

  test('lists', () => {
    assert.equal(parseList('a, b\t,\tc')?.length, 3);
    assert.deepEqual(parseList(''), []);
    assert.equal(parseList('(a b);x, "c, d"')?.length, 2);
    for (const bad of ['a,', ',a', 'a,,b', 'a b', '(a', '(a,b)', '(a"b")', 'a;'])
      assert.equal(parseList(bad), undefined, bad);
  });

  test('dictionaries', () => {
    const members = parseDictionary('a, b=1;x, c=(1 2), a=?0');
    assert.deepEqual([...(members?.keys() ?? [])], ['a', 'b', 'c']);
    assert.deepEqual(members?.get('a'), { item: { type: 'boolean', value: false }, parameters: new Map() });
    assert.equal(parseDictionary('')?.size, 0);
    for (const bad of ['A=1', 'a =1', 'a= 1', 'a=1,', '&', 'a=1 b=2', '1=a'])
      assert.equal(parseDictionary(bad), undefined, bad);
  });

  test('hostile keys are keys like any other, or none', () => {
    assert.equal(parseDictionary('__proto__=1'), undefined);
    assert.deepEqual([...(parseDictionary('constructor=2')?.keys() ?? [])], ['constructor']);
  });

  test('no text makes a parser throw', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[a-z0-9=,;"()?@%:\\ ]*$/));
    fc.assert(
      fc.property(text, (value) => {
        parseItem(value);
        parseList(value);
        parseDictionary(value);
      }),
    );
  });

  test('a serialised string is one item that reads back; what it cannot hold becomes a question mark', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const expected = value.replace(/[^\x20-\x7e]/g, '?');
        assert.deepEqual(parseItem(structuredString(value))?.item, { type: 'string', value: expected });
      }),
    );
    assert.equal(structuredString('a"\\\r\nb'), '"a\\"\\\\??b"');
  });
});
