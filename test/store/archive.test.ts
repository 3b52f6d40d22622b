import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../src/kernel/event.ts';
import { tag } from '../../src/kernel/ids.ts';
import { createCardArchive } from '../../src/store/archive.ts';
import type { Disk } from '../../src/store/disk.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** A disk that never answers. */
const hanging: Disk = {
  call: () => new Promise(() => undefined),
  wake: () => undefined,
  close: () => Promise.resolve(),
};
const failing: Disk = {
  call: () => Promise.resolve({ ok: false, fault: 'full', message: 'disk is full' }),
  wake: () => undefined,
  close: () => Promise.resolve(),
};

test('a purge is not held up by a disk that hangs: a kill waits for it', async () => {
  const clock = new FakeClock();
  const archive = createCardArchive({ clock, observer: { record: () => undefined }, disk: hanging });
  let done = false;
  const purged = archive.purge([tag('all')], false).then(() => (done = true));
  await clock.advance(999);
  assert.equal(done, false);
  await clock.advance(1);
  assert.equal(await purged, true);
});

test('a disk that fails is told once, costs a cold start, and leaves no timer', async () => {
  const clock = new FakeClock();
  const events: Event[] = [];
  const archive = createCardArchive({ clock, observer: { record: (event) => void events.push(event) }, disk: failing });
  await archive.purge([tag('all')], true);
  assert.deepEqual(await archive.load(), []);
  assert.deepEqual(await archive.loadKeySets(), []);
  assert.equal(events.length, 1);
  assert.match(JSON.stringify(events), /cards are not kept for the next start.*make room/);
  assert.equal(clock.waiting, 0);
});
