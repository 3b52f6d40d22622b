import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

const root = path.resolve(import.meta.dirname, '..');
/** main.ts is the program: to load it is to run it. */
const modules = fs
  .globSync('src/**/*.ts', { cwd: root })
  .filter((file) => file !== 'src/main.ts')
  .toSorted()
  .map((file) => pathToFileURL(path.join(root, file)).href);

const packages = Object.keys(JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).dependencies);

/** Loads the packages, whose habits are not ours, then all modules; tells what they left: handles that keep a process alive, listeners, changed globals. */
const PROBE = `
for (const name of JSON.parse(process.argv[1])) await import(name);
const before = { names: Reflect.ownKeys(globalThis).length, events: process.eventNames().length };
for (const url of process.argv.slice(2)) await import(url);
await new Promise((resolve) => setImmediate(resolve));
const left = process.getActiveResourcesInfo().filter((name) => !/^(PipeWrap|TTYWrap|FSReq.*)$/.test(name));
console.log(JSON.stringify({ left, names: Reflect.ownKeys(globalThis).length - before.names, events: process.eventNames().length - before.events }));
`;

describe('every module', () => {
  // In this process, so that coverage counts modules that no test loads.
  for (const url of modules) test(path.basename(url), async () => assert.ok(await import(url)));

  test('does nothing when it is loaded: no handle, listener, global or output', () => {
    const ran = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', PROBE, JSON.stringify(packages), ...modules],
      { cwd: root, encoding: 'utf8' },
    );
    assert.equal(ran.stderr, '');
    assert.deepEqual(ran.stdout.trim().split('\n'), [JSON.stringify({ left: [], names: 0, events: 0 })]);
  });
});
