import assert from 'node:assert/strict';
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';

const root = path.resolve(import.meta.dirname, '..');

/** Reports every signal it gets, and exits with 40 on the word of SIGTERM: a daemon in miniature. */
const MAIN = `
const [, , ...args] = process.argv as string[];
for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2', 'SIGTERM'] as const) {
  process.on(signal, () => {
    console.log(signal);
    if (signal === 'SIGTERM') setImmediate(() => process.exit(40));
  });
}
console.log(JSON.stringify({ pid: process.pid, args, file: import.meta.filename }));
if (!args.includes('once')) setInterval(() => {}, 1000);
`;

let home: string;
let launcher: string;
const started: ChildProcess[] = [];
before(() => {
  home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-launcher-')));
  launcher = path.join(home, 'bin/cardea');
  put('src/main.ts', MAIN);
  put('package.json', '{ "type": "module" }');
  fs.cpSync(path.join(root, 'bin'), path.join(home, 'bin'), { recursive: true });
  fs.mkdirSync(path.join(home, 'node_modules'));
});
after(() => {
  for (const child of started) child.kill('SIGKILL');
  fs.rmSync(home, { recursive: true, force: true });
});

function put(name: string, text: string, mode = 0o644): string {
  const file = path.join(home, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text, { mode });
  return file;
}

/** A `node` that only knows its version, and says which one was started with what. */
const putNode = (folder: string, version: string): string =>
  put(`${folder}/node`, `#!/bin/sh\n[ "$1" = --version ] && echo ${version} || echo ${version} "$@"\n`, 0o755);

const pathWith = (folder: string): string => `${folder}:/usr/bin:/bin`;
const own = (): string => pathWith(path.dirname(process.execPath));

function run(
  args: readonly string[],
  PATH: string,
  file = launcher,
): ReturnType<typeof spawnSync> & { stdout: string; stderr: string } {
  return spawnSync(file, args, { encoding: 'utf8', env: { PATH } });
}

