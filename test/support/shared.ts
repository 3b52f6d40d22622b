import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Test data that is not ours to publish lies beside a checkout; elsewhere it is missing, and its tests say so and skip. */
const SHARED = fileURLToPath(new URL('../../../shared/', import.meta.url));

/** Gives the path of shared test data, or undefined where this machine has none. */
export function sharedPath(relative: string): string | undefined {
  const path = `${SHARED}${relative}`;
  return existsSync(path) ? path : undefined;
}
