import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fieldLines, fieldPairs, fieldValue, readerOf, withField, withoutFields } from '../../src/http/fields.ts';
import { endToEnd } from '../../src/kernel/end-to-end.ts';

const FIELDS = ['Vary', 'a', 'X-One', '1', 'vary', 'b', 'VARY', ''];

describe('fields', () => {
  test('lines are found in any case, in order', () => {
    assert.deepEqual(fieldLines(FIELDS, 'vArY'), ['a', 'b', '']);
    assert.deepEqual(fieldLines(FIELDS, 'var'), []);
    assert.deepEqual(fieldLines(FIELDS, 'varyy'), []);
  });

  test('a value is all lines combined; an empty one is not a missing one', () => {
    assert.equal(fieldValue(FIELDS, 'vary'), 'a, b, ');
    assert.equal(fieldValue(['A', ''], 'a'), '');
    assert.equal(fieldValue(FIELDS, 'x-two'), undefined);
    assert.equal(readerOf(FIELDS)('x-one'), '1');
  });

  test('one line replaces all of its name, and the others keep their order', () => {
    assert.deepEqual(withField(FIELDS, 'Vary', 'c'), ['X-One', '1', 'Vary', 'c']);
    assert.deepEqual(withoutFields(FIELDS, new Set(['x-one'])), ['Vary', 'a', 'vary', 'b', 'VARY', '']);
  });

  test('a name without a value is no field', () => {
    assert.deepEqual([...fieldPairs(['a', '1', 'b'])], [['a', '1']]);
    assert.equal(fieldValue(['a', '1', 'b'], 'b'), undefined);
  });
});

describe('end-to-end fields (RFC 9110 §7.6.1)', () => {
  const kept = (given: readonly string[]): readonly string[] => [...fieldPairs(endToEnd(given))].map(([name]) => name);

  for (const name of [
    'Connection',
    'Keep-Alive',
    'Proxy-Authenticate',
    'Proxy-Authentication-Info',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
  ]) {
    test(`${name} goes no further`, () => assert.deepEqual(kept([name, 'x', 'C', '3']), ['C']));
  }

  test('what Connection lists goes no further, on any of its lines and in any case', () => {
    assert.deepEqual(kept(['Connection', 'a, B', 'A', '1', 'b', '2', 'connection', ' ,c,', 'C', '3', 'd', '4']), ['d']);
  });

  test('Connection cannot switch off what is meant for every cache', () => {
    const given = [
      'Connection',
      'cache-control, vary, age, etag',
      'Cache-Control',
      'no-store',
      'Vary',
      '*',
      'ETag',
      '"x"',
    ];
    assert.deepEqual(kept(given), ['Cache-Control', 'Vary']);
  });

  test('everything else stays as it is, duplicates too', () => {
    const given = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Odd', ''];
    assert.deepEqual(endToEnd(given), given);
  });
});
