// `node scripts/image-root.mjs FOLDER`: lays out what the image holds beyond its base: /app, Node, and the folders that are mounted.
// The Dockerfile runs it, and so does the test that starts the root without a container engine.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { needNode } from './need-node.mjs';
import { productionPackages } from './production-packages.mjs';

needNode();
const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: node scripts/image-root.mjs FOLDER');
  process.exit(2);
}
const root = path.resolve(folder);
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const app = path.join(root, 'app');

/** For whoever writes programs against a package, not for who runs one. */
const WORKSHOP = /\.([cm]?ts|map|md|markdown)$|[/\\](docs|test|tests|benchmarks|\.github)$/i;
const KEPT = /licen[cs]e|notice/i;

fs.rmSync(root, { recursive: true, force: true });
fs.mkdirSync(app, { recursive: true });
run('scripts/build.mjs', path.join(app, 'dist'));
for (const { path: from } of productionPackages()) {
  fs.cpSync(from, path.join(app, from), { recursive: true, filter: (file) => KEPT.test(file) || !WORKSHOP.test(file) });
}
for (const file of ['package.json', 'LICENSE', 'config.schema.json', 'deploy/kustomize/components']) {
  fs.cpSync(file, path.join(app, file), { recursive: true });
}
// Types of the page's modules are for whoever writes them.
fs.cpSync('console', path.join(app, 'console'), { recursive: true, filter: (file) => !/\.ts$|tsconfig/.test(file) });
fs.copyFileSync('deploy/image/launch.mjs', path.join(app, 'launch.mjs'));
fs.writeFileSync(path.join(app, 'sbom.cdx.json'), run('scripts/sbom.mjs'));
fs.mkdirSync(path.join(root, 'usr/local/bin'), { recursive: true });
fs.copyFileSync(process.execPath, path.join(root, 'usr/local/bin/node'));
fs.chmodSync(path.join(root, 'usr/local/bin/node'), 0o755);
// Where the sidecar mounts its volumes; state belongs to the user that runs.
for (const mount of ['etc/cardea', 'etc/cardea-approved', 'etc/cardea-kill', 'var/lib/cardea']) {
  fs.mkdirSync(path.join(root, mount), { recursive: true });
}
if (process.getuid() === 0) fs.chownSync(path.join(root, 'var/lib/cardea'), 65_532, 65_532);

function run(script, ...args) {
  const ran = spawnSync(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (ran.status !== 0) process.exit(ran.status ?? 1);
  return ran.stdout;
}
