import { inspectKeys } from '../../src/cli/inspect-keys.ts';
import type { LoadedConfig } from '../../src/config/load.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Environment, FlagValue } from '../../src/config/overrides.ts';
import { formatProblem } from '../../src/config/place.ts';

export interface ConfigCase {
  /** `--name=value` */
  readonly flags?: readonly string[];
  readonly env?: Environment;
  /** Files besides the configuration, by absolute path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Loads a configuration that stands in `/etc/app/c.yaml`, with `/srv` as the working directory. */
export function loadText(
  content: string | Uint8Array,
  { flags = [], env = {}, files = {} }: ConfigCase = {},
): Promise<LoadedConfig> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const all = new Map<string, Uint8Array>([['/etc/app/c.yaml', bytes]]);
  for (const [path, text] of Object.entries(files)) all.set(path, new TextEncoder().encode(text));
  return loadConfig({
    file: '/etc/app/c.yaml',
    flags: flags.map(flagValue),
    env,
    cwd: '/srv',
    readFile: readFrom(all),
    inspectKeys,
  });
}

/** A file system of a few files, which fails as Node's does. */
export const readFrom =
  (files: ReadonlyMap<string, Uint8Array>) =>
  async (path: string): Promise<Uint8Array> => {
    const content = files.get(path);
    if (content === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
    return content;
  };

function flagValue(text: string): FlagValue {
  const [flag = '', ...value] = text.split('=');
  return { flag, value: value.join('=') };
}

/** Every problem as the user reads it, the file's name shortened to `c.yaml`. */
export async function problemsOf(content: string | Uint8Array, more: ConfigCase = {}): Promise<readonly string[]> {
  const config = await loadText(content, more);
  return config.ok
    ? []
    : config.problems.map((problem) => formatProblem(problem).replaceAll('/etc/app/c.yaml', 'c.yaml'));
}

/** A configuration that must hold; its problems are the failure's message. */
export async function validConfig(
  content: string,
  more: ConfigCase = {},
): Promise<Extract<LoadedConfig, { ok: true }>> {
  const config = await loadText(content, more);
  if (config.ok) return config;
  throw new Error(config.problems.map(formatProblem).join('\n'));
}
