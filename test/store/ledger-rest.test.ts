import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { agentName } from '../../src/kernel/ids.ts';
import { createKeyedHash } from '../../src/store/keyed-hash.ts';
import type { KeepReceipts } from '../../src/store/ledger-file.ts';
import { createSqliteLedger } from '../../src/store/ledger-sqlite.ts';
import { KEEP, exchange } from './ledger-world.ts';
import { ids, openDisk } from './resting-disk.ts';

describe('the ledger at rest', () => {
  async function openLedger(t: TestContext, bounds: KeepReceipts) {
    const opened = await openDisk(t);
    const { clock, disk } = opened;
    const observer = { record: () => undefined };
    const keyedHash = createKeyedHash(new Uint8Array(32));
    const ledger = createSqliteLedger({ clock, observer, disk, bounds: () => bounds, keyedHash });
    t.after(() => ledger.close());
    return { ...opened, ledger };
  }

  test('is not woken to prune when nothing is due, and is when the oldest receipt gets too old', async (t) => {
    const { ledger, clock, started, allGone } = await openLedger(t, { keep: 3_600_000, max: 4 });
    const at = clock.now();
    await ledger.commit(exchange('r-1', { at }));
    for (let minutes = 0; minutes < 60; minutes += 1) {
      await clock.advance(60_000);
      await allGone();
    }
    assert.equal(started(), 1, 'an hour old is not older than that');
    await clock.advance(60_000);
    const chain = await ledger.verify();
    assert.ok(chain.ok && chain.value.whole && chain.value.pruned === 1);
    assert.equal(started(), 2);
    await clock.advance(600_000);
    await allGone();
    assert.equal(started(), 2);
  });

  test('is woken to prune what is more than is kept, of an earlier process too', async (t) => {
    const { ledger, clock, started, disk } = await openLedger(t, { ...KEEP, max: 2 });
    await disk.call(
      'append',
      ['a', 'b', 'c'].map((id) => exchange(id, { at: clock.now() })),
    );
    await clock.advance(60_000);
    assert.deepEqual(await ids(disk), ['b', 'c']);
    await ledger.commit(exchange('d', { at: clock.now() }));
    await clock.advance(60_000);
    assert.deepEqual(await ids(disk), ['c', 'd']);
    assert.ok(started() > 1);
  });

  test('starts while what is to be written happens, and not for refusals that are counted', async (t) => {
    const { ledger, clock, started, rest, disk } = await openLedger(t, KEEP);
    await clock.advance(60_000); // the first look at what there is
    await ids(disk);
    await rest();
    const before = started();
    ledger.refused({ agent: agentName('weather'), code: 'killed', principal: null, tenant: null });
    await clock.turn();
    assert.equal(started(), before);
    ledger.issue();
    await clock.turn();
    assert.equal(started(), before + 1);
  });

  test('loses nothing of what was recorded as it went', async (t) => {
    const { ledger, clock, disk, heldBack } = await openLedger(t, KEEP);
    const letGo = heldBack();
    await clock.advance(4_950);
    ledger.record(exchange('r-1'));
    await clock.advance(5_000);
    ledger.record(exchange('r-2'));
    letGo();
    assert.equal(await ledger.commit(exchange('r-3')), true);
    assert.deepEqual(await ids(disk), ['r-1', 'r-2', 'r-3']);
  });
});
