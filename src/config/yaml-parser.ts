import { createRequire } from 'node:module';
import type * as yaml from 'yaml';

export type Yaml = typeof yaml;

/** Made for each use: it would hold whatever it has ever loaded. */
const makeRequire = () => createRequire(import.meta.url);

/** Loads the parser, or gives the one that is there. An import would be for ever. */
export const loadYaml = (): Yaml => makeRequire()('yaml') as Yaml;

/** Lets the parser go until the next reading: it takes 3 MB, and a daemon reads its configuration when somebody edits it. */
export function forgetYaml(): void {
  const { cache, resolve } = makeRequire();
  const folder = resolve('yaml').replace(/[^/\\]+$/, '');
  for (const file of Object.keys(cache)) if (file.startsWith(folder)) delete cache[file];
}
