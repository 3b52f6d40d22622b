import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

const root = path.resolve(import.meta.dirname, '..');
const SOURCES = ['src', 'bin', 'scripts', 'toolchain', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];
const TOOLCHAIN = /^(node-linux-.*|cardea-toolchain)$/;

let folder: string;
let unpacked: string;
let files: string[];
before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-package-'));
  const copy = path.join(folder, 'copy');
  const listed: string[] = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).files;
  for (const name of new Set([...SOURCES, ...listed])) {
    const from = path.join(root, name);
    if (name !== 'dist' && fs.existsSync(from)) fs.cpSync(from, path.join(copy, name), { recursive: true });
  }
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  succeed(process.execPath, ['scripts/build.mjs'], copy);
  // Scripts are off: `prepack` would install into the linked node_modules. What it does was done above.
  succeed('npm', ['pack', '--ignore-scripts', '--offline', '--pack-destination', folder], copy);
  const tarball = fs.readdirSync(folder).find((name) => name.endsWith('.tgz'));
  assert.ok(tarball);
  succeed('tar', ['-xzf', tarball], folder);
  unpacked = path.join(folder, 'package');
  files = fs.readdirSync(unpacked, { recursive: true, encoding: 'utf8' });
});
after(() => fs.rmSync(folder, { recursive: true, force: true }));

function succeed(command: string, args: readonly string[], cwd: string): string {
  const ran = spawnSync(command, args, { cwd, encoding: 'utf8' });
  assert.equal(ran.status, 0, `${command} ${args.join(' ')}\n${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}

describe('what is published', () => {
  test('holds the program and its papers, and nothing of the workshop', () => {
    // `cardea inject` reads the component.
    const sidecar = 'deploy/kustomize/components/sidecar/sidecar.yaml';
    for (const name of ['bin/cardea', 'console/index.html', 'dist/main.js', sidecar, 'LICENSE', 'package.json'])
      assert.ok(files.includes(name), name);
    const strangers = files.filter((name) =>
      /\.ts$|node_modules|toolchain|^(src|test|scripts|demo|bench)\b/.test(name),
    );
    assert.deepEqual(strangers, []);
  });

  test('is small: the Node of a checkout alone has 190 MB', () => {
    const bytes = files.map((name) => fs.statSync(path.join(unpacked, name))).reduce((sum, { size }) => sum + size, 0);
    assert.ok(bytes < 5_000_000, `${bytes} bytes`);
  });

  test('asks for no Node package to be installed', () => {
    const manifest = JSON.parse(fs.readFileSync(path.join(unpacked, 'package.json'), 'utf8'));
    // npm installs these three for whoever depends on a package; never its devDependencies.
    const installed = ['dependencies', 'optionalDependencies', 'peerDependencies'].flatMap((kind) =>
      Object.keys(manifest[kind] ?? {}),
    );
    assert.ok(installed.includes('undici'));
    assert.deepEqual(
      installed.filter((name) => TOOLCHAIN.test(name)),
      [],
    );
    assert.deepEqual(manifest.bin, { cardea: 'bin/cardea' });
    for (const hook of ['preinstall', 'install', 'postinstall', 'prepare'])
      assert.equal(manifest.scripts[hook], undefined);
  });

  test('loads as it is: every import of the compiled files resolves, and the page of the console is there', () => {
    fs.symlinkSync(path.join(root, 'node_modules'), path.join(unpacked, 'node_modules'));
    const modules = files.filter((name) => /^dist\/.*\.js$/.test(name) && name !== 'dist/main.js');
    const load = `for (const name of process.argv.slice(1)) await import(name)`;
    const urls = modules.map((name) => `file://${path.join(unpacked, name)}`);
    succeed(process.execPath, ['--input-type=module', '-e', load, ...urls], folder);
    const list = `console.log(...(await (await import(process.argv[1])).readConsoleFiles()).keys())`;
    const reader = `file://${path.join(unpacked, 'dist/admin/console-files.js')}`;
    const served = succeed(process.execPath, ['--input-type=module', '-e', list, reader], folder).trim().split(' ');
    for (const file of ['/console/', '/console/vendor/preact.js', '/console/vendor/hooks.js', '/console/vendor/htm.js'])
      assert.ok(served.includes(file), file);
  });
});

test('npm ci --omit=dev, as the image does, leaves the Node packages out', () => {
  const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(
    fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8'),
  );
  const nodes = Object.entries(lock.packages).filter(([name]) => TOOLCHAIN.test(path.basename(name)));
  assert.ok(nodes.length >= 3);
  for (const [name, { dev }] of nodes) if (name !== 'node_modules/cardea-toolchain') assert.equal(dev, true, name);
});
