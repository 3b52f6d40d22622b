import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { tag } from '../../src/kernel/ids.ts';
import type { Kill } from '../../src/kernel/kill.ts';
import { epochMs } from '../../src/kernel/units.ts';
import { openKills } from '../../src/store/kills.ts';
import { killsText, parseKills } from '../../src/store/kills-file.ts';
import { FakeClock } from '../support/fake-clock.ts';

const KILL: Kill = { id: 'one', scope: tag('agent:weather'), reason: 'drill', by: 'admin', at: epochMs(1) };

/** A state folder of its own, in which `arrange` has put something. */
async function opened(arrange: (folder: string, file: string) => void = () => undefined) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-kills-'));
  const file = path.join(folder, 'kills.json');
  arrange(folder, file);
  return { folder, file, ...(await openKills(folder, new FakeClock())) };
}

describe('kills outlive a restart', () => {
  test('a first start kills nothing, and makes a file whose absence will mean something', async () => {
    const { book, notices, file } = await opened();
    assert.deepEqual([book.active(), notices, book.persisted()], [[], [], true]);
    assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  });
  test('what is put is there at the next start, what is removed is not', async () => {
    const { book, folder } = await opened();
    assert.equal(await book.put(KILL), null);
    assert.deepEqual((await openKills(folder, new FakeClock())).book.active(), [KILL]);
    assert.equal(await book.remove('one'), null);
    assert.deepEqual((await openKills(folder, new FakeClock())).book.active(), []);
  });
  test('it is in force before it is written', async () => {
    const { book } = await opened();
    const writing = book.put(KILL);
    assert.deepEqual([book.active(), book.persisted()], [[KILL], false]);
    await writing;
    assert.equal(book.persisted(), true);
  });
  test('many at once leave exactly what is in force', async () => {
    const { book, folder } = await opened();
    const all = Array.from({ length: 20 }, (_, index) => ({ ...KILL, id: `k${index}` }));
    await Promise.all([...all.map((kill) => book.put(kill)), book.remove('k3')]);
    const again = (await openKills(folder, new FakeClock())).book.active();
    assert.equal(again.length, 19);
    assert.ok(book.persisted());
  });
  test('what cannot be written holds all the same, and says so', async () => {
    const { book, folder } = await opened();
    fs.rmSync(folder, { recursive: true });
    assert.match((await book.put(KILL)) ?? '', /cannot be written/);
    assert.deepEqual([book.active(), book.persisted()], [[KILL], false]);
    fs.mkdirSync(folder);
    assert.equal(await book.flush(), null);
    assert.deepEqual((await openKills(folder, new FakeClock())).book.active(), [KILL]);
  });
  test('state: memory keeps nothing and says so', async () => {
    const { book } = await openKills(null, new FakeClock());
    assert.match((await book.put(KILL)) ?? '', /memory/);
    assert.equal(book.persisted(), false);
  });
});

describe('a record that cannot be believed stops everything', () => {
  const good = killsText([]);
  const cases: Readonly<Record<string, (folder: string, file: string) => void>> = {
    empty: (_, file) => fs.writeFileSync(file, ''),
    truncated: (_, file) => fs.writeFileSync(file, killsText([KILL]).slice(0, -10)),
    garbage: (_, file) => fs.writeFileSync(file, Buffer.from([0xff, 0xfe, 0x00])),
    'of a newer version': (_, file) => fs.writeFileSync(file, good.replace('1', '2')),
    'with a scope that nobody knows': (_, file) =>
      fs.writeFileSync(file, killsText([KILL]).replace('agent:weather', 'region:eu')),
    'a folder': (_, file) => fs.mkdirSync(file),
    'a symbolic link': (folder, file) => {
      fs.writeFileSync(path.join(folder, 'other.json'), good);
      fs.symlinkSync(path.join(folder, 'other.json'), file);
    },
    'writable by everyone': (_, file) => {
      fs.writeFileSync(file, good);
      fs.chmodSync(file, 0o666);
    },
    'missing where there is other state': (folder) => fs.writeFileSync(path.join(folder, 'admin-token'), 'x'),
  };
  for (const [name, arrange] of Object.entries(cases)) {
    test(name, async () => {
      const { book, notices } = await opened(arrange);
      const [kill, ...others] = book.active();
      assert.equal(others.length, 0);
      assert.deepEqual([kill?.scope, kill?.by], ['all', 'unreadable-state']);
      const [line] = notices;
      assert.match(line?.kind === 'notice' ? line.msg : '', new RegExp(`cardea lift ${kill?.id} --reason`));
    });
  }
  test('of another user', { skip: process.getuid?.() === 0 ? false : 'only root can give files away' }, async () => {
    const { book } = await opened((_, file) => {
      fs.writeFileSync(file, good, { mode: 0o600 });
      fs.chownSync(file, 12_345, 12_345);
    });
    assert.equal(book.active()[0]?.by, 'unreadable-state');
  });
  test('lifting it makes a file that is believed again', async () => {
    const { book, folder } = await opened((_, file) => fs.writeFileSync(file, 'x'));
    await book.remove(book.active()[0]?.id ?? '');
    assert.deepEqual((await openKills(folder, new FakeClock())).book.active(), []);
  });
  test('and every kill that is written is read back', () => assert.deepEqual(parseKills(killsText([KILL])), [KILL]));
});
