import { styleText } from 'node:util';
import type { Io } from './command.ts';

/** Text for people: nothing of a stranger's reaches the terminal as a command to it, and tables fit. */

/** Shows control characters as what they are: an escape sequence in a card's version must not move a cursor. */
export const plainText = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (each) => `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`);

/** Writes a member of an answer: `-` for what is not there. */
export const cell = (value: unknown): string =>
  value === null || value === undefined || value === ''
    ? '-'
    : plainText(typeof value === 'string' ? value : JSON.stringify(value));

/** How wide the terminal is; Infinity where the output goes elsewhere, and nothing is to be cut. */
export function widthOf({ stdout, env }: Pick<Io, 'stdout' | 'env'>): number {
  if ('columns' in stdout && typeof stdout.columns === 'number' && stdout.columns > 0) return stdout.columns;
  const columns = Number(env['COLUMNS']);
  return Number.isInteger(columns) && columns > 0 ? columns : Number.POSITIVE_INFINITY;
}

const GAP = '  ';

/** Lays rows out in columns; lines that are too long for the terminal lose their end. */
export function table(rows: readonly (readonly string[])[], width: number): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((text, at) => (widths[at] = Math.max(widths[at] ?? 0, text.length)));
  const lines = rows.map((row) =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join(GAP)
      .trimEnd(),
  );
  return lines.map((line) => `${line.length > width ? `${line.slice(0, Math.max(1, width - 1))}…` : line}\n`).join('');
}

/** An instant in ms as people read it, to the second. */
export const instant = (value: unknown): string =>
  typeof value === 'number' && value > 0 ? new Date(value).toISOString().replace(/\.\d+Z$/, 'Z') : '-';

/** A span in ms as people say it: `45s`, `12m`, `3h`, `2d`. */
export function span(length: number): string {
  const seconds = Math.round(length / 1_000);
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)}h` : `${Math.round(seconds / 86_400)}d`;
}

type Colour = 'green' | 'yellow' | 'red' | 'bold' | 'dim';

/** True where a person looks on and did not ask for plain text (no-color.org). */
const isTerminal = (output: Io['stdout'], env: Io['env']): boolean =>
  'isTTY' in output && output.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';

/** Colours a text on a terminal, and leaves it as it is elsewhere. */
export const paint = (colour: Colour, text: string, { stdout, env }: Io): string =>
  isTerminal(stdout, env) ? styleText(colour, text, { validateStream: false }) : text;

/** Tells a person what takes so long, in a line that gives way to what comes next; says nothing elsewhere. Null takes it away. */
export function showProgress({ stderr, env }: Io): (text: string | null) => void {
  if (!isTerminal(stderr, env)) return () => undefined;
  return (text) => void stderr.write(text === null ? '\r\u001b[K' : `\r\u001b[K${plainText(text)} …`);
}
