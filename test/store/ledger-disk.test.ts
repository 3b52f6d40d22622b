import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFile, chmod, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { agentName, cardDigest, receiptId } from '../../src/kernel/ids.ts';
import { epochMs } from '../../src/kernel/units.ts';
import type { Decision } from '../../src/ports.ts';
import { type OpenedState, exchange, openState, temporaryFolder } from './ledger-world.ts';

/*
 * The rule for a disk that fails: decisions fail, receipts are counted as lost, it is told once, and everything else goes on.
 */

let count = 0;
const decision = (): Decision => ({
  id: receiptId(`d-${(count += 1)}`),
  at: epochMs(1),
  agent: agentName('weather'),
  digest: cardDigest('ab'.repeat(32)),
  action: 'approve',
  reason: 'x',
  by: 'admin',
});

/** Holds an opened state to the rule while its disk fails. */
async function assertDegraded({ state, events, said }: OpenedState, fault: string): Promise<void> {
  assert.equal(await state.ledger.commit(exchange('lost')), false);
  state.ledger.record(exchange('lost-too'));
  const decided = await state.ledger.decide(decision(), []);
  assert.equal(decided.ok, false);
  assert.equal(decided.refusal.code, 'overloaded');
  assert.match(decided.refusal.detail, new RegExp(`\\(${fault}\\)`));
  const lost = events.reduce((sum, event) => sum + (event.kind === 'receipts-lost' ? event.count : 0), 0);
  assert.equal(lost, 2);
  assert.equal(said().filter((msg) => msg.startsWith('receipts are lost')).length, 1);
  assert.equal(events.filter(({ kind }) => kind === 'receipt').length, 2, 'the log has them all the same');
}

/** A state folder that was in use and is closed. */
async function usedFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  const { state } = await openState(folder);
  for (let n = 0; n < 200; n += 1) state.ledger.record(exchange(`r-${n}`));
  assert.equal((await state.ledger.decide(decision(), [])).ok, true);
  await state.close();
  return folder;
}

describe('a database that cannot be read', () => {
  const damages: readonly (readonly [name: string, damage: (file: string) => Promise<void>, fault: string])[] = [
    ['is garbage', (file) => writeFile(file, 'x'.repeat(9_000)), 'corrupt'],
    ['is cut off', (file) => truncate(file, 5_000), 'corrupt'],
    ['has a page of zeros', zeroPage, 'corrupt'],
    ['is of a newer program', (file) => sql(file, 'pragma user_version = 99'), 'future'],
  ];
  for (const [name, damage, fault] of damages) {
    test(`${name}: approvals fail, receipts are lost, and it stays as evidence`, async (t) => {
      const folder = await usedFolder(t);
      const file = path.join(folder, 'ledger.db');
      await damage(file);
      const before = await readFile(file);
      const opened = await openState(folder);
      assert.match(opened.said()[0] ?? '', /^the ledger cannot be opened/);
      await assertDegraded(opened, fault);
      assert.equal((await opened.state.ledger.query({ limit: 1 })).ok, false);
      assert.equal((await opened.state.ledger.verify()).ok, false);
      await opened.state.close();
      assert.deepEqual(await readFile(file), before);
    });
  }

  async function zeroPage(file: string): Promise<void> {
    const content = await readFile(file);
    content.fill(0, 8_192, 8_192 + 4_096);
    await writeFile(file, content);
  }
  async function sql(file: string, statement: string): Promise<void> {
    const db = new DatabaseSync(file);
    db.exec(statement);
    db.close();
  }

  test('is a folder: the same', async (t) => {
    const folder = await temporaryFolder(t);
    spawnSync('mkdir', [path.join(folder, 'ledger.db')]);
    const opened = await openState(folder);
    await assertDegraded(opened, 'io');
    await opened.state.close();
  });
});

