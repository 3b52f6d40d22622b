import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from './places.ts';

/** The Nodes that are measured: the one that the checkout runs on, and the next. */
export type NodeName = '24' | '26';

/** The same as in `.ci/run`. */
export const NEXT_NODE = '26.12.1';

/** The path of its program; the next one is installed once, out of node_modules, so that nothing comes to depend on it. */
export function nodeProgram(name: NodeName): string {
  if (name === '24') return process.execPath;
  const folder = path.join(ROOT, '.cache/bench', `node-${NEXT_NODE}`);
  const program = path.join(folder, `node_modules/node-linux-${process.arch}/bin/node`);
  if (!fs.existsSync(program)) install(folder);
  return program;
}

/** Their versions, as a result names them. */
export const versionsOf = (nodes: readonly NodeName[]): Readonly<Record<string, string>> =>
  Object.fromEntries(nodes.map((name) => [`Node ${name}`, name === '24' ? process.version : `v${NEXT_NODE}`]));

function install(folder: string): void {
  const wanted = `node-linux-${process.arch}@${NEXT_NODE}`;
  const args = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', '--engine-strict=false'];
  const { status } = spawnSync('npm', [...args, '--loglevel=error', wanted], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${wanted} could not be installed; --node=24 measures on ${process.version} alone`);
}
