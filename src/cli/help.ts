import { nearest } from '../config/nearest.ts';
import { quote } from '../config/place.ts';
import { type Command, type Io, USAGE } from './command.ts';

const INTRODUCTION = `Cardea is a caching discovery reverse proxy for A2A agents: local agents only ever see a card that is
allowed, verified, approved and fresh, even when its origin is down.
`;

const FIRST_STEPS = `Start here:
  cardea check                     say everything that is wrong with ./cardea.yaml
  cardea serve                     start, and print one line once everything is open
  curl localhost:8642/agents       see what is served

Single values outside agents, origins, keys and principals are flags and variables too: cache.maxStale
is --cache-max-stale and CARDEA_CACHE_MAX_STALE. "cardea config" shows what holds and why.
`;

/** Runs the command that the first word names, or teaches which there are. */
export async function runCommand(commands: readonly Command[], io: Io): Promise<number> {
  const [word, ...argv] = io.argv;
  if (word === undefined || word === '--help' || word === '-h') return teach(commands, io);
  if (word === 'help') return teachOne(commands, argv[0], io);
  const command = commands.find(({ name }) => name === word);
  if (command === undefined) return unknown(word, commands, io);
  if (asksForHelp(argv)) return teachOne(commands, word, io);
  return command.run({ ...io, argv });
}

/** What follows `--` is no flag. */
function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const flags = end === -1 ? argv : argv.slice(0, end);
  return flags.includes('--help') || flags.includes('-h');
}

function teach(commands: readonly Command[], io: Io): number {
  const width = Math.max(...commands.map((command) => command.name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}   ${summary}`);
  io.stdout.write(
    `${INTRODUCTION}\nUsage: cardea COMMAND [FLAGS]\n\n${lines.join('\n')}\n\n${FIRST_STEPS}\n"cardea COMMAND --help" says more.\n`,
  );
  return 0;
}

function teachOne(commands: readonly Command[], name: string | undefined, io: Io): number {
  if (name === undefined) return teach(commands, io);
  const command = commands.find((each) => each.name === name);
  if (command === undefined) return unknown(name, commands, io);
  io.stdout.write(commandHelp(command));
  return 0;
}

function unknown(word: string, commands: readonly Command[], io: Io): number {
  const near = nearest(
    word,
    commands.map(({ name }) => name),
  );
  const hint = near === null ? '"cardea help" lists the commands.' : `Did you mean "cardea ${near}"?`;
  io.stderr.write(`cardea: no command ${quote(word)}. ${hint}\n`);
  return USAGE;
}

/** Writes what there is to know of one command. */
export function commandHelp(command: Command): string {
  const flags = Object.entries(command.flags).map(
    ([name, { takes, short, doc }]) =>
      [`${short === undefined ? '' : `-${short}, `}--${name}${takes === null ? '' : ` ${takes}`}`, doc] as const,
  );
  const all = command.settings
    ? [...flags, ['--SETTING VALUE', 'A single setting: cache.maxStale is --cache-max-stale.'] as const]
    : flags;
  const width = Math.max(0, ...all.map(([flag]) => flag.length));
  const lines = all.map(([flag, doc]) => `  ${flag.padEnd(width)}   ${doc}\n`);
  return `${usageLine(command)}\n\n${command.summary}.\n\n${command.help.trim()}\n\nFlags:\n${lines.join('')}\nExit: ${command.exits}\n`;
}

function usageLine({ name, operands, flags }: Command): string {
  const written = Object.entries(flags).map(([flag, { takes, isNeeded }]) => {
    const word = takes === null ? `--${flag}` : `--${flag} ${takes}`;
    return isNeeded === true ? word : `[${word}]`;
  });
  return ['Usage: cardea', name, ...(operands === '' ? [] : [operands]), ...written].join(' ');
}

/** Says how a command was called wrongly, and how it is called. */
export function usageProblems(command: Command, problems: readonly string[], io: Io): number {
  for (const problem of problems) io.stderr.write(`cardea ${command.name}: ${problem}\n`);
  io.stderr.write(`${usageLine(command)}\n`);
  return USAGE;
}
