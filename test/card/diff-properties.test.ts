import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { diffCards } from '../../src/card/diff/diff.ts';
import { meaningOf, textOf } from '../../src/card/diff/meaning.ts';
import type { JsonObject } from '../../src/card/json.ts';
import { isObject, without } from '../../src/card/json.ts';
import { normaliseCard } from '../../src/card/normalise.ts';
import { scanJson } from '../../src/card/scan.ts';
import { CARD_1_0 } from '../../src/card/schema/a2a-1.0.ts';
import { KNOWN_VERSIONS, recogniseVersion } from '../../src/card/version.ts';
import { sharedPath } from '../support/shared.ts';
import { applyChanges } from './apply-changes.ts';
import { anyCard } from './card-arbitrary.ts';

const saying = (card: JsonObject): string =>
  textOf(meaningOf(without(card, 'signatures'), { is: 'message', of: CARD_1_0 }));

describe('a diff', () => {
  test('is empty exactly where two cards mean the same', () => {
    fc.assert(
      fc.property(anyCard, anyCard, (one, other) => {
        assert.equal(diffCards(one, other).length === 0, saying(one) === saying(other));
        assert.deepEqual(diffCards(one, one), []);
      }),
      { numRuns: 150 },
    );
  });
  test('applied to the card before gives the card after', () => {
    fc.assert(
      fc.property(anyCard, anyCard, (one, other) => {
        assert.equal(saying(applyChanges(without(one, 'signatures'), diffCards(one, other))), saying(other));
      }),
      { numRuns: 250 },
    );
  });
  test('does not see the order of what has none, nor empty members', () => {
    fc.assert(
      fc.property(anyCard, (card) => {
        assert.deepEqual(diffCards(card, shuffled(card)), []);
      }),
      { numRuns: 100 },
    );
  });
});

/** Members, skills and extensions the other way round; an empty member more. */
function shuffled(card: JsonObject): JsonObject {
  const turned = Object.entries(card)
    .toReversed()
    .map(([name, one]) => [name, name === 'skills' && Array.isArray(one) ? one.toReversed() : one]);
  return { iconUrl: '', ...Object.fromEntries(turned.filter(([name]) => name !== '__proto__')), ...proto(card) };
}

/** A name that assignment would lose. */
const proto = (card: JsonObject): JsonObject =>
  Object.hasOwn(card, '__proto__')
    ? (JSON.parse(`{"__proto__":${JSON.stringify(card['__proto__'])}}`) as JsonObject)
    : {};

const folder = sharedPath('cards');

describe('published cards, each with each', {
  skip: folder === undefined ? 'the cards are not on this machine' : false,
}, () => {
  const cards = (folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith('.json'))).flatMap(
    (name) => {
      const scanned = scanJson(readFileSync(`${folder}/${name}`, 'utf8'), 64);
      return scanned.ok && isObject(scanned.value) ? [{ name, card: viewOf(scanned.value) }] : [];
    },
  );
  test('are compared without an error, and applying a diff gives the other', () => {
    assert.ok(cards.length > 25, `${cards.length} cards`);
    for (const one of cards)
      for (const other of cards) {
        const changes = diffCards(one.card, other.card);
        assert.equal(
          changes.length === 0,
          one === other || saying(one.card) === saying(other.card),
          `${one.name} ${other.name}`,
        );
        const made = applyChanges(without(one.card, 'signatures'), changes);
        assert.equal(saying(made), saying(other.card), `${one.name} ${other.name}`);
      }
  });
});

function viewOf(card: JsonObject): JsonObject {
  const version = recogniseVersion(card, { versions: KNOWN_VERSIONS });
  return normaliseCard(card, version.ok ? version.value : '1.0').card;
}
