import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { createDisk, type Disk } from '../../src/store/disk.ts';
import type { DiskThread, StartThread, ThreadEvents } from '../../src/store/disk-thread.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { exchange, temporaryFolder } from './ledger-world.ts';
import { ids, openDisk } from './resting-disk.ts';

/*
 * The thread that waits for the disk ends when nothing was asked of it for five seconds, and the next call starts another. Nobody who calls
 * may notice more than the time that a start takes.
 */

async function fault(disk: Disk, call: 'query' | 'loadCards' = 'query'): Promise<string> {
  const done = call === 'query' ? await disk.call('query', { limit: 1 }) : await disk.call('loadCards');
  return done.ok ? 'none' : done.fault;
}

describe('the thread of the disk rests', () => {
  test('after five seconds without a call, and starts at the next one, with everything as it was', async (t) => {
    const { disk, clock, started, rest } = await openDisk(t);
    await disk.call('append', [exchange('r-1')]);
    await clock.advance(4_999);
    await disk.call('append', [exchange('r-2')]);
    await clock.advance(4_999);
    assert.deepEqual(await ids(disk), ['r-1', 'r-2']);
    assert.equal(started(), 1, 'whoever calls keeps it');
    await rest();
    assert.equal(clock.waiting, 0, 'no timer while nothing runs');
    await disk.call('append', [exchange('r-3')]);
    assert.equal(started(), 2);
    await rest();
    const chain = await disk.call('verify');
    assert.ok(chain.ok && chain.value.whole && chain.value.checked === 3);
    assert.equal(started(), 3);
  });

  test('with nothing left to be found by whoever opens the file', async (t) => {
    const { disk, ledgerFile, rest } = await openDisk(t);
    await disk.call('append', [exchange('r-1')]);
    await rest();
    await rm(`${ledgerFile}-wal`, { force: true });
    const db = new DatabaseSync(ledgerFile);
    assert.equal(db.prepare('select count(*) as n from receipts').get()?.['n'], 1);
    db.close();
  });

  test('and calls that come while it goes wait for the next, in their order', async (t) => {
    const { disk, clock, started, heldBack } = await openDisk(t);
    const letGo = heldBack();
    await clock.advance(5_000);
    const written = ['r-1', 'r-2', 'r-3'].map((id) => disk.call('append', [exchange(id)]));
    const read = ids(disk);
    await clock.advance(60_000);
    assert.equal(started(), 1);
    letGo();
    assert.deepEqual(
      (await Promise.all(written)).map(({ ok }) => ok),
      [true, true, true],
    );
    assert.deepEqual(await read, ['r-1', 'r-2', 'r-3']);
    assert.equal(started(), 2);
  });

  test('after a clock that was set back', async (t) => {
    const { disk, clock, rest, started } = await openDisk(t);
    const before = clock.now;
    clock.now = () => before.call(new FakeClock(0));
    await clock.advance(5_000);
    assert.equal(started(), 1);
    Reflect.deleteProperty(clock, 'now');
    await clock.advance(5_000);
    await rest();
    assert.deepEqual(await ids(disk), []);
    assert.equal(started(), 2);
  });

  test('and is up before the call of whoever says that one is to come', async (t) => {
    const { disk, clock, started, rest, heldBack, allGone } = await openDisk(t);
    await rest();
    for (let n = 0; n < 3; n += 1) disk.wake();
    assert.equal(started(), 1, 'not in the turn of who says so');
    await clock.turn();
    assert.equal(started(), 2);
    const letGo = heldBack();
    await clock.advance(5_000);
    disk.wake();
    letGo();
    await allGone();
    assert.equal(started(), 3, 'said while it went');
  });
});

