import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Entry } from '../../src/kernel/entry.ts';
import { tag, urlId, variantKey } from '../../src/kernel/ids.ts';
import { entrySize } from '../../src/store/entry-size.ts';
import { ADMISSION, cardOf, entryOf } from '../support/entries.ts';

const CODED = { coding: 'gzip', body: new Uint8Array(10), etag: '""' } as const;
const more = (changed: Partial<Entry>): number => entrySize(entryOf('a', changed)) - entrySize(entryOf('a'));
const moreCard = (changed: Partial<typeof ADMISSION>): number =>
  entrySize(cardOf('a', { admission: { ...ADMISSION, ...changed } })) - entrySize(cardOf('a'));

describe('an entry is charged for', () => {
  const cases: readonly (readonly [what: string, difference: number, expected: number])[] = [
    ['each byte of its body', more({ body: new Uint8Array(101) }), 1],
    ['a field: two strings, two bytes a character', more({ fields: ['Content-Type', 'text/plain', 'a', 'bc'] }), 70],
    ['characters that are not Latin, no more than any', more({ fields: ['Content-Type', 'text/plai\u{20ac}'] }), 0],
    ['its variant', more({ variant: variantKey('en') }), 4],
    ['its URL', more({ url: urlId('https://a.example.com/x') }), 2],
    ['its entity tag', more({ etag: '"a"' }), 38],
    ['a coded form: its bytes, its tag and its objects', more({ coded: [CODED] }), 10 + 36 + 192],
    ['a name in Vary', more({ vary: ['accept'] }), 44],
    ['a tag', more({ tags: [...entryOf('a').tags, tag('kid:1')] }), 42],
    ["a card's name", moreCard({ facts: { ...ADMISSION.facts, name: 'Weather!' } }), 2],
    ['a warning', moreCard({ warnings: ['odd'] }), 38],
    ['a dropped member', moreCard({ verdict: { signature: 'verified', dropped: ['/x'] } }), 36],
    ["a key's id", moreCard({ verdict: { signature: 'verified', kid: 'k' } }), 34],
  ];
  for (const [what, difference, expected] of cases) test(what, () => assert.equal(difference, expected));

  test('much that is small, for the smallness', () => {
    const fields = Array.from({ length: 2_000 }, () => 'a');
    assert.ok(more({ fields }) > 2_000 * 32);
  });
});
