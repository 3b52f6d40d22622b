import { CHANGE_CLASSES } from '../kernel/change.ts';
import { type Paint, sideBySide, wrap } from './columns.ts';
import type { Io } from './command.ts';
import { cell, plainText, widthOf } from './terminal.ts';
import { type Word, markWords, wordsOf } from './word-marks.ts';

/** A change as it is shown: of two files, or as the daemon answers. */
export type ShownChange = Readonly<Record<string, unknown>>;

/** The paints of words that are gone and words that are new. */
export type Paints = readonly [Paint, Paint];

/** Brackets as `git diff --word-diff` has them, for whoever cannot or does not want to see colour. */
const BRACKETS: Paints = [(word) => `[-${word}-]`, (word) => `{+${word}+}`];
const COLOURS: Paints = [(word) => `\u001b[31;4m${word}\u001b[0m`, (word) => `\u001b[32;4m${word}\u001b[0m`];

/** Colour only for a terminal, and not where NO_COLOR says no. */
export const paintsFor = ({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Paints =>
  'isTTY' in stdout && stdout.isTTY === true && !env['NO_COLOR'] ? COLOURS : BRACKETS;

/** What a page is wide where nothing says otherwise. */
const USUAL_WIDTH = 100;
/** Below this, two columns are two ribbons: the texts stand under each other. */
const NARROW = 64;

/** Shows changes class by class, each before and after beside each other, the words that differ marked. */
export function changeView(changes: readonly ShownChange[], io: Pick<Io, 'stdout' | 'env'>): string {
  const width = widthOf(io);
  const room = Number.isFinite(width) ? Math.max(20, width) : USUAL_WIDTH;
  const paints = paintsFor(io);
  const blocks = CHANGE_CLASSES.flatMap((name) => {
    const of = changes.filter((change) => change['class'] === name);
    return of.length === 0 ? [] : [[name, ...of.flatMap((change) => changeLines(change, room, paints))]];
  });
  return blocks.map((lines) => lines.map((line) => `${line}\n`).join('')).join('\n');
}

function changeLines(change: ShownChange, width: number, paints: Paints): readonly string[] {
  const texts = sidesOf(change);
  const head = wrap(wordsOf(headOf(change)), width - 2, (word) => word).map(({ text }) => `  ${text.trimEnd()}`);
  const body =
    width < NARROW
      ? [...signed('-', texts[0], paints[0], width), ...signed('+', texts[1], paints[1], width)]
      : sideBySide(texts, paints, width - 4).map((line) => `    ${line}`.trimEnd());
  return [...head, ...body];
}

/** Where it is, and what there is to say about it in a few words. */
function headOf(change: ShownChange): string {
  const { pointer, oldPointer, before, after, effect, cues, required, resembles, of, action } = change;
  const place = of === 'card-url' ? 'the URL of the card' : cell(after === undefined ? oldPointer : pointer);
  const notes = [
    before === undefined ? 'added' : after === undefined ? 'removed' : null,
    effect === null || effect === undefined ? null : cell(effect),
    required === true ? 'required' : null,
    Array.isArray(cues) && cues.length > 0 ? `new: ${cues.map(cell).join(', ')}` : null,
    resemblance(resembles),
    action === undefined ? null : `action: ${cell(action)}`,
  ].filter((note) => note !== null);
  return notes.length === 0 ? place : `${place}  (${notes.join('; ')})`;
}

function resemblance(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('why' in value)) return null;
  return value.why === 'renamed'
    ? `the same as ${cell(value.id)} by another id`
    : `its id reads like ${cell(value.id)}`;
}

function sidesOf({ before, after }: ShownChange): readonly [readonly Word[], readonly Word[]] {
  if (before === undefined) return [[], wordsOf(shown(after))];
  if (after === undefined) return [wordsOf(shown(before)), []];
  return markWords(shown(before), shown(after));
}

/** Lines stay lines; nothing else of a stranger's text moves the cursor. */
const shown = (value: unknown): string =>
  (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n').map(plainText).join('\n');

function signed(sign: string, words: readonly Word[], paint: Paint, width: number): readonly string[] {
  return words.length === 0 ? [] : wrap(words, width - 6, paint).map(({ text }) => `    ${sign} ${text}`.trimEnd());
}
