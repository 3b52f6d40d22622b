import { readFile, realpath } from 'node:fs/promises';

/** Lists this process's mounts, where the system is one that tells. */
const MOUNTS = '/proc/self/mountinfo';

/**
 * Finds the files that are mounted one by one, as a `subPath` of a ConfigMap or `docker run -v FILE:FILE` does it: such a mount holds on
 * to the file that was there when it was made, so that a file put in its place is never seen.
 */
export async function mountedAlone(files: readonly string[], list: string = MOUNTS): Promise<readonly string[]> {
  const points = mountPoints(await readFile(list, 'utf8').catch(() => ''));
  const real = await Promise.all(files.map((file) => realpath(file).catch(() => file)));
  return files.filter((file, index) => points.has(file) || points.has(real[index] ?? file));
}

/** The fifth field of each line is where something is mounted; blanks in it are written as `\040`. */
function mountPoints(mountinfo: string): ReadonlySet<string> {
  const points = mountinfo.split('\n').flatMap((line) => line.split(' ')[4] ?? []);
  return new Set(points.map((point) => point.replaceAll(/\\(\d{3})/g, (_all, code: string) => unescaped(code))));
}

const unescaped = (octal: string): string => String.fromCharCode(Number.parseInt(octal, 8));
