import fs from 'node:fs';
import os from 'node:os';

/** Where a server and where its load runs, on a machine of two CPUs or more: apart, so that neither takes the other's time. */
export const SERVER_CPU = 0;
export const LOAD_CPU = 1;

/** Before what else runs on the machine, where that is allowed. */
const NICE = process.getuid?.() === 0 ? ['nice', '-n', '-10'] : [];

/** A command line that stays on one CPU; on any where there is only one, or no `taskset`. */
export function onCpu(cpu: number, command: readonly string[]): readonly [string, ...string[]] {
  const pinned = os.availableParallelism() < 2 || !isInstalled('taskset') ? [] : ['taskset', '-c', String(cpu)];
  const [program = 'nice', ...args] = [...NICE, ...pinned, ...command];
  return [program, ...args];
}

function isInstalled(program: string): boolean {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];
  return folders.some((folder) => fs.existsSync(`${folder}/${program}`));
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
