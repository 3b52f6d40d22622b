import { Text } from './stranger-text.js';
import { html } from './view.js';

/** @import { Problem, Reply } from './api.js' */

/**
 * What a reply has, or why it has nothing.
 * @template T
 * @param {{ readonly reply: Reply | undefined, readonly show: (value: T) => unknown }} props
 */
export function ReplyOf({ reply, show }) {
  if (reply === undefined) return html`<p class="dim waiting">Reading…</p>`;
  if (!reply.ok) return html`<${ProblemNote} problem=${reply.problem} />`;
  return show(/** @type {T} */ (reply.value));
}

/**
 * A problem: its code, and what to change.
 * @param {{ readonly problem: Problem }} props
 */
export const ProblemNote = ({ problem: { code, detail } }) =>
  html`<p class="problem"><strong class="code">${code}</strong> <${Text} value=${detail} /></p>`;
