import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Place, Row } from '../../src/listen/row.ts';

describe('a row', () => {
  test('stands in the order in which its members came, whoever left', () => {
    const steps = fc.array(fc.oneof(fc.constant('come' as const), fc.nat({ max: 40 })), { maxLength: 80 });
    fc.assert(
      fc.property(steps, (all) => {
        const row = new Row<number>();
        const places: Place<number>[] = [];
        let left: readonly number[] = [];
        for (const step of all) {
          const place = step === 'come' ? undefined : places[step % Math.max(1, places.length)];
          // Who has left already leaves again.
          if (place !== undefined) row.remove(place);
          if (place !== undefined) left = [...left, place.member];
          if (step === 'come') places.push(row.add(places.length));
          const there = places.map(({ member }) => member).filter((member) => !left.includes(member));
          assert.deepEqual(row.members(), there);
          assert.equal(row.first?.member, there[0]);
        }
      }),
    );
  });

  test('who has left holds nobody', () => {
    const row = new Row<string>();
    const places = ['a', 'b', 'c'].map((name) => row.add(name));
    for (const place of places) row.remove(place);
    for (const { before, behind } of places) assert.deepEqual([before, behind], [undefined, undefined]);
  });
});
