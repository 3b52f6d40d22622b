// `npm run check`: everything that can be said about the sources without running them. All steps run, so that one
// failure does not hide the next.
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { needNode } from './need-node.mjs';

needNode();
const bin = (name) => `node_modules/.bin/${name}`;
const steps = [
  { name: 'types', command: bin('tsc'), args: ['--noEmit'] },
  { name: 'types of the console', command: bin('tsc'), args: ['--noEmit', '-p', 'console'] },
  { name: 'lint', command: bin('oxlint'), args: ['--type-aware', '--deny-warnings'] },
  { name: 'format', command: bin('biome'), args: ['format', '.'] },
  { name: 'unused', command: bin('knip'), args: [] },
  { name: 'generated files', command: process.execPath, args: ['scripts/generate.ts', '--check'] },
];

const failed = steps.filter(({ name, command, args }) => {
  const ran = spawnSync(command, args, { stdio: 'inherit' });
  const ok = ran.status === 0;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}`);
  return !ok;
});
process.exit(failed.length === 0 ? 0 : 1);
