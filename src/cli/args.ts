import { nearest } from '../config/nearest.ts';
import { type FlagValue, namedSettings } from '../config/overrides.ts';
import { quote } from '../config/place.ts';
import { SCHEMA } from '../config/schema.ts';

/** The flags of one command, by name without dashes. */
export type FlagTable = { readonly [name: string]: Flag };

export interface Flag {
  /** What stands for its value in the help: `FILE`; null for a switch. */
  readonly takes: string | null;
  /** One letter that stands for it: `f` for `-f`. */
  readonly short?: string;
  /** The command does nothing without it. */
  readonly isNeeded?: boolean;
  readonly doc: string;
}

/** What each flag came to: its value or null, and for a switch whether it is there. */
export type Flags<Table extends FlagTable> = {
  readonly [Name in keyof Table]: Table[Name]['takes'] extends null ? boolean : string | null;
};

/** How a command is called. */
export interface Usage<Table extends FlagTable> {
  readonly flags: Table;
  /** True where every setting may be given as a flag. */
  readonly settings: boolean;
  /** How many operands there may be. */
  readonly operands: { readonly least: number; readonly most: number };
}

export type ParsedArgs<Table extends FlagTable> =
  | {
      readonly ok: true;
      readonly flags: Flags<Table>;
      readonly operands: readonly string[];
      readonly settings: readonly FlagValue[];
    }
  /** Each a line for the user. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** The flags that every command which reads the configuration has. */
export const CONFIG_FLAG = {
  takes: 'FILE',
  doc: 'The configuration; else cardea.yaml, then /etc/cardea/cardea.yaml.',
} as const;
export const JSON_FLAG = { takes: null, doc: 'One JSON document instead of text.' } as const;

/** Reads `--flag value`, `--flag=value`, switches and operands; what follows `--` is operands. */
export function parseArgs<const Table extends FlagTable>(
  argv: readonly string[],
  usage: Usage<Table>,
): ParsedArgs<Table> {
  const known = knownFlags(usage);
  const given = split(argv, known);
  const problems = [...given.problems];
  if (given.operands.length < usage.operands.least) problems.push(missingOperand(usage.operands.least));
  problems.push(...missingFlags(usage.flags, given.flags));
  const extra = given.operands.slice(usage.operands.most);
  problems.push(...extra.map((word) => `unexpected ${quote(word)}`));
  if (problems.length > 0) return { ok: false, problems };
  const named = Object.entries(usage.flags).map(([name, { takes }]) => {
    const last = given.flags.findLast(({ flag }) => flag === `--${name}`);
    return [name, takes === null ? last !== undefined : (last?.value ?? null)];
  });
  const settings = given.flags.filter(({ flag }) => known.get(flag)?.isSetting === true);
  return { ok: true, flags: Object.fromEntries(named) as Flags<Table>, operands: given.operands, settings };
}

const missingOperand = (least: number): string =>
  least === 1 ? 'what it is about is missing' : `${least} operands are needed`;

/** Each flag that the command does nothing without and that is not there, as it is written. */
function missingFlags(table: FlagTable, given: readonly FlagValue[]): readonly string[] {
  const missing = Object.entries(table).filter(
    ([name, { isNeeded }]) => isNeeded === true && !given.some(({ flag }) => flag === `--${name}`),
  );
  return missing.map(([name, { takes }]) => `--${name}${takes === null ? '' : ` ${takes}`} is missing`);
}

interface KnownFlag {
  /** What it is in full, where it is known by a letter. */
  readonly flag: string;
  readonly isSwitch: boolean;
  readonly isSetting: boolean;
}

function knownFlags({ flags, settings }: Pick<Usage<FlagTable>, 'flags' | 'settings'>): ReadonlyMap<string, KnownFlag> {
  const known = new Map<string, KnownFlag>();
  const all = settings ? namedSettings(SCHEMA) : [];
  for (const { flag, isSwitch } of all) known.set(flag, { flag, isSwitch, isSetting: true });
  for (const [name, { takes, short }] of Object.entries(flags)) {
    const found = { flag: `--${name}`, isSwitch: takes === null, isSetting: false };
    known.set(found.flag, found);
    if (short !== undefined) known.set(`-${short}`, found);
  }
  return known;
}

interface Split {
  readonly flags: readonly FlagValue[];
  readonly operands: readonly string[];
  readonly problems: readonly string[];
}

function split(argv: readonly string[], known: ReadonlyMap<string, KnownFlag>): Split {
  const flags: FlagValue[] = [];
  const operands: string[] = [];
  const problems: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--') return { flags, operands: [...operands, ...argv.slice(at + 1)], problems };
    if (!word.startsWith('-') || word === '-') {
      operands.push(word);
      continue;
    }
    const [, flag = word, attached] = /^(--?[^=]*)=(.*)$/s.exec(word) ?? [];
    const found = known.get(flag);
    const next = argv[at + 1];
    if (found === undefined) problems.push(unknownFlag(flag, known));
    else if (attached !== undefined && found.isSwitch && !found.isSetting) problems.push(`${flag} takes no value`);
    else if (attached !== undefined) flags.push({ flag: found.flag, value: attached });
    else if (found.isSwitch) flags.push({ flag: found.flag, value: 'true' });
    else if (next === undefined || next.startsWith('--')) problems.push(`${flag} needs a value`);
    else {
      flags.push({ flag: found.flag, value: next });
      at += 1;
    }
  }
  return { flags, operands, problems };
}

function unknownFlag(flag: string, known: ReadonlyMap<string, KnownFlag>): string {
  const near = nearest(flag, known.keys());
  return near === null ? `unknown flag ${flag}` : `unknown flag ${flag}; did you mean ${near}?`;
}
