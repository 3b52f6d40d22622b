import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collectAtRest } from '../../src/daemon/rest.ts';
import { ms } from '../../src/kernel/units.ts';
import { FakeClock } from '../support/fake-clock.ts';

const MIB = 1024 ** 2;

/** A process that works so many ms in each time between two looks; says at which looks it was collected. */
async function collectedAt(works: readonly number[], { heapBytes = 20 * MIB, stopAfter = works.length } = {}) {
  const clock = new FakeClock();
  const looks: number[] = [];
  let used = 0;
  let look = 0;
  const collect = (): void => void looks.push(look);
  const stop = collectAtRest({ clock, used: () => used, heapBytes: () => heapBytes, collect });
  for (const work of works) {
    look += 1;
    used += work;
    await clock.advance(ms(2_000));
    if (look === stopAfter) stop();
  }
  return looks;
}

describe('garbage is collected once the process comes to rest after its start', () => {
  const cases: readonly (readonly [name: string, works: readonly number[], looks: readonly number[]])[] = [
    ['after its start', [900, 5, 5, 5], [2]],
    ['at once where the start was long ago', [39], [1]],
    ['not while it works', [900, 40, 900, 40], []],
    ['as soon as that is over', [900, 40, 39, 0], [3]],
    ['not again after other work', [900, 0, 0, 300, 0, 0], [2]],
  ];
  for (const [name, works, looks] of cases) test(name, async () => assert.deepEqual(await collectedAt(works), looks));

  test('a large heap is left to V8: to collect it would take long', async () => {
    assert.deepEqual(await collectedAt([900, 0], { heapBytes: 64 * MIB }), [2]);
    assert.deepEqual(await collectedAt([900, 0], { heapBytes: 64 * MIB + 1 }), []);
  });

  test('not any more once it is stopped', async () =>
    assert.deepEqual(await collectedAt([900, 900, 0, 0], { stopAfter: 2 }), []));
});
