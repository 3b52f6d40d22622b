import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collectAtRest } from '../../src/daemon/rest.ts';
import { ms } from '../../src/kernel/units.ts';
import { FakeClock } from '../support/fake-clock.ts';

const MIB = 1024 ** 2;

/** A process that works so many ms in each time between two looks; says at which looks it was collected, and its young generation alone. */
async function collectedAt(
  works: readonly number[],
  { heapBytes = 20 * MIB, youngBytes = 32 * MIB, stopAfter = works.length } = {},
) {
  const clock = new FakeClock();
  const all: number[] = [];
  const young: number[] = [];
  let used = 0;
  let look = 0;
  let room = youngBytes;
  const shrink = (looks: number[]) => (): void => {
    looks.push(look);
    room = MIB;
  };
  const stop = collectAtRest({
    clock,
    used: () => used,
    heapBytes: () => heapBytes,
    collect: shrink(all),
    youngBytes: () => room,
    collectYoung: shrink(young),
  });
  for (const work of works) {
    look += 1;
    used += work;
    // Work makes room for itself.
    if (work >= 100) room = youngBytes;
    await clock.advance(ms(2_000));
    if (look === stopAfter) stop();
  }
  return { all, young };
}

describe('garbage is collected when the process comes to rest', () => {
  const cases: readonly (readonly [name: string, works: readonly number[], all: number[], young: number[]])[] = [
    ['all of it after the start', [900, 5, 5, 5], [2], []],
    ['at once where the start was long ago', [39], [1], []],
    ['nothing while it works', [900, 40, 900, 40], [], []],
    ['as soon as that is over', [900, 40, 39, 0], [3], []],
    ['the young generation alone after later work', [900, 0, 0, 300, 0, 0, 500, 0], [2], [5, 8]],
    ['the young generation alone where it never rested after its start', [900, 900, 900, 900, 900, 0, 0], [], [6]],
    ['all of it where the start took as long as a start may', [900, 900, 900, 900, 0], [5], []],
  ];
  for (const [name, works, all, young] of cases)
    test(name, async () => assert.deepEqual(await collectedAt(works), { all, young }));

  test('a large heap is left to V8: to collect it would take long', async () => {
    assert.deepEqual((await collectedAt([900, 0], { heapBytes: 64 * MIB })).all, [2]);
    assert.deepEqual(await collectedAt([900, 0], { heapBytes: 64 * MIB + 1 }), { all: [], young: [2] });
  });

  test('a small young generation is left as it is', async () => {
    assert.deepEqual(await collectedAt([900, 0, 300, 0], { youngBytes: 4 * MIB }), { all: [2], young: [] });
  });

  test('not any more once it is stopped', async () =>
    assert.deepEqual(await collectedAt([900, 900, 0, 0], { stopAfter: 2 }), { all: [], young: [] }));
});