async function start(options: SpawnOptions = {}) {
  const child = spawn(launcher, ['serve'], { env: { PATH: own() }, ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  assert.ok(child.stdout && child.pid);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  return { child, pid: child.pid, next, started: JSON.parse(await next()), exit: once(child, 'exit') };
}

/** What the launcher gives Node. */
const FLAGS = '--max-semi-space-size=16 --no-allocation-site-pretenuring';

describe('what is started', () => {
  test('the daemon is this process, with its arguments as they were written', async () => {
    const daemon = await start();
    assert.equal(daemon.started.pid, daemon.pid);
    assert.equal(daemon.started.file, path.join(home, 'src/main.ts'));
    daemon.child.kill('SIGKILL');
    const args = ['once', 'a b', '', '*', '$HOME', `'"`];
    assert.deepEqual(JSON.parse(run(args, own()).stdout).args, args);
  });

  test("through npm's link in node_modules/.bin", () => {
    fs.mkdirSync(path.join(home, 'elsewhere'), { recursive: true });
    const link = path.join(home, 'elsewhere/cardea');
    fs.symlinkSync('../bin/cardea', link);
    assert.equal(JSON.parse(run(['once'], own(), link).stdout).file, path.join(home, 'src/main.ts'));
  });

  test('by `node bin/cardea` too', () => {
    const ran = spawnSync(process.execPath, [launcher, 'once', 'a b'], { encoding: 'utf8' });
    assert.deepEqual(JSON.parse(ran.stdout).args, ['once', 'a b']);
  });

  test('the compiled main where there are no sources', () => {
    const published = path.join(home, 'published');
    fs.cpSync(path.join(home, 'bin'), path.join(published, 'bin'), { recursive: true });
    fs.copyFileSync(path.join(home, 'package.json'), path.join(published, 'package.json'));
    fs.mkdirSync(path.join(published, 'dist'));
    fs.writeFileSync(path.join(published, 'dist/main.js'), 'console.log(import.meta.filename)');
    const main = `${path.join(published, 'dist/main.js')}\n`;
    assert.equal(run([], own(), path.join(published, 'bin/cardea')).stdout, main);
    assert.equal(spawnSync(process.execPath, [path.join(published, 'bin/cardea')], { encoding: 'utf8' }).stdout, main);
  });
});

describe('which Node', () => {
  const versions: readonly (readonly [version: string, enough: boolean])[] = [
    ['v18.0.0', false],
    ['v20.20.2', false],
    ['v23.99.99', false],
    ['v24.17.99', false],
    ['v24.18.0', false],
    ['v24.18.1', true],
    ['v24.18.1-nightly20261130', true],
    ['v24.19.0', true],
    ['v25.0.0', true],
    ['v26.12.1', true],
    ['v100.0.0', true],
  ];
  for (const [version, enough] of versions) {
    test(`${version} in PATH is ${enough ? 'taken' : 'refused in one line'}`, () => {
      const ran = run(['x'], pathWith(path.dirname(putNode(`path-${version}`, version))));
      if (enough) return assert.equal(ran.stdout, `${version} ${FLAGS} ${home}/src/main.ts x\n`);
      assert.equal(ran.status, 1);
      assert.equal(ran.stdout, '');
      assert.match(ran.stderr, new RegExp(`^cardea: needs Node 24\\.18\\.1 or newer, and PATH has ${version}: .+\n$`));
    });
  }

  for (const [asked, arenas] of [
    [undefined, '1'],
    ['4', '4'],
  ] as const) {
    test(`with ${arenas} arenas of malloc where ${asked ?? 'nothing'} is asked for`, () => {
      const node = put(
        'path-arenas/node',
        '#!/bin/sh\n[ "$1" = --version ] && echo v24.22.3 || echo "$MALLOC_ARENA_MAX"\n',
        0o755,
      );
      const env = { PATH: pathWith(path.dirname(node)), ...(asked === undefined ? {} : { MALLOC_ARENA_MAX: asked }) };
      assert.equal(spawnSync(launcher, ['x'], { encoding: 'utf8', env }).stdout, `${arenas}\n`);
    });
  }

  test('the installed one where the one in PATH is too old', () => {
    const installed = putNode('node_modules/.bin', 'v24.22.3');
    const ran = run(['x'], pathWith(path.dirname(putNode('path-old', 'v20.20.2'))));
    fs.rmSync(installed);
    assert.equal(ran.stdout, `v24.22.3 ${FLAGS} ${home}/src/main.ts x\n`);
  });

  test('an installed one that does not start counts for nothing', () => {
    const installed = put('node_modules/.bin/node', '#!/no/such/loader\n', 0o755);
    const ran = run(['x'], pathWith(path.dirname(putNode('path-old', 'v20.20.2'))));
    fs.rmSync(installed);
    assert.equal(ran.status, 1);
    assert.match(ran.stderr, /^cardea: needs Node .*v20\.20\.2/);
  });

  test('a checkout without node_modules is installed first, and stdout stays clean', () => {
    put('scripts/setup.mjs', `console.log('installing')`);
    fs.rmSync(path.join(home, 'node_modules'), { recursive: true });
    const ran = run(['once'], own());
    fs.mkdirSync(path.join(home, 'node_modules'));
    assert.equal(ran.stderr, 'installing\n');
    assert.equal(JSON.parse(ran.stdout).args[0], 'once');
  });

  test('and nothing starts when that failed', () => {
    put('scripts/setup.mjs', `process.exitCode = 7`);
    fs.rmSync(path.join(home, 'node_modules'), { recursive: true });
    const ran = run(['once'], own());
    fs.mkdirSync(path.join(home, 'node_modules'));
    assert.deepEqual([ran.status, ran.stdout], [1, '']);
  });
});

describe('signals and exit codes', () => {
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2', 'SIGTERM'] as const) {
    test(`${signal} arrives once, to the process and to its whole group`, async () => {
      // A process group of its own: what a terminal's Ctrl-C and a supervisor's group signal reach.
      const daemon = await start({ detached: true });
      if (signal === 'SIGTERM') {
        process.kill(-daemon.pid, signal);
        assert.equal(await daemon.next(), 'SIGTERM');
      } else {
        for (const pid of [daemon.pid, -daemon.pid]) {
          process.kill(pid, signal);
          assert.equal(await daemon.next(), signal);
        }
        // A second copy of the signal would come before this answer.
        process.kill(daemon.pid, 'SIGTERM');
        assert.equal(await daemon.next(), 'SIGTERM');
      }
      assert.deepEqual(await daemon.exit, [40, null]);
    });
  }

  test('killing the command kills the daemon', async () => {
    const daemon = await start();
    daemon.child.kill('SIGKILL');
    assert.deepEqual(await daemon.exit, [null, 'SIGKILL']);
    assert.throws(() => process.kill(daemon.started.pid, 0), { code: 'ESRCH' });
  });

  for (const code of [0, 1, 2, 3]) {
    test(`exit code ${code} comes back`, () => {
      put('src/main.ts', `process.exitCode = ${code};`);
      const ran = run([], own());
      put('src/main.ts', MAIN);
      assert.equal(ran.status, code);
    });
  }
});
