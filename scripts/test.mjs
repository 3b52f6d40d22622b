// Runs the suite with node:test: `node scripts/test.mjs [--long | --coverage] [FILE or FOLDER…]`.
// The long files (fuzz, models) are apart so that the suite stays within a developer's patience.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { needNode } from './need-node.mjs';

needNode();
const asked = process.argv.slice(2);
const flags = asked.filter((word) => word.startsWith('--'));
const names = asked.filter((word) => !word.startsWith('--'));
const files = flags.includes('--long') ? '*.long.test.ts' : '!(*.long).test.ts';
const globs =
  names.length === 0
    ? [`test/**/${files}`]
    : names.map((name) => (name.endsWith('.ts') ? name : `${name}/**/${files}`));
const empty = globs.find((glob) => fs.globSync(glob).length === 0);
if (empty !== undefined) {
  // To node:test nothing to run is a success.
  console.error(`No test matches ${empty}`);
  process.exit(1);
}
const coverage = ['--experimental-test-coverage', '--test-coverage-include=src/**'];
const own = new Set(['--long', '--coverage']);

// Every file is a process of its own, and most of its time is compiling the same modules: they are kept compiled from one to the next.
// Not for coverage, which counts less in code that was compiled before.
const cache = fileURLToPath(new URL('../node_modules/.cache/compiled/', import.meta.url));
const env = flags.includes('--coverage') ? process.env : { NODE_COMPILE_CACHE: cache, ...process.env };

const ran = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-reporter=spec',
    // Node's own default leaves one core idle, which on two cores halves the speed.
    `--test-concurrency=${Math.max(2, os.availableParallelism())}`,
    // A test that waits for what never comes would hold everything up for ever; the longest takes two minutes.
    '--test-timeout=600000',
    ...(flags.includes('--coverage') ? coverage : []),
    ...flags.filter((flag) => !own.has(flag)),
    ...globs,
  ],
  { stdio: 'inherit', env },
);
process.exit(ran.status ?? 1);
