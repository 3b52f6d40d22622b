import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createFileWatch } from '../../src/store/file-watch.ts';
import type { Clock } from '../../src/ports.ts';
import { epochMs } from '../../src/kernel/units.ts';

const home = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-watch-'));
after(() => fs.rmSync(home, { recursive: true }));

/** Time in which one thing at a time is planned, and happens when the test says so. */
class OnePlan implements Clock {
  planned: { readonly delay: number; readonly run: () => void } | undefined;
  now = () => epochMs(0);
  random = () => 0;
  turn = () => Promise.resolve();
  after(delay: number, run: () => void): () => void {
    const plan = (this.planned = { delay, run });
    return () => {
      if (this.planned === plan) this.planned = undefined;
    };
  }
  /** Runs what is planned, and waits until something is planned again. */
  async step(): Promise<void> {
    const plan = this.planned;
    this.planned = undefined;
    plan?.run();
    while (this.planned === undefined) await turn();
  }
}

/** A folder with one file, a watch of it, and what it told. */
function watched(files: readonly string[] = ['a']) {
  const folder = fs.mkdtempSync(path.join(home, 'w-'));
  const at = (name: string): string => path.join(folder, name);
  const write = (name: string, text: string): void => fs.writeFileSync(at(name), text);
  write('a', 'one');
  const clock = new OnePlan();
  const watch = createFileWatch(clock);
  const told: string[] = [];
  const end = watch.watch(files.map(at), (changed) => told.push(...changed.map((file) => path.basename(file))));
  const look = (): Promise<void> => clock.step();
  /** Looks until nothing can be unsettled any more. */
  const settle = async (): Promise<void> => {
    for (let looks = 0; looks < 3; looks += 1) await look();
  };
  return { at, write, clock, watch, told, end, look, settle };
}

describe('a change is told of once', () => {
  const changes: readonly (readonly [name: string, change: (at: (name: string) => string) => void])[] = [
    ['edited in place, its length the same', (at) => fs.writeFileSync(at('a'), 'two')],
    ['renamed over', (at) => (fs.writeFileSync(at('b'), 'one'), fs.renameSync(at('b'), at('a')))],
    ['taken away', (at) => fs.rmSync(at('a'))],
    ['made unreadable', (at) => fs.chmodSync(at('a'), 0)],
  ];
  for (const [name, change] of changes) {
    test(name, async () => {
      const world = watched();
      await world.settle();
      assert.deepEqual(world.told, []);
      change(world.at);
      await world.settle();
      assert.deepEqual(world.told, ['a']);
      world.watch.stop();
    });
  }

  test('put where there was not even a folder', async () => {
    const world = watched(['a', 'below/b']);
    fs.mkdirSync(world.at('below'));
    await world.settle();
    assert.deepEqual(world.told, []);
    world.write('below/b', 'new');
    await world.settle();
    assert.deepEqual(world.told, ['b']);
    world.watch.stop();
  });

  test('the swap of a `..data` link, for every file behind it', async () => {
    const world = watched(['config.yaml', 'keys.json']);
    for (const version of ['..v1', '..v2']) {
      fs.mkdirSync(world.at(version));
      for (const file of ['config.yaml', 'keys.json']) world.write(`${version}/${file}`, 'same');
    }
    fs.symlinkSync('..v1', world.at('..data'));
    for (const file of ['config.yaml', 'keys.json']) fs.symlinkSync(`..data/${file}`, world.at(file));
    await world.settle();
    world.told.length = 0;
    fs.symlinkSync('..v2', world.at('..data_tmp'));
    fs.renameSync(world.at('..data_tmp'), world.at('..data'));
    fs.rmSync(world.at('..v1'), { recursive: true });
    await world.settle();
    assert.deepEqual(world.told, ['config.yaml', 'keys.json']);
    world.watch.stop();
  });
});

describe('what is still being written', () => {
  test('is told of when it has been the same for two looks', async () => {
    const world = watched();
    for (const text of ['2', '22', '222']) {
      world.write('a', text);
      await world.look();
      assert.deepEqual(world.told, []);
    }
    await world.look();
    assert.deepEqual(world.told, ['a']);
    world.watch.stop();
  });

  test('and what is as it was in the end is no change', async () => {
    const world = watched();
    const { atime, mtime } = fs.statSync(world.at('a'));
    fs.renameSync(world.at('a'), world.at('away'));
    await world.look();
    fs.renameSync(world.at('away'), world.at('a'));
    fs.utimesSync(world.at('a'), atime, mtime);
    await world.settle();
    assert.ok(world.told.length <= 1); // the time of a rename shows on some file systems
    world.watch.stop();
  });
});

test('a hint of the kernel makes the look sooner', async () => {
  const world = watched();
  await world.settle();
  while (world.clock.planned?.delay !== 2_000) await world.look();
  world.write('a', 'two');
  while (world.clock.planned?.delay === 2_000) await turn();
  assert.equal(world.clock.planned?.delay, 200);
  world.watch.stop();
});

test('two watches of one file are both told, and one that has ended is not', async () => {
  const world = watched();
  const others: string[] = [];
  world.watch.watch([world.at('a'), world.at('b')], (changed) => others.push(...changed));
  world.write('a', 'two');
  await world.settle();
  world.end();
  world.write('a', 'three');
  world.write('b', 'new');
  await world.settle();
  assert.deepEqual(world.told, ['a']);
  assert.deepEqual(others, [world.at('a'), world.at('a'), world.at('b')]);
  world.watch.stop();
  assert.equal(world.clock.planned, undefined);
});
