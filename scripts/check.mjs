// `npm run check`: everything that can be said about the sources without running them. All steps run, so that one
// failure does not hide the next.
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { needNode } from './need-node.mjs';

needNode();
const bin = (name) => `node_modules/.bin/${name}`;
const steps = [
  ['types', bin('tsc'), ['--noEmit']],
  ['lint', bin('oxlint'), ['--type-aware', '--deny-warnings']],
  ['format', bin('biome'), ['format', '.']],
  ['unused', bin('knip'), []],
  ['generated files', process.execPath, ['scripts/generate.ts', '--check']],
];

const failed = steps.filter(([name, command, args]) => {
  const ran = spawnSync(command, args, { stdio: 'inherit' });
  const ok = ran.status === 0;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}`);
  return !ok;
});
process.exit(failed.length === 0 ? 0 : 1);
