import type { Word } from './word-marks.ts';

/** How marked words look: their own brackets where there is no colour. */
export type Paint = (word: string) => string;

/** A line of a column: what is written, and how many cells it takes on the screen. */
interface Line {
  readonly text: string;
  readonly cells: number;
}

/** Letters of East Asia and pictures take two cells; marks and what is invisible take none. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

const cellsOf = (text: string): number =>
  [...text].reduce((sum, char) => sum + (/\p{M}/u.test(char) ? 0 : WIDE.test(char) ? 2 : 1), 0);

/** Breaks words into lines of at most `width` cells; a word that is longer than a line is broken where it must be. */
export function wrap(words: readonly Word[], width: number, paint: Paint): readonly Line[] {
  const lines: Line[] = [];
  let [text, cells, isBroken] = ['', 0, false];
  const end = (broken: boolean): void => {
    lines.push({ text, cells });
    [text, cells, isBroken] = ['', 0, broken];
  };
  for (const word of words) {
    if (word.text === '\n') end(false);
    else
      for (const part of pieces(word, width, paint)) {
        if (cells > 0 && cells + part.cells > width) end(true);
        // A space at a break is the break; at the start of a line of JSON it is part of it.
        if (cells === 0 && isBroken && part.plain.trim() === '') continue;
        text += part.text;
        cells += part.cells;
      }
  }
  if (cells > 0 || lines.length === 0) end(false);
  return lines;
}

interface Piece extends Line {
  readonly plain: string;
}

function pieces({ text, marked }: Word, width: number, paint: Paint): readonly Piece[] {
  const extra = marked ? cellsOf(stripped(paint(''))) : 0;
  const room = Math.max(2, width - extra);
  const found: Piece[] = [];
  let plain = '';
  const cut = (): void => {
    if (plain !== '') found.push({ plain, text: marked ? paint(plain) : plain, cells: cellsOf(plain) + extra });
    plain = '';
  };
  for (const char of text) {
    if (cellsOf(plain + char) > room) cut();
    plain += char;
  }
  cut();
  return found;
}

/** Without the sequences that colour it. */
const stripped = (text: string): string => text.replaceAll(/\u001b\[[0-9;]*m/g, '');

const MIDDLE = ' │ ';

/** Sets two columns side by side, each wrapped to its half. */
export function sideBySide(
  [left, right]: readonly [readonly Word[], readonly Word[]],
  [removed, added]: readonly [Paint, Paint],
  width: number,
): readonly string[] {
  const half = Math.max(8, Math.floor((width - MIDDLE.length) / 2));
  const [before, after] = [wrap(left, half, removed), wrap(right, half, added)];
  return Array.from({ length: Math.max(before.length, after.length) }, (_, at) => {
    const { text, cells } = before[at] ?? { text: '', cells: 0 };
    return `${text}${' '.repeat(Math.max(0, half - cells))}${MIDDLE}${after[at]?.text ?? ''}`.trimEnd();
  });
}