describe('what a thread knew, the next one knows', () => {
  test('a file that was taken away while nothing ran, put back or not', async (t) => {
    const { disk, ledgerFile, rest } = await openDisk(t);
    await rest();
    await rename(ledgerFile, `${ledgerFile}.away`);
    assert.equal(await fault(disk), 'io');
    await rename(`${ledgerFile}.away`, ledgerFile);
    await rest();
    assert.equal(await fault(disk), 'io', 'it stays so');
    assert.equal(await fault(disk, 'loadCards'), 'none', 'the other file is as it was');
  });

  test('another file in its place, whatever the number of its inode', async (t) => {
    const { disk, ledgerFile, rest } = await openDisk(t);
    await rest();
    await rm(ledgerFile);
    new DatabaseSync(ledgerFile).exec('create table x (y)');
    assert.equal(await fault(disk), 'io');
  });

  test('a file that was taken away while it ran, and nobody asked', async (t) => {
    const { disk, ledgerFile, rest } = await openDisk(t);
    await rename(ledgerFile, `${ledgerFile}.away`);
    await rest();
    await rename(`${ledgerFile}.away`, ledgerFile);
    assert.equal(await fault(disk), 'io');
  });

  test('a file that was damaged is no longer opened, though somebody mends it', async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(path.join(folder, 'ledger.db'), 'x'.repeat(9_000));
    const { disk, ledgerFile, rest } = await openDisk(t, folder);
    assert.equal(await fault(disk), 'corrupt');
    await rest();
    await writeFile(ledgerFile, '');
    assert.equal(await fault(disk), 'corrupt');
  });

  test('damage that was done while nothing ran is found, and a write of somebody else is none', async (t) => {
    const { disk, ledgerFile, rest } = await openDisk(t);
    await disk.call('append', [exchange('r-1')]);
    await rest();
    const db = new DatabaseSync(ledgerFile);
    db.exec('create table theirs (x); insert into theirs values (1)');
    db.close();
    assert.deepEqual(await ids(disk), ['r-1']);
    await rest();
    await writeFile(ledgerFile, 'x'.repeat(40_960), { flag: 'r+' });
    assert.equal(await fault(disk), 'corrupt');
  });

  test('that cards were put aside', async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(path.join(folder, 'cards.db'), 'x'.repeat(9_000));
    const { disk, rest } = await openDisk(t, folder);
    await rest();
    const opened = await disk.call('open');
    assert.deepEqual(opened.ok && opened.value, { ledger: null, cards: null, cardsAside: 'corrupt' });
  });
});

describe('closing', () => {
  test('at rest starts nothing, and nothing starts after it', async (t) => {
    const { disk, clock, started, rest } = await openDisk(t);
    await rest();
    await disk.close();
    assert.equal(await fault(disk), 'closed');
    disk.wake();
    await clock.turn();
    assert.equal(started(), 1);
  });

  test('while it goes writes what was called before', async (t) => {
    const folder = await temporaryFolder(t);
    const { disk, clock, started, heldBack } = await openDisk(t, folder);
    const letGo = heldBack();
    await clock.advance(5_000);
    const written = disk.call('append', [exchange('r-1')]);
    const closed = disk.close();
    assert.equal(await fault(disk), 'closed');
    letGo();
    await closed;
    assert.ok((await written).ok);
    assert.equal(started(), 2);
    assert.equal(clock.waiting, 0);
    assert.deepEqual(await ids((await openDisk(t, folder)).disk), ['r-1']);
  });

  test('while it goes with nothing to do waits for its end alone', async (t) => {
    const { disk, clock, started, heldBack } = await openDisk(t);
    const letGo = heldBack();
    await clock.advance(5_000);
    disk.wake();
    const closed = disk.close();
    letGo();
    await closed;
    assert.equal(started(), 1);
  });
});

describe('a thread that is not as it should be', () => {
  /** Threads in name: what each is told, and how it ends, is the test's. */
  function scripted(clock = new FakeClock()) {
    const told: string[] = [];
    const events: ThreadEvents[] = [];
    let refusing = false;
    const thread: DiskThread = { post: ({ name }) => void told.push(name), hold: () => undefined };
    const start: StartThread = (_, each) => {
      if (refusing) throw Object.assign(new Error('no thread'), { code: 'ERR_WORKER_INIT_FAILED' });
      events.push(each);
      return thread;
    };
    const disk = createDisk({ ledgerFile: 'l', cardsFile: 'c', chainKey: new Uint8Array(32) }, clock, start);
    return { disk, clock, told, events, refuse: (now: boolean) => void (refusing = now) };
  }

  test('is never told to rest while somebody waits', async () => {
    const { disk, clock, told, events } = scripted();
    void disk.call('loadCards');
    await clock.advance(3_600_000);
    assert.deepEqual(told, ['loadCards']);
    events[0]?.replied({ ticket: 1, ok: true, value: [] });
    await clock.advance(5_000);
    assert.deepEqual(told, ['loadCards', 'rest']);
  });

  for (const dies of ['at work', 'while it was to rest']) {
    test(`that dies ${dies} fails who waits, and everybody after that`, async () => {
      const { disk, clock, events } = scripted();
      if (dies !== 'at work') {
        disk.wake();
        await clock.turn();
        await clock.advance(5_000);
      }
      const called = disk.call('loadCards');
      events[0]?.ended({ fault: 'bug', message: 'out of memory' });
      assert.deepEqual(await called, { ok: false, fault: 'bug', message: 'out of memory' });
      assert.equal(await fault(disk), 'bug');
      assert.equal(events.length, 1);
      assert.equal(clock.waiting, 0);
      await disk.close();
    });
  }

  test('that the system does not give is asked for at the next call again', async () => {
    const { disk, events, refuse, told } = scripted();
    refuse(true);
    assert.equal(await fault(disk), 'thread');
    refuse(false);
    const later = disk.call('loadCards');
    events[0]?.ended({ fault: 'thread', message: 'none' });
    assert.equal((await later).ok, false, 'told after it was asked for');
    void disk.call('loadKeySets');
    assert.deepEqual([events.length, told.at(-1)], [2, 'loadKeySets']);
  });
});
