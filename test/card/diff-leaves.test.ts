import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { diffCards } from '../../src/card/diff/diff.ts';
import { type Json, type JsonObject, isArray, isObject, without } from '../../src/card/json.ts';
import { anyCard } from './card-arbitrary.ts';

/** What differs, said without the program's own notion of what a card means. */

/** The paths of every text that says something. */
function textsIn(value: Json, at: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value === 'string') return value === '' ? [] : [at];
  if (isArray(value)) return value.flatMap((item, index) => textsIn(item, [...at, String(index)]));
  return isObject(value) ? Object.entries(value).flatMap(([name, inside]) => textsIn(inside, [...at, name])) : [];
}

/** The same with one text longer. */
function lengthened(value: Json, [first, ...rest]: readonly string[]): Json {
  if (typeof value === 'string') return `${value} \u{1f9ea}`;
  if (isArray(value)) return value.map((item, index) => (String(index) === first ? lengthened(item, rest) : item));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [name, name === first ? lengthened(inside, rest) : inside]),
  );
}

describe('a diff', () => {
  test('sees every single text that changes, wherever it stands', () => {
    fc.assert(
      fc.property(anyCard, fc.nat(), (given, at) => {
        const card = without(given, 'signatures');
        const texts = textsIn(card);
        const chosen = texts[at % Math.max(1, texts.length)];
        fc.pre(chosen !== undefined);
        const changed = lengthened(card, chosen) as JsonObject;
        assert.notEqual(diffCards(card, changed).length, 0, chosen.join('/'));
      }),
      { numRuns: 200 },
    );
  });
  test('sees every member that nobody knows, and counts it once', () => {
    fc.assert(
      fc.property(anyCard, (card) => {
        const more = { ...without(card, 'signatures'), 'x-nobody': { knows: ['this'] } };
        assert.deepEqual(
          diffCards(without(card, 'signatures'), more).map((change) => change.class),
          ['extension'],
        );
      }),
      { numRuns: 50 },
    );
  });
  const absent: readonly (readonly [string, JsonObject])[] = [
    ['an empty text', { iconUrl: '' }],
    ['a false switch', { capabilities: { streaming: false } }],
    ['an empty list of words', { defaultInputModes: [] }],
    ['an empty list of skills', { skills: [] }],
    ['an empty object', { capabilities: {} }],
    ['null', { provider: null }],
  ];
  for (const [what, card] of absent)
    test(`takes ${what} for nothing`, () => {
      assert.deepEqual(diffCards({}, card), []);
      assert.deepEqual(diffCards(card, {}), []);
    });
  test('takes a true switch for something', () => {
    assert.equal(diffCards({}, { capabilities: { streaming: true } }).length, 1);
  });
});
