import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { foldRuns, markWords } from '../../console/words.js';
import { markWords as markInTerminal } from '../../src/cli/word-marks.ts';

interface Run {
  readonly text: string;
  readonly marked: boolean;
}

/** Marked words in brackets. */
const shown = (runs: readonly Run[]): string => runs.map(({ text, marked }) => (marked ? `[${text}]` : text)).join('');
const joined = (runs: readonly Run[]): string => runs.map(({ text }) => text).join('');

describe('words that differ are marked', () => {
  const cases: readonly (readonly [before: string, after: string, old: string, now: string])[] = [
    ['', '', '', ''],
    ['a b', 'a b', 'a b', 'a b'],
    ['a b', 'a c', 'a [b]', 'a [c]'],
    ['a place.', 'a place and more.', 'a [place.]', 'a [place and more.]'],
    ['b', 'a b c', 'b', '[a ]b[ c]'],
    ['a a', 'a a a', 'a a', 'a a[ a]'],
    ['one\ntwo', 'one\nthree', 'one\n[two]', 'one\n[three]'],
    ['x', '', '[x]', ''],
  ];
  for (const [before, after, old, now] of cases)
    test(`${before} → ${after}`, () => assert.deepEqual(markWords(before, after).map(shown), [old, now]));

  const text = fc
    .array(fc.constantFrom('a', 'b', 'send', 'mail', ' ', '\n', '\u202e', 'é'), { maxLength: 40 })
    .map((parts) => parts.join(''));

  test('nothing is lost and nothing is added', () => {
    fc.assert(
      fc.property(text, text, (before, after) =>
        assert.deepEqual(markWords(before, after).map(joined), [before, after]),
      ),
    );
  });

  test('what is not marked is the same on both sides', () => {
    const same = (runs: readonly Run[]): string => joined(runs.filter(({ marked }) => !marked));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [old, now] = markWords(before, after);
        assert.equal(same(old), same(now));
      }),
    );
  });

  test('the words are those that the terminal marks', () => {
    const words = (parts: readonly Run[]): readonly string[] =>
      parts.filter(({ marked }) => marked).flatMap((each) => each.text.match(/\S+/g) ?? []);
    fc.assert(
      fc.property(text, text, (before, after) =>
        assert.deepEqual(markWords(before, after).map(words), markInTerminal(before, after).map(words)),
      ),
    );
  });

  test('a mebibyte is compared, marked whole where comparing word by word would take minutes', () => {
    const long = 'word '.repeat(200_000);
    const [old, now] = markWords(`${long}end`, `${long}other end`);
    assert.deepEqual([old.length, now.filter(({ marked }) => marked).map((each) => each.text)], [1, ['other ']]);
    const [one] = markWords('a b '.repeat(200_000), 'c d '.repeat(200_000));
    assert.ok(one.some(({ marked }) => marked));
  });
});

describe('long stretches that are the same are folded', () => {
  const same = (length: number): Run => ({ text: 'x'.repeat(length), marked: false });
  const other: Run = { text: 'y', marked: true };

  test('between two marks their neighbourhood stays', () => {
    const lengths = foldRuns([other, same(481), other]).map(({ text, folded }) => [text.length, folded === true]);
    assert.deepEqual(lengths, [
      [1, false],
      [160, false],
      [161, true],
      [160, false],
      [1, false],
    ]);
  });
  test('a short one stays whole', () => assert.equal(foldRuns([other, same(480), other]).length, 3));
  test('at the beginning only its end stays', () => {
    assert.deepEqual(
      foldRuns([same(1_000), other]).map(({ text }) => text.length),
      [840, 160, 1],
    );
  });
  test('what differs is never folded', () => {
    const long = { text: 'y'.repeat(10_000), marked: true };
    assert.deepEqual(foldRuns([same(10), long]), [same(10), long]);
  });
  test('a text without any mark stays whole', () => assert.deepEqual(foldRuns([same(10_000)]), [same(10_000)]));
});
