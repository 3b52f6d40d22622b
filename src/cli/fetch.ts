import { loadConfig } from '../config/load.ts';
import { formatProblem } from '../config/place.ts';
import { CONFIG_FLAG, JSON_FLAG, parseArgs } from './args.ts';
import type { ValidConfig } from './check.ts';
import { type Command, type Io, USAGE } from './command.ts';
import { usageProblems } from './help.ts';
import { inspectKeys } from './inspect-keys.ts';
import { plainText } from './terminal.ts';

/** One card as it went through the whole pipeline. */
export interface FetchedCard {
  /** The name of the agent, or the URL where it was asked for by that. */
  readonly target: string;
  /** Everything that is known of the exchange and the verdict, ready for JSON; no secret. */
  readonly report: Readonly<Record<string, unknown>>;
  /** The card as it would be served; null where it is refused. */
  readonly card: Uint8Array | null;
  /** The verdict and its reason. */
  readonly lines: readonly string[];
}

/** Fetches one card as the daemon would, without one. Null for what is neither the name of an agent nor a URL. */
export type FetchOne = (config: ValidConfig, target: string) => Promise<FetchedCard | null>;

const FLAGS = { config: CONFIG_FLAG, json: JSON_FLAG } as const;

/** `cardea fetch AGENT|URL`: one card through the whole pipeline. */
export function fetchCommand(fetchOne: FetchOne): Command {
  const command: Command = {
    name: 'fetch',
    operands: 'AGENT|URL',
    summary: 'Fetches one card without a daemon and says the verdict',
    help: `It does everything that the daemon does with a card: the allowlist, name and address checks, TLS, the card's own
rules. The card goes to standard output; the rule, the names, the addresses with their classes, the certificate and the
verdict go to standard error; --json puts all in one document. A refusal names the line that would allow it.

  cardea fetch weather --config cardea.yaml
  cardea fetch https://agents.example.com/planner/card.json --json`,
    flags: FLAGS,
    settings: true,
    exits: '0 accepted · 1 refused · 2 usage or bad configuration',
    run: (io) => runFetch(command, fetchOne, io),
  };
  return command;
}

async function runFetch(command: Command, fetchOne: FetchOne, io: Io): Promise<number> {
  const args = parseArgs(io.argv, { flags: FLAGS, settings: true, operands: { least: 1, most: 1 } });
  if (!args.ok) return usageProblems(command, args.problems, io);
  const config = await loadConfig({ ...io, inspectKeys, file: args.flags.config, flags: args.settings });
  if (!config.ok) {
    for (const problem of config.problems) io.stderr.write(`${formatProblem(problem)}\n`);
    return USAGE;
  }
  const [target = ''] = args.operands;
  const fetched = await fetchOne(config, target);
  if (fetched === null) {
    const names = [...config.settings.agents.keys()].join(', ');
    io.stderr.write(
      `cardea fetch: no agent has this name, and it is no URL; there are: ${names === '' ? 'none' : names}\n`,
    );
    return USAGE;
  }
  print(fetched, args.flags.json, io);
  return fetched.card === null ? 1 : 0;
}

function print({ report, card, lines }: FetchedCard, json: boolean, io: Io): void {
  const text = card === null ? null : new TextDecoder().decode(card);
  if (json) {
    io.stdout.write(`${JSON.stringify({ ...report, card: text === null ? null : parsed(text) }, null, 2)}\n`);
    return;
  }
  // A certificate's subject and a card's name are a stranger's.
  for (const line of lines) io.stderr.write(`${plainText(line)}\n`);
  if (text !== null) io.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** A card is JSON; what a rule with `content: any` covers may be anything, and is shown as text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
