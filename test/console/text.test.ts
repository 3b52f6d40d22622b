import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createEventReader } from '../../console/sse.js';
import { headOf, piecesOf } from '../../console/text.js';

describe('what cannot be seen is named', () => {
  const cases: readonly (readonly [text: string, shown: string])[] = [
    ['', ''],
    ['plain <b>text</b>\n\tand lines', 'plain <b>text</b>\n\tand lines'],
    ['a\u202eb', 'a⟨U+202E⟩b'],
    ['a\u200bb', 'a⟨U+200B⟩b'],
    ['\u2066\u2069', '⟨U+2066 U+2069⟩'],
    ['a\u0000b\u0007', 'a⟨U+0000⟩b⟨U+0007⟩'],
    ['\ufeffa', '⟨U+FEFF⟩a'],
    ['a\u{e0041}b', 'a⟨U+E0041⟩b'],
    ['\u2028', '⟨U+2028⟩'],
    ['\ud800', '⟨U+D800⟩'],
    ['\u3164', '⟨U+3164⟩'],
    ['☀\ufe0f', '☀\ufe0f'],
    ['\u200b'.repeat(7), '⟨U+200B U+200B U+200B U+200B and 3 more⟩'],
    ['日本語 é ß', '日本語 é ß'],
  ];
  for (const [text, shown] of cases)
    test(JSON.stringify(text), () =>
      assert.equal(
        piecesOf(text)
          .map((piece) => piece.text)
          .join(''),
        shown,
      ),
    );

  test('a seen piece has nothing unseen, and all that is seen is there', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const seen = piecesOf(text).filter(({ unseen }) => !unseen);
        for (const piece of seen) assert.doesNotMatch(piece.text, /[\u202a-\u202e\u2066-\u2069\u200b-\u200f\u0000]/);
        assert.ok(seen.map((piece) => piece.text).join('').length <= text.length);
      }),
    );
  });
});

describe('the head of a text', () => {
  test('is the text where there is room', () => assert.equal(headOf('abc', 3), 'abc'));
  test('is cut where there is none', () => assert.equal(headOf('abcd', 3), 'abc'));
  test('never ends in half of a character', () => assert.equal(headOf('ab😀', 3), 'ab'));
  test('is empty where there is no room', () => assert.equal(headOf('abc', 0), ''));
  test('has few names of what is not seen, whatever the text has', () => {
    assert.equal(headOf('x\u200b'.repeat(1_000), 600).length, 57);
    assert.equal(headOf('\u200b'.repeat(1_000), 600).length, 600);
  });
  test('is a beginning of the text, and no longer than its room', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, room) => {
        const head = headOf(text, room);
        assert.ok(text.startsWith(head) && head.length <= room);
      }),
    );
  });
});

describe('events out of a stream', () => {
  test('come in whatever pieces', () => {
    const stream =
      ': cardea\n\nevent: receipt\ndata: {"agent":"weather"}\n\n: still here\n\nevent: lost\ndata: {"count":3}\n\n';
    const events = [
      { name: 'receipt', data: '{"agent":"weather"}' },
      { name: 'lost', data: '{"count":3}' },
    ];
    for (const size of [1, 2, 7, stream.length]) {
      const reader = createEventReader();
      const parts = stream.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      assert.deepEqual(
        parts.flatMap((part) => reader.read(part)),
        events,
      );
    }
  });

  test('an event that never ends is let go of', () => {
    const reader = createEventReader();
    reader.read(`data: ${'x'.repeat(1_048_577)}`);
    assert.deepEqual(reader.read('\n\nevent: lost\ndata: {}\n\n'), [{ name: 'lost', data: '{}' }]);
  });
});
