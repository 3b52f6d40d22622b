import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { formatProblem, type Problem } from '../config/place.ts';
import { CONFIG_FLAG, JSON_FLAG, parseArgs } from './args.ts';
import type { Command, Io } from './command.ts';
import { usageProblems } from './help.ts';
import { inspectKeys } from './inspect-keys.ts';
import { paint, showProgress } from './terminal.ts';

/** A configuration that holds. */
export type ValidConfig = Extract<LoadedConfig, { ok: true }>;

/** What fetching one agent's card came to. */
export interface CardCheck {
  readonly agent: string;
  readonly ok: boolean;
  /** The verdict and its reason, in one line. */
  readonly line: string;
}

/** Fetches every card of a configuration as the daemon would. */
export type Connect = (config: ValidConfig) => AsyncIterable<CardCheck>;

const FLAGS = {
  config: CONFIG_FLAG,
  connect: { takes: null, doc: 'Fetches the card of every agent as well.' },
  json: JSON_FLAG,
} as const;

/** `cardea check`: the very validation that `serve` does. */
export function checkCommand(connect: Connect): Command {
  const command: Command = {
    name: 'check',
    operands: '',
    summary: 'Says everything that is wrong with a configuration',
    help: `It reads the configuration exactly as "cardea serve" does and prints every problem at once, each as
FILE:LINE:COLUMN SETTING: what is wrong, and the right spelling. Nothing is started.

  cardea check --config cardea.yaml --connect`,
    flags: FLAGS,
    settings: true,
    exits: '0 valid · 2 problems',
    run: (io) => runCheck(command, connect, io),
  };
  return command;
}

async function runCheck(command: Command, connect: Connect, io: Io): Promise<number> {
  const args = parseArgs(io.argv, { flags: FLAGS, settings: true, operands: { least: 0, most: 0 } });
  if (!args.ok) return usageProblems(command, args.problems, io);
  const config = await loadConfig({ ...io, inspectKeys, file: args.flags.config, flags: args.settings });
  const report = args.flags.json ? reportJson : reportText;
  return report(config, config.ok && args.flags.connect ? connect(config) : null, io);
}

async function reportText(config: LoadedConfig, cards: AsyncIterable<CardCheck> | null, io: Io): Promise<number> {
  for (const warning of config.warnings) io.stderr.write(`warning: ${formatProblem(warning)}\n`);
  if (!config.ok) {
    for (const problem of config.problems) io.stderr.write(`${formatProblem(problem)}\n`);
    io.stderr.write(`${count(config.problems.length, 'problem')}\n`);
    return 2;
  }
  const { agents, origins } = config.settings;
  io.stdout.write(`${config.file}: valid, ${count(agents.size, 'agent')}, ${count(origins.length, 'origin')}\n`);
  return cards === null ? 0 : reportCards(cards, [...agents.keys()], io);
}

async function reportCards(cards: AsyncIterable<CardCheck>, agents: readonly string[], io: Io): Promise<number> {
  const progress = showProgress(io);
  const asking = (at: number): void => progress(at < agents.length ? `asking for the card of ${agents[at]}` : null);
  let done = 0;
  let refused = 0;
  asking(0);
  for await (const { agent, ok, line } of cards) {
    progress(null);
    io.stdout.write(`${ok ? paint('green', 'ok  ', io) : paint('red', 'FAIL', io)} ${agent}: ${line}\n`);
    if (!ok) refused += 1;
    asking((done += 1));
  }
  return refused === 0 ? 0 : 2;
}

async function reportJson(config: LoadedConfig, cards: AsyncIterable<CardCheck> | null, io: Io): Promise<number> {
  const checked: CardCheck[] = [];
  for await (const card of cards ?? []) checked.push(card);
  const ok = config.ok && checked.every((card) => card.ok);
  const problems = config.ok ? [] : config.problems.map(problemJson);
  const report = {
    ok,
    ...(config.ok ? { file: config.file } : {}),
    problems,
    warnings: config.warnings.map(problemJson),
    ...(cards === null ? {} : { cards: checked }),
  };
  io.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  return ok ? 0 : 2;
}

/** One problem with its place spread out, for editors and pipelines. */
function problemJson({ at, path, message }: Problem): Readonly<Record<string, string | number>> {
  switch (at.from) {
    case 'file':
      return { file: at.file, line: at.line, column: at.column, path, message };
    case 'flag':
      return { flag: at.name, message };
    case 'environment':
      return { variable: at.name, message };
    case 'default':
      return { path, message };
  }
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
