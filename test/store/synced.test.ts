import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'cardea-synced-')));
after(() => rmSync(folder, { recursive: true }));

const source = path.resolve(import.meta.dirname, '../../src');
const SCRIPT = `
const { replaceSynced } = await import(process.argv[1]);
await replaceSynced(process.argv[2], process.argv[3], 0o600);
`;

/** Writes a file as the daemon does, in a process of its own with these flags of Node's. */
function write(content: string, flags: readonly string[]): void {
  const args = [`${source}/store/state-file.ts`, path.join(folder, 'kills.json'), content];
  execFileSync(process.execPath, [...flags, '--no-warnings', '--input-type=module', '-e', SCRIPT, ...args]);
}

const FENCED = [
  '--permission',
  `--allow-fs-read=${source}`,
  `--allow-fs-read=${folder}/*`,
  `--allow-fs-write=${folder}/*`,
];
const content = (): string => readFileSync(path.join(folder, 'kills.json'), 'utf8');
/** How often the folder was synced by way of SQLite. */
function syncs(): number {
  const db = new DatabaseSync(path.join(folder, 'folder-sync.db'));
  const count = Number(db.prepare('pragma user_version').get()?.['user_version']);
  db.close();
  return count;
}

describe('a synced file', () => {
  test('is replaced whole, with nothing beside it', () => {
    write('one', []);
    assert.equal(content(), 'one');
    assert.deepEqual(readdirSync(folder), ['kills.json']);
  });

  test("is written under Node's permission model too, where fsync is forbidden; its folder is synced by SQLite each time", () => {
    write('two', FENCED);
    assert.equal(content(), 'two');
    assert.equal(syncs(), 1);
    write('three', FENCED);
    assert.equal(content(), 'three');
    assert.equal(syncs(), 2);
    assert.deepEqual(readdirSync(folder).toSorted(), ['folder-sync.db', 'kills.json']);
  });
});
