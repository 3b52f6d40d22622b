/**
 * `npm run bench:all`: every question, one after the other, on two CPUs that do nothing else. Keeps the answers in
 * bench/results/ and writes the tables of docs/measurements.md anew. What cannot be answered here is said at the end, and the exit code is 1.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { build, BUILT } from './support/cardea.ts';
import { ROOT } from './support/places.ts';

const QUESTIONS = [
  'hit',
  'peers',
  'miss',
  'storm',
  'first-card',
  'memory',
  'scrape',
  'loop',
  'admission',
  'growth',
  'extended',
  'warm-start',
];

build();
const failed = QUESTIONS.filter((question) => {
  const began = performance.now();
  const code = run([`bench/${question}.ts`, '--record']);
  console.error(
    `${question}: ${code === 0 ? 'answered' : 'FAILED'} in ${Math.round((performance.now() - began) / 1_000)} s`,
  );
  return code !== 0;
});
if (run(['scripts/generate.ts']) !== 0) failed.push('docs/measurements.md');
if (failed.length > 0) console.error(`not answered: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Answers go to bench/results/, what is said meanwhile to this terminal. */
function run(args: readonly string[]): number | null {
  const env = { ...process.env, [BUILT]: 'yes' };
  return spawnSync(process.execPath, args, { cwd: path.resolve(ROOT), stdio: ['ignore', 'ignore', 'inherit'], env })
    .status;
}
