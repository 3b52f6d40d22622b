import { headOf, lengthText, piecesOf } from './text.js';
import { html, useState } from './view.js';

/** How much more each click shows: a text of a mebibyte is read by few, and must not stop the page. */
const STEP = 4_000;

/**
 * A text that somebody else wrote: it stands for itself, turns nothing around it, and what cannot be seen in it is named. A long one
 * is cut, and says how much there is.
 * @param {{ readonly value: string, readonly room?: number }} props
 */
export function Text({ value, room = 600 }) {
  const [more, setMore] = useState(0);
  const head = headOf(value, room + more);
  const left = value.length - head.length;
  return html`<bdi class="text">${seenPieces(head)}</bdi>${
    left > 0 &&
    html` <button type="button" class="quiet" onClick=${() => setMore(more + STEP)}>
      Show more <span class="dim">(${lengthText(left)} left)</span>
    </button>`
  }`;
}

/** @param {string} text */
export const seenPieces = (text) =>
  piecesOf(text).map((piece) =>
    piece.unseen ? html`<span class="unseen" title="characters that cannot be seen">${piece.text}</span>` : piece.text,
  );
