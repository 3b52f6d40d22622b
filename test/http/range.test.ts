import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readerOf } from '../../src/http/fields.ts';
import { combineParts, contentRange, heldBytes, type Part, rangeToComplete } from '../../src/http/parts.ts';
import { answerRange, parseRange, rangeApplies } from '../../src/http/range.ts';
import type { Fields } from '../../src/kernel/fields.ts';
import { dateAt, fields } from './given.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const whole = { status: 200, fields: [], body: bytesOf('0123456789A') };
const part = (
  range: string,
  body: string,
  more: Fields = [],
): { status: number; fields: Fields; body: Uint8Array } => ({
  status: 206,
  fields: ['Content-Range', range, ...more],
  body: bytesOf(body),
});

const answer = (range: string, stored: Parameters<typeof answerRange>[1] = whole, more: Fields = []): string => {
  const found = answerRange(readerOf(['Range', range, ...more]), stored);
  switch (found.serve) {
    case 'part':
      return `${found.contentRange} ${textOf(found.body)}`;
    case 'unsatisfiable':
      return found.contentRange;
    case 'whole':
    case 'missing':
      return found.serve;
  }
};

describe('parseRange (RFC 9110 §14.2)', () => {
  test('reads what is well-formed', () => {
    assert.deepEqual(parseRange('bytes=0-1'), [{ first: 0, last: 1 }]);
    assert.deepEqual(parseRange(' BYTES=5- , -3,'), [
      { first: 5, last: null },
      { first: null, last: 3 },
    ]);
  });
  for (const text of [
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=1',
    'bytes=2-1',
    'bytes=0-1,x',
    'lines=0-1',
    'bytes 0-1',
    'bytes=1-2-3',
    'bytes=+1-2',
    'bytes= 1 - 2',
    `bytes=${'9'.repeat(16)}-`,
    `bytes=${'0-0,'.repeat(17)}`,
  ]) {
    test(`ignores ${JSON.stringify(text.slice(0, 30))}`, () => assert.equal(parseRange(text), undefined));
  }
});

describe('answerRange', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['first bytes', answer('bytes=0-1'), 'bytes 0-1/11 01'],
    ['from a place on', answer('bytes=1-'), 'bytes 1-10/11 123456789A'],
    ['last bytes', answer('bytes=-1'), 'bytes 10-10/11 A'],
    ['more than there is', answer('bytes=9-99'), 'bytes 9-10/11 9A'],
    ['a suffix longer than all', answer('bytes=-99'), 'bytes 0-10/11 0123456789A'],
    ['the last byte', answer('bytes=10-10'), 'bytes 10-10/11 A'],
    ['beyond the end', answer('bytes=11-'), 'bytes */11'],
    ['a suffix of nothing', answer('bytes=-0'), 'bytes */11'],
    ['one of two is there', answer('bytes=99-,0-0'), 'bytes 0-0/11 0'],
    ['two that touch', answer('bytes=2-3,0-1'), 'bytes 0-3/11 0123'],
    ['two that overlap', answer('bytes=0-5,3-7,4-4'), 'bytes 0-7/11 01234567'],
    ['two that do not', answer('bytes=0-1,3-4'), 'whole'],
    ['malformed', answer('bytes=x'), 'whole'],
    ['of nothing at all', answer('bytes=0-', { status: 200, fields: [], body: bytesOf('') }), 'bytes */0'],
    ['part of a part', answer('bytes=6-8', part('bytes 5-9/10', '56789')), 'bytes 6-8/10 678'],
    ['the end of a part', answer('bytes=-2', part('bytes 5-9/10', '56789')), 'bytes 8-9/10 89'],
    ['the rest of a part', answer('bytes=6-', part('bytes 5-9/10', '56789')), 'bytes 6-9/10 6789'],
    ['before a part', answer('bytes=4-6', part('bytes 5-9/10', '56789')), 'missing'],
    ['behind a part', answer('bytes=3-5', part('bytes 0-4/10', '01234')), 'missing'],
    ['beyond the end of a part', answer('bytes=10-', part('bytes 5-9/10', '56789')), 'bytes */10'],
    ['all, of a part', answer('x', part('bytes 5-9/10', '56789')), 'missing'],
    ['all, of a part that is all', answer('x', part('bytes 0-4/5', '01234')), 'whole'],
    ['a part of unknown length', answer('bytes=5-6', part('bytes 5-9/*', '56789')), 'bytes 5-6/* 56'],
    ['its unknown end', answer('bytes=6-', part('bytes 5-9/*', '56789')), 'missing'],
    ['its unknown last bytes', answer('bytes=-1', part('bytes 5-9/*', '56789')), 'missing'],
    ['a part with too many bytes', answer('bytes=5-6', part('bytes 5-9/10', '567890')), 'missing'],
    // A part with fewer bytes than it says begins where it says.
    ['of a short part', answer('bytes=6-8', part('bytes 4-9/10', '01234')), 'bytes 6-8/9 234'],
    ['the rest of a short part', answer('bytes=6-', part('bytes 4-9/10', '01234')), 'bytes 6-8/9 234'],
    ['the end of a short part', answer('bytes=-1', part('bytes 4-9/10', '01234')), 'bytes 8-8/9 4'],
    ['the end of a short part in the middle', answer('bytes=-1', part('bytes 2-7/10', '01234')), 'missing'],
  ];
  for (const [name, found, expected] of table) test(name, () => assert.equal(found, expected));

  test('If-Range that does not hold serves everything', () => {
    const tagged = { ...whole, fields: ['ETag', '"a"'] };
    assert.equal(answer('bytes=0-1', tagged, ['If-Range', '"a"']), 'bytes 0-1/11 01');
    assert.equal(answer('bytes=0-1', tagged, ['If-Range', '"b"']), 'whole');
  });

  test('is the slice of the body for every range', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 50 }), fc.nat(60), fc.nat(60), (body, one, other) => {
        const [first, last] = [Math.min(one, other), Math.max(one, other)];
        const found = answerRange(() => `bytes=${first}-${last}`, { status: 200, fields: [], body });
        // The reader answers every name, so If-Range is the same nonsense: nothing may be cut.
        assert.equal(found.serve, 'whole');
        const cut = answerRange((name) => (name === 'range' ? `bytes=${first}-${last}` : undefined), {
          status: 200,
          fields: [],
          body,
        });
        if (first >= body.length) assert.equal(cut.serve, 'unsatisfiable');
        else assert.deepEqual(cut.serve === 'part' && Array.from(cut.body), Array.from(body.slice(first, last + 1)));
      }),
    );
  });
});

