import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { urlId } from '../../src/kernel/ids.ts';
import { epochMs } from '../../src/kernel/units.ts';
import type { HeardRegistry } from '../../src/ports/registries.ts';
import { openRegistries } from '../../src/store/registry-record.ts';

const root = mkdtempSync(path.join(os.tmpdir(), 'cardea-registries-'));
after(() => rmSync(root, { recursive: true, force: true }));
const fresh = (): string => mkdtempSync(path.join(root, 'state-'));

const open = async (folder: string) => (await openRegistries(folder)).registryRecord;
const heard = (name: string): HeardRegistry => ({
  name,
  source: `/${name}.json`,
  at: epochMs(1),
  entries: [{ id: 'urn:a', status: 'revoked', card: urlId('https://a.example/'), said: 'withdrawn', place: null }],
});

test('what was saved is there again, and another place of the same name has said nothing', async () => {
  const folder = fresh();
  assert.equal(await (await open(folder)).save(heard('one')), null);
  const again = await open(folder);
  assert.deepEqual(again.last('one', '/one.json'), heard('one'));
  assert.equal(again.last('one', '/two.json'), undefined);
  assert.deepEqual([again.doubt('one'), again.doubt('two')], [null, null]);
});

describe('a record that cannot be believed', () => {
  const damaged = (): string => {
    const folder = fresh();
    writeFileSync(path.join(folder, 'registries.json'), '{}');
    return folder;
  };

  test('is doubted of each registry until that one is saved, through restarts', async () => {
    const folder = damaged();
    const first = await open(folder);
    assert.match(first.doubt('one') ?? '', /registries\.json cannot be trusted/);
    assert.match(first.doubt('two') ?? '', /registries\.json cannot be trusted/);
    await first.save(heard('one'));
    const { registryRecord: second, notices } = await openRegistries(folder);
    assert.deepEqual([second.last('one', '/one.json'), second.doubt('one')], [heard('one'), null]);
    assert.equal(second.doubt('two'), first.doubt('two'));
    assert.equal(notices.length, 1);
    await second.save(heard('two'));
    const { registryRecord: third, notices: quiet } = await openRegistries(folder);
    assert.deepEqual([third.doubt('one'), third.doubt('two'), quiet], [null, null, []]);
  });

  test('says nothing of a registry that comes when all have been had', async () => {
    const record = await open(damaged());
    assert.notEqual(record.doubt('one'), null);
    await record.save(heard('one'));
    assert.equal(record.doubt('new'), null);
  });
});
