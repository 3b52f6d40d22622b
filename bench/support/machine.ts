import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Where a server and where its load runs, on a machine of two CPUs or more: apart, so that neither takes the other's time. */
export const SERVER_CPU = 0;
export const LOAD_CPU = 1;

/** Before all else that runs on the machine, where that is allowed: what waits for its turn loses the other's caches too. */
const FIRST = works('chrt', ['-r', '1', 'true']) ? ['chrt', '-r', '1'] : [];
const PINNED = os.availableParallelism() > 1 && works('taskset', ['-c', '0', 'true']);

/** A command line that stays on one CPU, and goes before others, as far as the machine lets it. */
export function onCpu(cpu: number, command: readonly string[]): readonly [string, ...string[]] {
  const [program = 'true', ...args] = [...FIRST, ...(PINNED ? ['taskset', '-c', String(cpu)] : []), ...command];
  return [program, ...args];
}

function works(program: string, args: readonly string[]): boolean {
  return spawnSync(program, args).status === 0;
}

function isInstalled(program: string): boolean {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];
  return folders.some((folder) => fs.existsSync(path.join(folder, program)));
}

/** Says how to get a program where it is missing; whether it is there. */
export function isThere(program: string, debianPackage: string): boolean {
  const there = isInstalled(program);
  if (!there)
    console.error(`no ${program} on this machine, so nothing is measured with it: apt-get install ${debianPackage}`);
  return there;
}

/** What a figure was measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cpus: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly system: string;
}

export function thisMachine(): Machine {
  return {
    cpu: os.cpus()[0]?.model ?? 'unknown',
    cpus: os.availableParallelism(),
    memoryGiB: Math.round(os.totalmem() / 1024 ** 3),
    kernel: os.release(),
    system: systemName(),
  };
}

function systemName(): string {
  const release = fs.existsSync('/etc/os-release') ? fs.readFileSync('/etc/os-release', 'utf8') : '';
  return /^PRETTY_NAME="?([^"\n]*)/m.exec(release)?.[1] ?? os.type();
}
