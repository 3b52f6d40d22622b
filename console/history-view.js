import { instantText } from './freshness.js';
import { Digest } from './copy-line.js';
import { Text } from './stranger-text.js';
import { html } from './view.js';

/** @import { AgentDetail, Decision, InForceView } from './shapes.ts' */

/** @type {Readonly<Record<InForceView['by'], string>>} */
const BY = { person: 'approved by a person', pin: 'approved by a pin', policy: 'taken by the rule' };

/**
 * Every card that was in force and every decision, the newest first.
 * @param {{ readonly review: AgentDetail['review'] }} props
 */
export function History({ review: { history, inForce, decisions } }) {
  const now = new Set(inForce.map(({ digest, variant }) => `${variant} ${digest}`));
  const told = new Set(history.map(({ digest }) => digest));
  const others = decisions.filter(({ action, digest }) => action === 'reject' || !told.has(digest));
  if (history.length === 0 && decisions.length === 0) return html`<p class="dim">No card has been in force yet.</p>`;
  return html`<ol class="history">
    ${history.map((one) => html`<${Past} key=${`${one.variant} ${one.receipt}`} one=${one} isNow=${now.has(`${one.variant} ${one.digest}`)} decisions=${decisions} />`)}
    ${others.map((one) => html`<li key=${one.id}><${Digest} digest=${one.digest} /><${Decided} decision=${one} /></li>`)}
  </ol>`;
}

/** @param {{ readonly one: InForceView, readonly isNow: boolean, readonly decisions: readonly Decision[] }} props */
function Past({ one, isNow, decisions }) {
  const decision = decisions.find(({ digest, action }) => digest === one.digest && action === 'approve');
  const whom = one.variant === 'any' ? '' : ` for callers of A2A ${one.variant}`;
  return html`<li class=${isNow ? 'now' : ''}>
    <${Digest} digest=${one.digest} />
    <div>${isNow ? html`<strong>in force</strong>` : 'was in force'} since ${instantText(one.at)}${whom}, ${BY[one.by]}, ${one.signature}</div>
    ${decision !== undefined && html`<${Decided} decision=${decision} />`}
  </li>`;
}

/** @param {{ readonly decision: Decision }} props */
const Decided = ({ decision: { action, reason, by, at } }) =>
  html`<div class="dim">${action === 'approve' ? 'approved' : 'rejected'} ${instantText(at)} by ${by}: “<${Text} value=${reason} />”</div>`;
