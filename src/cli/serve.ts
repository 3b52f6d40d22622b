import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/place.ts';
import { forgetYaml } from '../config/yaml-parser.ts';
import { CONFIG_FLAG, parseArgs } from './args.ts';
import type { ValidConfig } from './check.ts';
import { type Command, type Io, USAGE } from './command.ts';
import { usageProblems } from './help.ts';
import { inspectKeys } from './inspect-keys.ts';

/** Runs the daemon until it has drained; resolves to the exit code, throws an Error that says why it cannot start. */
export type Serve = (config: ValidConfig, load: () => Promise<LoadedConfig>) => Promise<number>;

const FLAGS = { config: CONFIG_FLAG } as const;

/** `cardea serve`: the daemon. */
export function serveCommand(serve: Serve): Command {
  const command: Command = {
    name: 'serve',
    operands: '',
    summary: 'Starts the daemon',
    help: `It opens every listener, prints one JSON line that says where they are, fetches the cards of all agents and serves
until it is told to stop. SIGTERM and SIGINT drain: what was accepted is finished. A second signal ends at once. SIGHUP and a
changed file make it read its configuration again and adopt it, or keep the old one and say why. SIGUSR2 stops everything.

  cardea serve --config cardea.yaml --log-level debug`,
    flags: FLAGS,
    settings: true,
    exits: '0 drained · 1 could not start · 2 bad configuration',
    run: (io) => runServe(command, serve, io),
  };
  return command;
}

async function runServe(command: Command, serve: Serve, io: Io): Promise<number> {
  const args = parseArgs(io.argv, { flags: FLAGS, settings: true, operands: { least: 0, most: 0 } });
  if (!args.ok) return usageProblems(command, args.problems, io);
  const order = { ...io, inspectKeys, flags: args.settings };
  const load = (file: string | null): Promise<LoadedConfig> => loadConfig({ ...order, file }).finally(forgetYaml);
  const config = await load(args.flags.config);
  for (const warning of config.warnings) io.stderr.write(`warning: ${formatProblem(warning)}\n`);
  if (!config.ok) {
    for (const problem of config.problems) io.stderr.write(`${formatProblem(problem)}\n`);
    return USAGE;
  }
  try {
    // The file that was found is the one to read again, even where an earlier one of the usual names appears or this one goes.
    return await serve(config, () => load(config.file));
  } catch (error) {
    io.stderr.write(`cardea: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}
