import fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes } from '../../src/kernel/units.ts';
import { type InUse, UseOrder } from '../../src/store/use-order.ts';

class One implements InUse<One> {
  readonly size;
  older: One | null = null;
  newer: One | null = null;

  constructor(size: number) {
    this.size = bytes(size);
  }
}

const step = fc.record({ do: fc.constantFrom('add', 'use', 'remove'), which: fc.nat(4) });

test('stands as in a plain list, whatever comes, is used and goes', () =>
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const order = new UseOrder<One>();
      const all = [1, 10, 100, 1_000, 10_000].map((size) => new One(size));
      let plain: One[] = [];
      for (const { do: what, which } of steps) {
        const one = all[which];
        assert.ok(one !== undefined);
        const isIn = plain.includes(one);
        const others = plain.filter((each) => each !== one);
        // Nobody is put in twice.
        if (what === 'add' && !isIn) order.add(one);
        else if (what === 'remove') order.remove(one);
        else order.use(one);
        plain = what === 'remove' ? others : isIn || what === 'add' ? [...others, one] : plain;
        assert.deepEqual(order.members(), plain);
        assert.equal(order.oldest, plain[0] ?? null);
        assert.equal(
          order.bytes,
          plain.reduce((sum, { size }) => sum + size, 0),
        );
      }
    }),
    { numRuns: 300 },
  ));

test('what has gone points to nobody', () => {
  const order = new UseOrder<One>();
  const [first, second, third] = [new One(1), new One(2), new One(3)];
  for (const one of [first, second, third]) order.add(one);
  order.remove(second);
  assert.deepEqual([second.older, second.newer], [null, null]);
  assert.deepEqual(order.members(), [first, third]);
});
