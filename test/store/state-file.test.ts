import assert from 'node:assert/strict';
import fs from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeStateFolder, removeFile, writeWhole } from '../../src/store/state-file.ts';

let root = '';
before(async () => void (root = await mkdtemp(path.join(tmpdir(), 'cardea-state-'))));
after(() => rm(root, { recursive: true }));

const modeOf = async (name: string): Promise<number> => (await stat(path.join(root, name))).mode & 0o777;

describe('the state folder', () => {
  test('is made with what is above it, for this user alone', async () => {
    await makeStateFolder(path.join(root, 'a/b/state'));
    for (const name of ['a', 'a/b', 'a/b/state']) assert.equal(await modeOf(name), 0o700, name);
  });

  test('that is there stays as it is', async () => {
    await mkdir(path.join(root, 'there'));
    await writeFile(path.join(root, 'there', 'kept'), 'x');
    await makeStateFolder(path.join(root, 'there'));
    assert.deepEqual(await readdir(path.join(root, 'there')), ['kept']);
  });

  for (const name of ['file', 'file/below']) {
    test(`cannot be made at ${name}: says which, and what to do`, async () => {
      await writeFile(path.join(root, 'file'), 'x');
      const folder = path.join(root, name);
      const message = `state: cannot make the folder ${folder}; choose another, or state: memory`;
      await assert.rejects(makeStateFolder(folder), { message });
    });
  }
});

describe('a file written whole', () => {
  test('has its content and mode, and nothing lies beside it', async () => {
    const folder = path.join(root, 'plain');
    await mkdir(folder);
    await writeWhole(path.join(folder, 'daemon.json'), 'one', 0o600);
    await writeWhole(path.join(folder, 'daemon.json'), 'two', 0o600);
    assert.equal(await readFile(path.join(folder, 'daemon.json'), 'utf8'), 'two');
    assert.equal(await modeOf('plain/daemon.json'), 0o600);
    assert.deepEqual(await readdir(folder), ['daemon.json']);
  });

  test('is never seen half: whoever has the old one open reads on in it', async () => {
    const file = path.join(root, 'whole');
    await writeWhole(file, 'old '.repeat(10_000), 0o600);
    const open = fs.openSync(file, 'r');
    await writeWhole(file, 'new', 0o600);
    assert.equal(fs.readFileSync(open, 'utf8'), 'old '.repeat(10_000));
    fs.closeSync(open);
    assert.equal(await readFile(file, 'utf8'), 'new');
  });

  test('does not take over the mode of a draft that a crash left', async () => {
    const file = path.join(root, 'secret');
    const draft = path.join(root, `.secret.${process.pid}`);
    await writeFile(draft, 'left over', { mode: 0o666 });
    fs.chmodSync(draft, 0o666);
    await writeWhole(file, 'token', 0o600);
    assert.equal(await modeOf('secret'), 0o600);
    assert.equal(await readFile(file, 'utf8'), 'token');
  });

  test('that cannot take its place leaves no draft, and what was there', async () => {
    const folder = path.join(root, 'blocked');
    await mkdir(path.join(folder, 'name'), { recursive: true });
    await assert.rejects(writeWhole(path.join(folder, 'name'), 'x', 0o600));
    assert.deepEqual(await readdir(folder), ['name']);
    assert.ok((await stat(path.join(folder, 'name'))).isDirectory());
  });

  test('is removed, and to remove it again is no error', async () => {
    const file = path.join(root, 'gone');
    await writeWhole(file, 'x', 0o600);
    await removeFile(file);
    await removeFile(file);
    await assert.rejects(stat(file), { code: 'ENOENT' });
  });
});
