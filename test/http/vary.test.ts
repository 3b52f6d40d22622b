import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readerOf } from '../../src/http/fields.ts';
import { selectVariant, variantKey, varyNames } from '../../src/http/vary.ts';
import type { Fields } from '../../src/kernel/fields.ts';
import { at, dateAt, entryOf, fields } from './given.ts';

describe('varyNames', () => {
  const table: readonly (readonly [readonly string[], readonly string[]])[] = [
    [[], []],
    [[''], []],
    [['Foo'], ['foo']],
    [
      ['Foo, bar', 'BAZ,foo'],
      ['bar', 'baz', 'foo'],
    ],
    [[' , Foo ,, '], ['foo']],
    [['*'], ['*']],
    [['*, *'], ['*']],
    [['*', '*'], ['*']],
    [[', *'], ['*']],
    [['', '*'], ['*']],
    [['*, Foo'], ['*']],
    [['Foo, *'], ['*']],
    [['"*"'], ['*']],
    [['Foo Bar'], ['*']],
    [['Foo;q=1'], ['*']],
  ];
  for (const [lines, expected] of table) {
    test(JSON.stringify(lines), () => assert.deepEqual(varyNames(fields({ Vary: lines })), expected));
  }
});

describe('variantKey', () => {
  const key = (name: string, ...values: readonly string[]): string =>
    variantKey([name], readerOf(fields({ [name]: values })));

  const same: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['foo', ['1, 2'], ['1', '2']],
    ['foo', ['1,2'], [' 1, 2 ']],
    ['foo', ['1,,2'], ['1, 2']],
    ['accept-language', ['en, de'], ['de, en']],
    ['accept-language', ['en, de'], ['eN, De']],
    ['accept-language', ['en, de'], [' en ,   de']],
    ['accept-language', ['en;q=1.0, de ; q=0.50'], ['de;q=0.5, en']],
    ['accept-encoding', ['gzip, br'], ['BR,GZIP']],
    ['accept', ['text/html, application/json;q=0.9'], ['application/json;Q=0.900,text/html']],
    ['user-agent', [' x '], ['x']],
  ];
  for (const [name, one, other] of same) {
    test(`${name}: ${one.join(' | ')} = ${other.join(' | ')}`, () =>
      assert.equal(key(name, ...one), key(name, ...other)));
  }

  const different: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['foo', ['1'], ['2']],
    ['foo', [], ['']],
    ['foo', [], ['null']],
    ['foo', ['a'], ['A']],
    ['foo', ['1, 2'], ['2, 1']],
    ['foo', ['1 2'], ['12']],
    ['foo', ['"a, b"'], ['"a,b"']],
    ['foo', ['"a, b'], ['"a,b']],
    ['foo', ['a;q=1.0'], ['a']],
    ['accept-language', ['en, de;q=0.5'], ['en, de']],
    ['accept-language', ['en;q=0.5'], ['en;q=0.51']],
    ['accept', ['text/html;level="A"'], ['text/html;level="a"']],
    ['authorization', ['Bearer a,b'], ['Bearer a, b']],
    ['cookie', ['a=1, b=2'], ['a=1,b=2']],
    ['user-agent', ['x (a, b)'], ['x (a,b)']],
  ];
  for (const [name, one, other] of different) {
    test(`${name}: ${one.join(' | ')} ≠ ${other.join(' | ')}`, () =>
      assert.notEqual(key(name, ...one), key(name, ...other)));
  }

  test('the order of request fields, and fields that are not named, do not count', () => {
    const vary = ['bar', 'foo'];
    assert.equal(
      variantKey(vary, readerOf(['Foo', '1', 'Bar', '2', 'Other', '3'])),
      variantKey(vary, readerOf(['BAR', '2', 'FOO', '1', 'Other', '4'])),
    );
  });

  test('unequal selections never share a key, equal ones always do', () => {
    const value = fc.option(fc.oneof(fc.string(), fc.stringMatching(/^[a-c"\\,=: ]{0,8}$/)), { nil: undefined });
    fc.assert(
      fc.property(value, value, value, value, (a, b, c, d) => {
        const read = (one: string | undefined, other: string | undefined) => (name: string) =>
          name === 'x' ? one : other;
        const [left, right] = [variantKey(['cookie', 'x'], read(a, b)), variantKey(['cookie', 'x'], read(c, d))];
        const canonicalX = (text: string | undefined): string => variantKey(['x'], () => text);
        const equal = canonicalX(a) === canonicalX(c) && b?.trim() === d?.trim();
        assert.equal(left === right, equal);
      }),
    );
  });
});

describe('selectVariant', () => {
  const entry = (vary: string, request: Fields, date: string): ReturnType<typeof entryOf> =>
    entryOf({ fields: fields({ Vary: vary, Date: date }), request });
  const one = entry('Foo', ['Foo', '1'], dateAt(-10));
  const two = entry('Foo', ['Foo', '2'], dateAt(-5));

  test('what matches, and nothing else', () => {
    assert.equal(selectVariant([one, two], readerOf(['Foo', '1'])), one);
    assert.equal(selectVariant([one, two], readerOf(['foo', '2'])), two);
    assert.equal(selectVariant([one, two], readerOf(['foo', '3'])), undefined);
    assert.equal(selectVariant([one, two], readerOf([])), undefined);
    assert.equal(selectVariant([], readerOf([])), undefined);
  });

  test('a response stored without the field is for requests without it', () => {
    const bare = entry('Foo', [], dateAt(0));
    assert.equal(selectVariant([bare], readerOf(['Foo', '1'])), undefined);
    assert.equal(selectVariant([bare], readerOf(['Foo', ''])), undefined);
    assert.equal(selectVariant([bare], readerOf(['Bar', '1'])), bare);
  });

  test('the most recent by Date where several match', () => {
    const older = entry('Bar', ['Foo', '1'], dateAt(-20));
    assert.equal(selectVariant([older, one], readerOf(['Foo', '1'])), one);
    assert.equal(selectVariant([one, older], readerOf(['Foo', '9'])), older);
  });

  test('one that does not vary never stands in for variants, however recent', () => {
    const plain = entryOf({ fields: ['Date', dateAt(-7)], receivedAt: at(3) });
    assert.equal(selectVariant([plain], readerOf(['Foo', '1'])), plain);
    assert.equal(selectVariant([one, plain], readerOf(['Foo', '1'])), one);
    assert.equal(selectVariant([one, plain], readerOf(['Foo', '3'])), undefined);
  });

  test('* is never selected', () => {
    assert.equal(selectVariant([entry('*', ['Foo', '1'], dateAt(0))], readerOf(['Foo', '1'])), undefined);
  });
});
