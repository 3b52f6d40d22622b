// Installs what the lockfile says, once, before any npm script that needs it. Runs on any Node from 18 on and needs no
// dependency. npm puts node_modules/.bin first in PATH even before it exists, and each npm script is a shell of its
// own: so this runs on the machine's Node, and the script after it on the Node that was installed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { isNewEnough, NEEDED } from './need-node.mjs';

const STAMP = 'node_modules/.setup-stamp';
const LOCK = '.setup-lock';
const PACKAGED_NODE = 'node_modules/.bin/node';
const POLL_MS = 250;
/** An install takes seconds; a lock this old belongs to a process that is gone, whoever has its pid now. */
const STALE_MS = 10 * 60_000;

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const wanted = createHash('sha256')
  .update(fs.readFileSync('package-lock.json'))
  .update(process.platform + process.arch)
  .digest('hex');

let status = 0;
while (status === 0 && !isInstalled()) {
  if (takeLock()) {
    try {
      if (!isInstalled()) status = install();
    } finally {
      fs.rmSync(LOCK, { force: true });
    }
  } else {
    breakStaleLock();
    sleep(POLL_MS);
  }
}
if (status !== 0) {
  fail('setup: npm ci failed, see above.', status);
} else if (!fs.existsSync(PACKAGED_NODE) && !isNewEnough(process.versions.node)) {
  const platform = `${process.platform}-${process.arch}`;
  fail(
    `setup: Cardea needs Node ${NEEDED.join('.')} or newer, this is ${process.version}; install one for ${platform}.`,
    1,
  );
}

function isInstalled() {
  return read(STAMP) === wanted;
}

/** Returns npm's exit code. */
function install() {
  // npm's own variables would make the inner npm believe it is the outer one (dry-run and the like).
  const inherited = /^npm_(lifecycle|package|command|config_(dry_run|package_lock_only|ignore_scripts))/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !inherited.test(name)));
  const npm = process.env.npm_execpath;
  const [command, first] = npm ? [process.execPath, [npm]] : ['npm', []];
  // An old Node is expected here, so engines are no error; NODE_ENV=production must not drop the tools.
  const args = ['ci', '--no-audit', '--no-fund', '--include=dev', '--include=optional', '--engine-strict=false'];
  const ran = spawnSync(command, [...first, ...args, '--loglevel=error'], { stdio: ['ignore', 2, 2], env });
  if (ran.status !== 0) return ran.status ?? 1;
  dropUnusableNode();
  fs.writeFileSync(STAMP, wanted);
  return 0;
}

/** The packaged Node is built for glibc: where it does not start (musl), the machine's own is used instead. */
function dropUnusableNode() {
  if (fs.existsSync(PACKAGED_NODE) && spawnSync(PACKAGED_NODE, ['--version']).status !== 0) fs.rmSync(PACKAGED_NODE);
}

/** A hard link appears whole, with the pid in it, or not at all. */
function takeLock() {
  const mine = `${LOCK}.${process.pid}`;
  fs.writeFileSync(mine, String(process.pid));
  try {
    fs.linkSync(mine, LOCK);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    fs.rmSync(mine, { force: true });
  }
}

/** Takes away the lock of a process that was killed. Renaming lets one waiter win; a lock that is alive is put back. */
function breakStaleLock() {
  if (!isStale(LOCK)) return;
  const taken = `${LOCK}.stale.${process.pid}`;
  try {
    fs.renameSync(LOCK, taken);
    if (!isStale(taken)) fs.linkSync(taken, LOCK);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  } finally {
    fs.rmSync(taken, { force: true });
  }
}

function isStale(file) {
  const pid = Number(read(file));
  const age = Date.now() - (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  return age > STALE_MS || (pid > 0 && !isAlive(pid));
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function read(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function fail(message, code) {
  console.error(message);
  process.exitCode = code;
}
