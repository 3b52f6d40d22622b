import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Place, Row } from '../../src/listen/row.ts';

describe('a row', () => {
  test('stands in the order in which its members came, whoever left', () => {
    const steps = fc.array(fc.oneof(fc.constant('come' as const), fc.nat({ max: 40 })), { maxLength: 80 });
    fc.assert(
      fc.property(steps, (all) => {
        const row = new Row<{ readonly id: number }>();
        const places: Place<{ readonly id: number }>[] = [];
        const left = new Set<number>();
        for (const step of all) {
          const id = step === 'come' ? places.length : step % Math.max(1, places.length);
          const place = places[id];
          if (place === undefined) {
            places.push(row.add({ id }));
          } else {
            // Who has left already leaves again.
            row.remove(place);
            left.add(id);
          }
          const there = [...places.keys()].filter((each) => !left.has(each)).map((each) => ({ id: each }));
          assert.deepEqual(row.members(), there);
          assert.deepEqual(row.first?.member, there[0]);
        }
      }),
    );
  });

  test('who has left holds nobody', () => {
    const row = new Row<{ readonly name: string }>();
    const places = ['a', 'b', 'c'].map((name) => row.add({ name }));
    for (const place of places) row.remove(place);
    for (const place of places)
      assert.deepEqual({ ...place }, { member: undefined, before: undefined, behind: undefined });
  });
});
