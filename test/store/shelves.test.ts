import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { variantKey } from '../../src/kernel/ids.ts';
import { bytes } from '../../src/kernel/units.ts';
import { createPack } from '../../src/store/packed.ts';
import { MOST_OPEN, Shelves } from '../../src/store/shelves.ts';
import { cardOf, entryKey } from '../support/entries.ts';

const pack = createPack();
const stored = (name: string, variant = '') => pack(cardOf(name, { variant: variantKey(variant) }), bytes(1));

describe('what is on a shelf', () => {
  test('is the same object for all that ask lately, and another one after many others', () => {
    const shelves = new Shelves();
    for (let at = 0; at <= MOST_OPEN; at += 1) shelves.set(entryKey(`a${at}`), [stored(`a${at}`)]);
    const first = shelves.open(entryKey('a0'));
    for (let at = 1; at < MOST_OPEN; at += 1) shelves.open(entryKey(`a${at}`));
    assert.equal(shelves.open(entryKey('a0')), first);
    shelves.open(entryKey(`a${MOST_OPEN}`));
    assert.notEqual(shelves.open(entryKey('a0'))[0], first[0]);
    assert.deepEqual(shelves.open(entryKey('a0')), first);
  });

  test('stays the same object when another variant comes or goes', () => {
    const shelves = new Shelves();
    const [one, other] = [stored('a', 'x'), stored('a', 'y')];
    shelves.set(entryKey('a'), [one]);
    const [opened] = shelves.open(entryKey('a'));
    shelves.set(entryKey('a'), [other, one]);
    assert.equal(shelves.open(entryKey('a'))[1], opened);
    shelves.set(entryKey('a'), [one]);
    assert.equal(shelves.open(entryKey('a'))[0], opened);
  });

  test('is not there when all of it has gone', () => {
    const shelves = new Shelves();
    shelves.set(entryKey('a'), [stored('a')]);
    shelves.open(entryKey('a'));
    shelves.set(entryKey('a'), []);
    assert.deepEqual(shelves.open(entryKey('a')), []);
    assert.deepEqual(shelves.all(), []);
  });
});
