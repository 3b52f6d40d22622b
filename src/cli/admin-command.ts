import { type AdminAsk, type AdminReply, Unreachable, createAdminClient } from './admin-client.ts';
import { type Flag, type Flags, JSON_FLAG, parseArgs } from './args.ts';
import type { Command, Io } from './command.ts';
import { DAEMON_FLAGS, NotFound, findAdmin } from './find-daemon.ts';
import { usageProblems } from './help.ts';
import { plainText } from './terminal.ts';

/** What an administrator's command does once the daemon is found. */
export interface AdminCall<Table extends { readonly [name: string]: Flag }> {
  readonly ask: AdminAsk;
  readonly flags: Flags<Table & typeof COMMON>;
  readonly operands: readonly string[];
  readonly io: Io;
  /** Writes a problem for a person, or the answer as it is where JSON is wanted; resolves to the exit code. */
  fail(reply: AdminReply): number;
  /** Writes what a person reads, or the answer as it is. */
  show(reply: AdminReply, text: () => string): void;
}

export interface AdminSpec<Table extends { readonly [name: string]: Flag }> {
  readonly name: string;
  readonly operands: string;
  readonly count: { readonly least: number; readonly most: number };
  readonly summary: string;
  readonly help: string;
  readonly flags: Table;
  readonly exits?: string;
  readonly run: (call: AdminCall<Table>) => Promise<number>;
}

/** Nothing answers where the daemon should be. */
export const UNREACHABLE = 3;

export const COMMON = { ...DAEMON_FLAGS, json: JSON_FLAG } as const;

export const REASON_FLAG = { takes: 'REASON', doc: 'Why; whoever reads the receipts wants to know.' } as const;

/** For orders that nobody may give without saying why. */
export const NEEDED_REASON = { ...REASON_FLAG, isNeeded: true } as const;

/** Makes a command that talks to the running daemon. */
export function adminCommand<const Table extends { readonly [name: string]: Flag }>(spec: AdminSpec<Table>): Command {
  const flags = { ...spec.flags, ...COMMON };
  const command: Command = {
    name: spec.name,
    operands: spec.operands,
    summary: spec.summary,
    help: spec.help,
    flags,
    settings: false,
    exits: spec.exits ?? '0 done · 1 refused · 2 called wrongly · 3 no daemon answers',
    async run(io) {
      const args = parseArgs(io.argv, { flags, settings: false, operands: spec.count });
      if (!args.ok) return usageProblems(command, args.problems, io);
      // The parser gives every flag of the table its value; of a generic table TypeScript cannot see which.
      const common = args.flags as Flags<typeof COMMON>;
      try {
        const ask = createAdminClient(await findAdmin(common, io));
        return await spec.run({
          ask,
          flags: args.flags,
          operands: args.operands,
          io,
          ...writers(spec.name, common.json, io),
        });
      } catch (error) {
        return unreachable(spec.name, error, io);
      }
    },
  };
  return command;
}

/** Says that no daemon answers; anything else is a bug and rises. */
export function unreachable(name: string, error: unknown, io: Io): number {
  if (!(error instanceof Unreachable) && !(error instanceof NotFound)) throw error;
  io.stderr.write(`cardea ${name}: ${error.message}\n`);
  return UNREACHABLE;
}

function writers(name: string, isJson: boolean, io: Io): Pick<AdminCall<Record<string, never>>, 'fail' | 'show'> {
  return {
    fail(reply) {
      if (isJson) io.stdout.write(ended(reply.text));
      else io.stderr.write(`cardea ${name}: ${problemLine(reply)}\n`);
      return 1;
    },
    show: (reply, text) => void io.stdout.write(isJson ? ended(reply.text) : text()),
  };
}

const ended = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

function problemLine({ status, text }: AdminReply): string {
  const { code, detail } = membersOf(text);
  return typeof code === 'string' ? plainText(`${code}: ${String(detail)}`) : `the daemon answered ${status}`;
}

/** Reads the object of an answer; empty for anything else. */
export function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads a list of objects out of an answer. */
export function listOf(text: string, name: string): readonly Readonly<Record<string, unknown>>[] {
  const list = membersOf(text)[name];
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
