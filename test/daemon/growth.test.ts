import assert from 'node:assert/strict';
import { test } from 'node:test';
import { favourMemoryWhileGrowing } from '../../src/daemon/growth.ts';
import { ms } from '../../src/kernel/units.ts';
import { FakeClock } from '../support/fake-clock.ts';

const KIB = 1024;

test('memory is favoured at the start, and while there is much and more is stored from look to look', async () => {
  const clock = new FakeClock();
  const said: boolean[] = [];
  let stored = 16 * KIB * KIB;
  const stop = favourMemoryWhileGrowing({ clock, stored: () => stored, favourMemory: (favours) => said.push(favours) });
  const after = async (more: number): Promise<readonly boolean[]> => {
    stored += more * KIB;
    await clock.advance(ms(1_000));
    return said.splice(0);
  };
  assert.deepEqual(await after(65), [true], 'from the start on');
  assert.deepEqual(await after(65), []);
  assert.deepEqual(await after(64), [false], 'a few cards are no growth');
  assert.deepEqual(await after(0), []);
  assert.deepEqual(await after(1_000), [true]);
  assert.deepEqual(await after(-1_000), [false]);
  stored = 15 * KIB * KIB;
  assert.deepEqual(await after(0), []);
  assert.deepEqual(await after(1_024), [], 'what fewer cards leave behind is little');
  assert.deepEqual(await after(65), [true]);
  stop();
  assert.deepEqual(await after(0), []);
});
