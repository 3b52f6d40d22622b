import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';

const root = path.resolve(import.meta.dirname, '..');
const LOCK = '.setup-lock';

/** A checkout whose `npm` only writes down that it was called, and how long an install takes is `INSTALL_SECONDS`. */
const NPM = `#!/bin/sh
echo "$@" >> npm-calls
sleep "\${INSTALL_SECONDS:-0}"
[ -z "$NPM_FAILS" ] || exit "$NPM_FAILS"
rm -rf node_modules
mkdir node_modules
`;

let home: string;
beforeEach(() => {
  home = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-setup-'));
  for (const name of ['setup.mjs', 'need-node.mjs']) {
    fs.cpSync(path.join(root, 'scripts', name), path.join(home, 'scripts', name));
  }
  put('package-lock.json', '{}');
  put('path/npm', NPM, 0o755);
});
afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

function put(name: string, text: string, mode = 0o644): void {
  fs.mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
  fs.writeFileSync(path.join(home, name), text, { mode });
}

const script = (): string => path.join(home, 'scripts/setup.mjs');
const env = (extra: NodeJS.ProcessEnv = {}) => ({ PATH: `${home}/path:/usr/bin:/bin`, ...extra });
const setup = (extra: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [script()], { encoding: 'utf8', env: env(extra) });
const installs = (): number => {
  const file = path.join(home, 'npm-calls');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n').length : 0;
};
const leftovers = (): string[] => fs.readdirSync(home).filter((name) => name.startsWith(LOCK));

async function seen(name: string, times: number): Promise<void> {
  let left = times;
  for await (const { filename } of fs.promises.watch(home)) if (filename === name && --left === 0) return;
}

describe('one install per lockfile', () => {
  test('the second run finds it done, a changed lockfile does not', () => {
    assert.equal(setup().status, 0);
    assert.equal(setup().status, 0);
    assert.equal(installs(), 1);
    put('package-lock.json', '{ "changed": true }');
    assert.equal(setup().status, 0);
    assert.equal(installs(), 2);
    assert.deepEqual(leftovers(), []);
  });

  test("the machine's settings cannot drop the tools or the packaged Node", () => {
    setup({ NODE_ENV: 'production', npm_config_ignore_scripts: 'true' });
    const call = fs.readFileSync(path.join(home, 'npm-calls'), 'utf8');
    for (const flag of ['ci', '--include=dev', '--include=optional']) assert.ok(call.split(' ').includes(flag));
  });

  test('a failed install is not taken for one, and frees the lock', () => {
    assert.equal(setup({ NPM_FAILS: '9' }).status, 9);
    assert.deepEqual(leftovers(), []);
    assert.equal(setup().status, 0);
    assert.equal(installs(), 2);
  });

  test('two at the same time install once', async () => {
    const both = [0, 1].map(() => spawn(process.execPath, [script()], { env: env({ INSTALL_SECONDS: '0.5' }) }));
    const codes = await Promise.all(both.map(async (child) => (await once(child, 'exit'))[0]));
    assert.deepEqual(codes, [0, 0]);
    assert.equal(installs(), 1);
  });
});

describe('a lock left behind', () => {
  test('by a process that is gone is broken', () => {
    put(LOCK, String(spawnSync('true').pid));
    assert.equal(setup().status, 0);
    assert.equal(installs(), 1);
    assert.deepEqual(leftovers(), []);
  });

  test('long ago is broken, whoever has the pid now', () => {
    put(LOCK, String(process.pid));
    const longAgo = new Date(Date.now() - 11 * 60_000);
    fs.utimesSync(path.join(home, LOCK), longAgo, longAgo);
    assert.equal(setup().status, 0);
    assert.equal(installs(), 1);
  });

  test('a live one is waited for', async () => {
    put(LOCK, String(process.pid));
    const waiting = spawn(process.execPath, [script()], { env: env() });
    const exit = once(waiting, 'exit');
    // Each attempt makes and removes a file of its own name: the third event is the second attempt.
    await Promise.race([exit, seen(`${LOCK}.${waiting.pid}`, 3)]);
    assert.equal(installs(), 0);
    fs.rmSync(path.join(home, LOCK));
    assert.deepEqual(await exit, [0, null]);
    assert.equal(installs(), 1);
  });
});

test('a packaged Node that does not start here is put aside', () => {
  put(
    'path/npm',
    `${NPM}mkdir node_modules/.bin\nprintf '#!/no/such/loader' > node_modules/.bin/node\nchmod +x node_modules/.bin/node\n`,
    0o755,
  );
  assert.equal(setup().status, 0);
  assert.equal(fs.existsSync(path.join(home, 'node_modules/.bin/node')), false);
});
