import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects all garbage at once, with code that was compiled and not used since, and gives the system back what is free then. */
export function collectGarbage(): void {
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Collects the young generation, some 3 ms; where little was allocated in the last seconds V8 makes it small again then. */
export function collectYoung(): void {
  collect({ type: 'minor', execution: 'sync' });
}

/** How large the young generation is now, with what of it is empty. */
export function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0;
}

function collect(how: Readonly<Record<string, string>>): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  if (typeof gc === 'function') gc(how);
}

/** Makes V8 collect all garbage before the heap has grown by a third, or when it thinks best. The young generation stays as it was made. */
export function favourMemory(favours: boolean): void {
  setFlagsFromString(favours ? '--optimize-for-size' : '--no-optimize-for-size');
}
