import { seenPieces } from './stranger-text.js';
import { headOf, lengthText } from './text.js';
import { html, useState } from './view.js';
import { foldRuns } from './words.js';

/** @import { Run } from './words.js' */

/** A reader compares a few hundred pieces; a hostile text has hundreds of thousands. */
const MOST_RUNS = 200;
/** Of one piece, before somebody asks for more. */
const ROOM = 3_000;

/**
 * One side of a comparison: what the other side lacks is marked, and what both have at length is folded.
 * @param {{ readonly runs: readonly Run[], readonly mark: 'ins' | 'del' }} props
 */
export function MarkedText({ runs, mark }) {
  const [room, setRoom] = useState(MOST_RUNS);
  const folded = foldRuns(runs);
  const left = folded.length - room;
  return html`<bdi class="text">${folded.slice(0, room).map((run, at) => html`<${Piece} key=${at} run=${run} mark=${mark} />`)}</bdi>
    ${left > 0 && html`<button type="button" class="quiet" onClick=${() => setRoom(room + MOST_RUNS)}>Show more <span class="dim">(${left} pieces left)</span></button>`}`;
}

/** @param {{ readonly run: Run & { readonly folded?: true }, readonly mark: 'ins' | 'del' }} props */
function Piece({ run, mark }) {
  const [room, setRoom] = useState(run.folded === true ? 0 : ROOM);
  const head = headOf(run.text, room);
  const left = run.text.length - head.length;
  const more =
    left > 0 &&
    html`<button type="button" class="quiet" onClick=${() => setRoom(room + ROOM)}>… <span class="dim">${lengthText(left)} ${run.folded === true ? 'the same' : 'more'}</span> …</button>`;
  const text = seenPieces(head);
  return run.marked ? html`<${mark}>${text}</${mark}>${more}` : html`<span>${text}</span>${more}`;
}
