import type { LintFinding, Publication } from '../card/lint.ts';
import { lintCard } from '../card/lint.ts';
import { JSON_FLAG, parseArgs } from './args.ts';
import type { CardFileReading } from './card-file.ts';
import { readCard, readCardFile } from './card-file.ts';
import type { Command, Io } from './command.ts';
import { usageProblems } from './help.ts';

/** A card as its origin publishes it, or one line about why it could not be had. */
export type PublishedCard =
  | { readonly ok: true; readonly body: Uint8Array; readonly publication: Publication }
  | { readonly ok: false; readonly problem: string };

/** Fetches a card by URL through the daemon's own egress. */
export type FetchPublished = (url: string, io: Io) => Promise<PublishedCard>;

const FLAGS = {
  previous: { takes: 'CARD', doc: 'The card as it was published before: a change wants a new version.' },
  json: JSON_FLAG,
} as const;

/** `cardea lint`: the publication checklist. */
export function lintCommand(fetchPublished: FetchPublished): Command {
  const command: Command = {
    name: 'lint',
    operands: 'CARD|URL',
    summary: 'Holds a card against the publication checklist',
    help: `It checks what a strict reader would refuse, interfaces that clients cannot reach, skills that say too little,
security requirements that fit no scheme, and anything that looks like a secret. A URL is also checked for its
content type, TLS and cache headers.

  cardea lint agent-card.json --previous published.json`,
    flags: FLAGS,
    settings: false,
    exits: '0 nothing found · 1 findings · 2 called wrongly',
    run: (io) => runLint(command, fetchPublished, io),
  };
  return command;
}

async function runLint(command: Command, fetchPublished: FetchPublished, io: Io): Promise<number> {
  const args = parseArgs(io.argv, { flags: FLAGS, settings: false, operands: { least: 1, most: 1 } });
  if (!args.ok) return usageProblems(command, args.problems, io);
  const target = await readTarget(args.operands[0] ?? '', fetchPublished, io);
  if (!target.reading.ok) return fail(target.reading, io);
  const before = args.flags.previous === null ? undefined : await readCardFile(args.flags.previous, io);
  if (before?.ok === false) return fail(before, io);
  const findings = lintCard({
    ...target.reading.file,
    ...(target.publication === undefined ? {} : { publication: target.publication }),
    ...(before === undefined ? {} : { previous: before.file.card }),
  });
  io.stdout.write(args.flags.json ? `${JSON.stringify({ findings }, null, 2)}\n` : describe(findings));
  return findings.length === 0 ? 0 : 1;
}

function fail({ problem, exit }: { readonly problem: string; readonly exit: number }, io: Io): number {
  io.stderr.write(`${problem}\n`);
  return exit;
}

interface Target {
  readonly reading: CardFileReading;
  readonly publication?: Publication;
}

async function readTarget(operand: string, fetchPublished: FetchPublished, io: Io): Promise<Target> {
  if (!/^https?:\/\//i.test(operand)) return { reading: await readCardFile(operand, io) };
  const published = await fetchPublished(operand, io);
  if (!published.ok) return { reading: { ok: false, problem: published.problem, exit: 1 } };
  return { reading: readCard(operand, published.body), publication: published.publication };
}

function describe(findings: readonly LintFinding[]): string {
  if (findings.length === 0) return 'nothing found\n';
  return findings
    .map(
      ({ level, rule, pointer, message }) =>
        `${level.padEnd(7)} ${pointer === '' ? '/' : pointer} ${message} [${rule}]\n`,
    )
    .join('');
}
