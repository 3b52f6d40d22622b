import { effectiveSources, effectiveValues } from '../config/effective.ts';
import { effectiveYaml } from '../config/effective-yaml.ts';
import { loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/place.ts';
import { CONFIG_FLAG, JSON_FLAG, parseArgs } from './args.ts';
import type { Command, Io } from './command.ts';
import { usageProblems } from './help.ts';
import { inspectKeys } from './inspect-keys.ts';

const FLAGS = { config: CONFIG_FLAG, json: JSON_FLAG } as const;

/** `cardea config`: the effective settings and where each came from. */
export const configCommand: Command = {
  name: 'config',
  operands: '',
  summary: 'Prints the effective settings and where each came from',
  help: `A flag goes before the environment, the environment before the file, the file before the default. What is
printed is a configuration file itself: it means what is in force. Secrets are never read, only referred to.

  CARDEA_CACHE_MAX_STALE=1h cardea config`,
  flags: FLAGS,
  settings: true,
  exits: '0 printed · 2 problems',
  run: runConfig,
};

async function runConfig(io: Io): Promise<number> {
  const args = parseArgs(io.argv, { flags: FLAGS, settings: true, operands: { least: 0, most: 0 } });
  if (!args.ok) return usageProblems(configCommand, args.problems, io);
  const config = await loadConfig({ ...io, inspectKeys, file: args.flags.config, flags: args.settings });
  for (const warning of config.warnings) io.stderr.write(`warning: ${formatProblem(warning)}\n`);
  if (!config.ok) {
    for (const problem of config.problems) io.stderr.write(`${formatProblem(problem)}\n`);
    return 2;
  }
  const { file, settings, sources } = config;
  if (args.flags.json) {
    const shown = { file, settings: effectiveValues(settings), sources: effectiveSources(settings, sources) };
    io.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  } else io.stdout.write(`# ${file}\n${effectiveYaml(settings, sources)}`);
  return 0;
}
