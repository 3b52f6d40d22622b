/** Texts of strangers, taken apart so that nothing in them is hidden. */

/** @typedef {{ readonly text: string, readonly unseen: boolean }} Piece `unseen`: code points that a reader would not see, named */

/**
 * What a person does not see, or what turns the text around it: controls, direction and zero-width characters, tags, line
 * separators, halves of characters. U+FE0F makes a picture of a sign and is let be.
 */
const UNSEEN = /(?![\t\n]|\uFE0F)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;
const RUNS = new RegExp(`(?:${UNSEEN.source})+|(?:(?!${UNSEEN.source})[^])+`, 'gu');

/**
 * Takes a text apart into what is seen and what is not.
 * @param {string} text
 * @returns {readonly Piece[]}
 */
export const piecesOf = (text) =>
  (text.match(RUNS) ?? []).map((run) =>
    UNSEEN.test(run) ? { text: `⟨${codePoints(run)}⟩`, unseen: true } : { text: run, unseen: false },
  );

/** More of them in a row tell nothing more. */
const MOST_NAMED = 4;

/** @param {string} run */
function codePoints(run) {
  const points = Array.from(
    run,
    (char) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
  const named = points.slice(0, MOST_NAMED).join(' ');
  return points.length > MOST_NAMED ? `${named} and ${points.length - MOST_NAMED} more` : named;
}

/** A name of what is unseen takes the place of so many letters: a text of nothing else must not fill the page with elements. */
const COSTS = 20;

/**
 * The beginning of a text that there is room for, never half of a character.
 * @param {string} text
 * @param {number} room in UTF-16 code units
 */
export function headOf(text, room) {
  let left = room;
  let end = 0;
  for (const [run] of text.slice(0, room + 1).matchAll(RUNS)) {
    const isUnseen = UNSEEN.test(run);
    if (isUnseen && left < COSTS) break;
    const taken = isUnseen ? run.length : wholeCharacters(run, left);
    end += taken;
    left -= isUnseen ? COSTS : taken;
    if (taken < run.length || left <= 0) break;
  }
  return text.slice(0, Math.min(end, room));
}

/** How many code units of a run there is room for, without half of a character. @param {string} run @param {number} room */
const wholeCharacters = (run, room) =>
  run.length <= room ? run.length : room - (/[\uD800-\uDBFF]/.test(run.charAt(room - 1)) ? 1 : 0);

/**
 * Writes how long a text is.
 * @param {number} length
 */
export const lengthText = (length) => `${length.toLocaleString('en')} characters`;
