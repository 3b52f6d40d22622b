import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { type Mounts, layOut, makeMount, startContainer } from '../test/support/image.ts';
import { startOrigin } from '../test/support/origin-server.ts';
import { CARD, answers, ask } from '../test/support/world.ts';

/**
 * What the image takes: its size, how long it needs until it is ready, and its memory when idle (PSS of the whole process). With one agent whose
 * origin answers, on a root of its own, so that no other Node shares its pages. Needs bubblewrap.
 *
 *   node scripts/run.mjs bench/image.ts
 */
const ROUNDS = 5;
/** Long enough for the heap to settle after the start. */
const IDLE_MS = 10_000;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cardea-measured-'));
fs.chmodSync(folder, 0o755);
const origin = await startOrigin(answers(CARD, { 'Cache-Control': 'max-age=3600' }));
try {
  const mounts = layOutImage();
  console.log(`size: ${mebibytes(sizeOf(path.join(mounts.root, 'app')))} MiB in /app, and Node`);
  for (let round = 0; round < ROUNDS; round += 1) console.log(await measure(mounts));
} finally {
  await origin.close();
  fs.rmSync(folder, { recursive: true, force: true });
}

function layOutImage(): Mounts {
  const mounts = {
    root: path.join(folder, 'root'),
    config: makeMount(path.join(folder, 'config'), false),
    kill: makeMount(path.join(folder, 'kill'), false),
    state: makeMount(path.join(folder, 'state'), true),
  };
  layOut(mounts.root);
  const agent = `{ origin: "${origin.url}", unsafeCleartext: true, unsafeAddresses: [127.0.0.1/32] }`;
  const listen = '{ agents: "127.0.0.1:0", ops: "127.0.0.1:0" }';
  fs.writeFileSync(path.join(mounts.config, 'cardea.yaml'), `listen: ${listen}\nagents: { weather: ${agent} }\n`);
  return mounts;
}

async function measure(mounts: Mounts): Promise<string> {
  const before = performance.now();
  const container = await startContainer(mounts);
  while ((await ask(`http://${container.started.ops[0]}/readyz`, {})).status !== 200) await pause(5);
  const ready = performance.now() - before;
  await pause(IDLE_MS);
  const memory = fs.readFileSync(`/proc/${container.pid}/smaps_rollup`, 'utf8');
  await container.end('SIGTERM');
  const pss = Number(/^Pss:\s+(\d+) kB/m.exec(memory)?.[1]) * 1024;
  const files = Number(/^Pss_File:\s+(\d+) kB/m.exec(memory)?.[1]) * 1024;
  return `ready after ${Math.round(ready)} ms; idle PSS ${mebibytes(pss)} MiB, of which ${mebibytes(files)} MiB are pages of files`;
}

function sizeOf(directory: string): number {
  const files = fs.readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + fs.statSync(path.join(parentPath, name)).size, 0);
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0);
}
