import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { chooseCoding, parseAcceptEncoding, selectCoding } from '../../src/http/codings.ts';
import type { CodedBody } from '../../src/kernel/entry.ts';

const BOTH = ['br', 'gzip'] as const;

describe('which coding a client is served', () => {
  /** The field, what is chosen where br and gzip are at hand, and where neither is. */
  const cases: readonly (readonly [string | undefined, string | undefined, string | undefined])[] = [
    [undefined, 'identity', 'identity'],
    ['', 'identity', 'identity'],
    [' ', 'identity', 'identity'],
    ['gzip', 'gzip', 'identity'],
    ['GZip', 'gzip', 'identity'],
    ['x-gzip', 'gzip', 'identity'],
    ['br', 'br', 'identity'],
    ['gzip, deflate, br, zstd', 'br', 'identity'],
    ['gzip,br', 'br', 'identity'],
    ['br;q=0.5, gzip', 'gzip', 'identity'],
    ['br;q=0.999, gzip;q=1.000', 'gzip', 'identity'],
    ['br;q=0.001', 'br', 'identity'],
    ['br;q=0', 'identity', 'identity'],
    ['br;q=0.000, gzip', 'gzip', 'identity'],
    ['gzip ; q=0.5 , br ;Q=0.6', 'br', 'identity'],
    ['deflate', 'identity', 'identity'],
    ['identity', 'identity', 'identity'],
    ['identity, gzip', 'gzip', 'identity'],
    ['identity;q=0.5, gzip;q=0.4', 'identity', 'identity'],
    ['identity;q=0.4, gzip;q=0.5', 'gzip', 'identity'],
    ['identity;q=0', undefined, undefined],
    ['identity;q=0, gzip', 'gzip', undefined],
    ['identity;q=0, gzip;q=0', undefined, undefined],
    ['identity;q=0, *', 'br', undefined],
    ['identity;q=0, *;q=0.1', 'br', undefined],
    ['*', 'br', 'identity'],
    ['*;q=0.5', 'br', 'identity'],
    ['*;q=0', undefined, undefined],
    ['*;q=0, identity', 'identity', 'identity'],
    ['*;q=0, identity;q=0.1', 'identity', 'identity'],
    ['*;q=0, gzip', 'gzip', undefined],
    ['br;q=0, *', 'gzip', 'identity'],
    ['gzip;q=0.5, *;q=0.1', 'gzip', 'identity'],
    ['gzip;q=0.1, *;q=0.5', 'br', 'identity'],
    // The first of two counts, and what is malformed says nothing.
    ['gzip;q=0, gzip', 'identity', 'identity'],
    ['gzip;q=2', 'identity', 'identity'],
    ['gzip;q=1.001', 'identity', 'identity'],
    ['gzip;q=0.0001', 'identity', 'identity'],
    ['gzip;q=-1', 'identity', 'identity'],
    ['gzip;level=1', 'identity', 'identity'],
    ['gz ip', 'identity', 'identity'],
    ['"gzip"', 'identity', 'identity'],
    ['"gzip, br', 'identity', 'identity'],
    [',,gzip,,', 'gzip', 'identity'],
    ['gzip br', 'identity', 'identity'],
  ];
  for (const [field, coded, plain] of cases)
    test(field === undefined ? 'no field' : JSON.stringify(field), () => {
      assert.equal(chooseCoding(field, BOTH), coded);
      assert.equal(chooseCoding(field, []), plain);
    });

  test('of equals the one that is named first by the server', () => {
    assert.equal(chooseCoding('gzip, br', ['gzip', 'br']), 'gzip');
    assert.equal(chooseCoding('gzip, br', ['br', 'gzip']), 'br');
  });
});

test('parsing never throws, and no weight leaves its bounds', () => {
  const piece = fc.constantFrom(
    'gzip',
    'br',
    '*',
    'identity',
    ';q=',
    '0',
    '1',
    '.5',
    ',',
    ' ',
    '"',
    '\\',
    ';',
    '\t',
    'é',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
      for (const weight of parseAcceptEncoding(pieces.join('')).values()) assert.ok(weight >= 0 && weight <= 1);
    }),
  );
});

test('what is chosen is never what the client excludes', () => {
  const weight = fc.constantFrom('', ';q=0', ';q=0.3', ';q=0.7', ';q=1');
  const member = fc.tuple(fc.constantFrom('gzip', 'br', 'identity', '*', 'zstd'), weight);
  const members = fc.uniqueArray(member, { selector: ([name]) => name, maxLength: 5 });
  fc.assert(
    fc.property(members, fc.subarray([...BOTH]), (listed, atHand) => {
      const chosen = chooseCoding(listed.map((pair) => pair.join('')).join(', '), atHand);
      if (chosen === undefined) return;
      const own = listed.find(([name]) => name === chosen) ?? listed.find(([name]) => name === '*');
      assert.notEqual(own?.[1], ';q=0');
      if (chosen !== 'identity') assert.ok(atHand.includes(chosen) && own !== undefined);
    }),
  );
});

test('a chosen form comes with its own tag', () => {
  const coded: readonly CodedBody[] = [{ coding: 'gzip', body: new Uint8Array(3), etag: '"gzip"' }];
  const entry = { body: new Uint8Array(9), etag: '"plain"', coded };
  assert.deepEqual(selectCoding(entry, 'gzip'), coded[0]);
  assert.deepEqual(selectCoding(entry, 'br'), { coding: 'identity', body: entry.body, etag: '"plain"' });
  assert.deepEqual(selectCoding({ body: entry.body, etag: null }, 'gzip')?.coding, 'identity');
  assert.equal(selectCoding(entry, 'br, identity;q=0'), undefined);
});
