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

/** Servers lie where only root's PATH leads. */
export const WITH_SBIN = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` };

function isInstalled(program: string): boolean {
  return WITH_SBIN.PATH.split(':').some((folder) => fs.existsSync(path.join(folder, program)));
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

/** The first version number that a program prints; empty where it prints none. */
export function versionOf(program: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env: WITH_SBIN });
  return /\d+\.\d+(?:\.\d+)?/.exec(`${stdout}${stderr}`)?.[0] ?? '';
}