describe('rangeApplies (RFC 9110 §13.1.5)', () => {
  const given = fields({ ETag: '"a"', 'Last-Modified': dateAt(-10), Date: dateAt(0) });
  const cases: readonly (readonly [string | undefined, Fields, boolean])[] = [
    [undefined, given, true],
    ['"a"', given, true],
    [' "a" ', given, true],
    ['"b"', given, false],
    ['W/"a"', fields({ ETag: 'W/"a"' }), false],
    ['"a"', fields({ ETag: 'W/"a"' }), false],
    [dateAt(-10), given, true],
    [dateAt(-9), given, false],
    [dateAt(0), fields({ 'Last-Modified': dateAt(0), Date: dateAt(0) }), false],
    ['a', fields({ ETag: 'a' }), false],
    ['', given, false],
  ];
  for (const [condition, response, expected] of cases) {
    test(`${condition} against ${JSON.stringify(response)}`, () =>
      assert.equal(rangeApplies(condition, response), expected));
  }
});

describe('parts', () => {
  test('Content-Range that says where the part stands, and nothing else', () => {
    assert.deepEqual(contentRange(['Content-Range', 'bytes 0-4/10']), { span: { first: 0, last: 4 }, complete: 10 });
    assert.deepEqual(contentRange(['Content-Range', 'Bytes 0-4/*']), { span: { first: 0, last: 4 }, complete: null });
    for (const bad of [
      '',
      'bytes */10',
      'bytes 4-0/10',
      'bytes 0-10/10',
      'bytes 0-4',
      'bytes=0-4/10',
      'bytes 0-4/10, bytes 5-9/10',
      'x 0-4/10',
    ]) {
      assert.equal(contentRange(['Content-Range', bad]), undefined, bad);
    }
    assert.equal(contentRange(['Content-Range', 'bytes 0-4/10', 'Content-Range', 'bytes 0-4/10']), undefined);
  });

  const of = (range: string, body: string, tag = '"a"'): Part => {
    const stored = part(range, body, ['ETag', tag]);
    const held = heldBytes(stored);
    assert.ok(held !== undefined);
    return { fields: stored.fields, held };
  };
  const joined = (one: Part, other: Part): string | undefined => {
    const held = combineParts(one, other);
    return held && `${held.span.first}-${held.span.last}/${held.complete} ${textOf(held.body)}`;
  };

  test('parts that touch or overlap are one', () => {
    assert.equal(joined(of('bytes 0-4/10', '01234'), of('bytes 5-9/10', '56789')), '0-9/10 0123456789');
    assert.equal(joined(of('bytes 5-9/10', '56789'), of('bytes 0-4/*', '01234')), '0-9/10 0123456789');
    assert.equal(joined(of('bytes 0-6/10', '0123456'), of('bytes 5-9/10', '56789')), '0-9/10 0123456789');
    assert.equal(joined(of('bytes 0-9/10', '0123456789'), of('bytes 3-4/10', '34')), '0-9/10 0123456789');
  });

  test('parts of something else, or with a gap, are not', () => {
    const one = of('bytes 0-4/10', '01234');
    assert.equal(joined(one, of('bytes 6-9/10', '6789')), undefined);
    assert.equal(joined(one, of('bytes 5-9/10', '56789', '"b"')), undefined);
    assert.equal(joined(one, of('bytes 5-9/11', '56789')), undefined);
    assert.equal(joined(of('bytes 0-4/10', '01234', 'W/"a"'), of('bytes 5-9/10', '56789', 'W/"a"')), undefined);
    assert.equal(joined(of('bytes 0-4/10', '01234', 'x'), of('bytes 5-9/10', '56789', 'x')), undefined);
    assert.equal(joined(one, of('bytes 5-9/10', '567')), undefined);
  });

  test('a beginning can be completed', () => {
    const missing = (range: string, body: string): string | undefined => rangeToComplete(of(range, body).held);
    assert.equal(missing('bytes 0-4/10', '01234'), 'bytes=5-');
    assert.equal(missing('bytes 0-9/10', '0123456789'), undefined);
    assert.equal(missing('bytes 5-9/10', '56789'), undefined);
    assert.equal(missing('bytes 0-4/*', '01234'), undefined);
  });
});
