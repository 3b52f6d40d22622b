import fs from 'node:fs';

/** What the kernel accounts to a process and everything under it, from /proc: the figures that survive a busy machine. */

/**
 * CPU seconds, user and system, of every thread of every process of the tree. Of threads that run: a server keeps its own, and the
 * kernel counts these in nanoseconds, where /proc/PID/stat counts in hundredths of a second.
 */
export function cpuSeconds(pid: number): number {
  const threads = tree(pid).flatMap((each) =>
    list(`/proc/${each}/task`).map((thread) => `/proc/${each}/task/${thread}`),
  );
  const nanoseconds = threads.map((thread) => onCpuNanoseconds(read(`${thread}/schedstat`)));
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e9;
}

/** Proportional memory (PSS) of the tree, in bytes: a page that several processes map counts by its share. */
export function pssBytes(pid: number): number {
  const sizes = tree(pid).map((each) => pssOf(read(`/proc/${each}/smaps_rollup`)));
  return sizes.reduce((sum, one) => sum + one, 0);
}

/** The time on a CPU in a line of schedstat; 0 of a thread that is gone. */
export const onCpuNanoseconds = (schedstat: string): number => Number(schedstat.split(' ')[0]);

/** Bytes of the Pss line of smaps_rollup; 0 of a process that is gone. */
export const pssOf = (rollup: string): number => Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1024;

function tree(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(tree)];
}

function childrenOf(pid: number): readonly number[] {
  const threads = list(`/proc/${pid}/task`);
  const ids = threads.flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).split(' '));
  return ids.filter((id) => id !== '').map(Number);
}

function list(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return []; // it has ended
  }
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return ''; // it has ended
  }
}
