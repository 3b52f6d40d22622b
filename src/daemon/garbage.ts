import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Collects all garbage at once, with code that was compiled and not used since, and gives the system back what is free then. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Makes V8 collect all garbage before the heap has grown by a third, or when it thinks best. The young generation stays as it was made. */
export function favourMemory(favours: boolean): void {
  setFlagsFromString(favours ? '--optimize-for-size' : '--no-optimize-for-size');
}