describe('a disk that fails while Cardea runs', () => {
  test('locked by another program: lost, and written again when it is free', async (t) => {
    const folder = await temporaryFolder(t);
    const opened = await openState(folder);
    const { state, said } = opened;
    t.after(() => state.close());
    const other = new DatabaseSync(path.join(folder, 'ledger.db'));
    other.exec('begin immediate');
    assert.equal(await state.ledger.commit(exchange('r-1')), false);
    other.exec('rollback');
    other.close();
    assert.equal(await state.ledger.commit(exchange('r-2')), true);
    assert.deepEqual(said(), ['receipts are lost: the ledger cannot be written', 'the ledger is written again']);
    const report = await state.ledger.verify();
    assert.ok(report.ok && report.value.whole && report.value.checked === 1);
  });

  test('taken away: SQLite would write on into nothing', async (t) => {
    const folder = await temporaryFolder(t);
    const opened = await openState(folder);
    t.after(() => opened.state.close());
    await rm(path.join(folder, 'ledger.db'));
    await assertDegraded(opened, 'io');
  });

  test('full: reading goes on, nothing is half there, and it recovers', async (t) => {
    const folder = await smallDisk(t);
    if (folder === undefined) return t.skip('mounting a small tmpfs needs root');
    const opened = await openState(folder);
    const { state } = opened;
    assert.equal((await state.ledger.decide(decision(), [])).ok, true);
    const filler = path.join(folder, 'filler');
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096', 'count=4096'], { stdio: 'ignore' });
    let failed = 0;
    for (let n = 0; n < 100; n += 1) {
      const big = exchange(`r-${n}`, {
        why: 'x'.repeat(1_000),
        warnings: Array.from({ length: 10 }, () => 'y'.repeat(900)),
      });
      if (!(await state.ledger.commit(big))) failed += 1;
    }
    assert.ok(failed > 0, 'the disk was not full');
    const during = await state.ledger.verify();
    assert.ok(during.ok && during.value.whole, 'reading goes on');
    assert.equal(during.value.checked, 1 + 100 - failed);
    const refused = await state.ledger.decide(decision(), []);
    if (!refused.ok) assert.match(refused.refusal.detail, /\(full\)/);
    await rm(filler);
    assert.equal((await state.ledger.decide(decision(), [])).ok, true);
    assert.ok(opened.said().includes('receipts are lost: the ledger cannot be written'));
    await state.close();
    const again = await openState(folder);
    const after = await again.state.ledger.verify();
    assert.ok(after.ok && after.value.whole);
    await again.state.close();
  });
});

describe('a folder that cannot be written', () => {
  test('on a read-only file system: told at start, nothing is kept, serving goes on', async (t) => {
    const folder = await smallDisk(t);
    if (folder === undefined) return t.skip('mounting a small tmpfs needs root');
    const used = await openState(folder);
    await used.state.close();
    const { status } = spawnSync('mount', ['-o', 'remount,ro', folder]);
    assert.equal(status, 0);
    const opened = await openState(folder);
    assert.match(opened.said().join('\n'), /the ledger cannot be opened/);
    await assertDegraded(opened, 'io');
    assert.deepEqual(await opened.state.archive?.load(), []);
    await opened.state.close();
  });
  test('when it is empty: a key of this start alone', async (t) => {
    const folder = await smallDisk(t);
    if (folder === undefined) return t.skip('mounting a small tmpfs needs root');
    spawnSync('mount', ['-o', 'remount,ro', folder]);
    const opened = await openState(folder);
    assert.ok(opened.said().includes('the state folder cannot be written: nothing is kept'));
    await assertDegraded(opened, 'io');
    await opened.state.close();
  });
});

describe('the files of the folder', () => {
  test('are for this user alone', async (t) => {
    const folder = await usedFolder(t);
    for (const name of ['ledger.db', 'cards.db', 'hash-key', 'lock']) {
      const { mode } = await stat(path.join(folder, name));
      assert.equal(mode & 0o007, 0, `${name} is ${mode.toString(8)}`);
    }
  });
  test('a key that is damaged, or that others may read, is no key', async (t) => {
    const folder = await usedFolder(t);
    const file = path.join(folder, 'hash-key');
    await chmod(file, 0o644);
    await assert.rejects(openState(folder), /hash-key must be a plain file that others cannot read/);
    await chmod(file, 0o600);
    await appendFile(file, 'x');
    await assert.rejects(openState(folder), /hash-key is damaged/);
  });
});

/** A disk of 512 KiB of its own, or undefined where none can be mounted. */
async function smallDisk(t: TestContext): Promise<string | undefined> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cardea-disk-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', folder], { stdio: 'ignore' });
  t.after(async () => {
    if (status === 0) spawnSync('umount', ['-l', folder]);
    await rm(folder, { recursive: true });
  });
  return status === 0 ? folder : undefined;
}
