import assert from 'node:assert/strict';
import { chmod, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { checkToken, newAdminToken, readConfiguredToken, readStateToken } from '../../src/store/admin-token.ts';
import { temporaryFolder } from './ledger-world.ts';

describe('the token of a state folder', () => {
  test('is made once, for this user alone, and read from then on', async (t) => {
    const folder = await temporaryFolder(t);
    const token = await readStateToken(folder);
    assert.match(token, /^[\w-]{43}$/);
    assert.equal((await stat(path.join(folder, 'admin-token'))).mode & 0o777, 0o600);
    assert.equal(await readStateToken(folder), token);
  });
  test('is another one elsewhere', () => assert.notEqual(newAdminToken(), newAdminToken()));
  test('that others may read, or that is a link, is none', async (t) => {
    const folder = await temporaryFolder(t);
    const file = path.join(folder, 'admin-token');
    await readStateToken(folder);
    await chmod(file, 0o604);
    await assert.rejects(readStateToken(folder), /others cannot read/);
    const other = await temporaryFolder(t);
    await symlink(file, path.join(other, 'admin-token'));
    await assert.rejects(readStateToken(other), /must be a plain file/);
  });
});

describe('a token that is configured', () => {
  test('may be a link, as Kubernetes mounts one', async (t) => {
    const folder = await temporaryFolder(t);
    const token = newAdminToken();
    await writeFile(path.join(folder, 'real'), `${token}\n`);
    await symlink('real', path.join(folder, 'token'));
    assert.equal(await readConfiguredToken(path.join(folder, 'token')), token);
  });
  test('that is not there keeps the daemon from starting', async () => {
    await assert.rejects(
      readConfiguredToken('/nowhere/token'),
      /^Error: admin\.token: \/nowhere\/token cannot be read/,
    );
  });
  const weak = [
    '',
    ' \n',
    'changeme',
    '12345',
    'a'.repeat(64),
    'x'.repeat(31),
    'ab'.repeat(20),
    `has a space ${'q'.repeat(30)}`,
    'ünïcode-is-no-token-at-all-whatever',
  ];
  for (const content of weak) {
    test(`is not ${JSON.stringify(content.slice(0, 20))}`, () => {
      assert.throws(() => checkToken(content, 'the file'), /no token of at least 32 random characters/);
    });
  }
  test('is never repeated in the message', () => {
    assert.throws(
      () => checkToken('hunter2', 'f'),
      (error: Error) => !error.message.includes('hunter2'),
    );
  });
  test('of 32 characters is one, of 31 none', () => {
    const hex = '0123456789abcdef0123456789abcdef';
    assert.equal(checkToken(`${hex}\n`, 'f'), hex);
    assert.throws(() => checkToken(hex.slice(1), 'f'));
  });
});
