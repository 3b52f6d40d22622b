import { ChangeSides } from './change-sides.js';
import { approvingMeans, forWhom, pinLine, rejectingMeans, undecidable } from './change-words.js';
import { CardView } from './card-view.js';
import { CopyLine, Digest } from './copy-line.js';
import { instantText } from './freshness.js';
import { agentPath, changePath } from './needs.js';
import { ReasonForm } from './reason-form.js';
import { ReplyOf } from './reply-of.js';
import { linkTo } from './routes.js';
import { VerdictMark } from './state-mark.js';
import { Text } from './stranger-text.js';
import { html } from './view.js';

/** @import { Model, State } from './model.js' */
/** @import { AgentDetail, Change, Pending, Waiting } from './shapes.ts' */

/**
 * What waits for a decision on one agent's card: each version that its origin has.
 * @param {{ readonly agent: string, readonly replies: State['replies'], readonly model: Model }} props
 */
export function ChangeView({ agent, replies, model }) {
  const detail = replies.get(agentPath(agent));
  return html`<p class="trail"><a href="#/agents">Agents</a> / <a href=${linkTo({ view: 'agent', agent })}><${Text} value=${agent} room=${200} /></a></p>
    <h1 tabindex="-1">Change of <${Text} value=${agent} room=${200} /></h1>
    <${ReplyOf} reply=${replies.get(changePath(agent))} show=${(/** @type {Waiting} */ waiting) =>
      waiting.pending.length === 0
        ? html`<${NothingWaits} agent=${agent} />`
        : html`${waiting.suspended !== null && html`<p class="problem">${waiting.suspended}</p>`}
          ${waiting.pending.map(
            (one) => html`<${One} key=${`${one.variant} ${one.digest}`} pending=${one} waiting=${waiting} model=${model}
            review=${detail?.ok === true ? /** @type {AgentDetail} */ (detail.value).review : null} />`,
          )}`} />`;
}

/** @param {{ readonly agent: string }} props */
const NothingWaits = ({ agent }) => html`<div class="empty"><p>Nothing waits for you here.</p>
  <p><a href=${linkTo({ view: 'agent', agent })}>See the card that is in force, and who approved it</a></p></div>`;

/** @type {Readonly<Record<Pending['why'], string>>} */
const WHY = {
  held: 'It waits for review',
  blocked: 'The rule blocks it',
  'first-use': 'It is the first card, and waits for review',
};

/** @param {{ readonly pending: Pending, readonly waiting: Waiting, readonly review: AgentDetail['review'] | null, readonly model: Model }} props */
function One({ pending, waiting, review, model }) {
  const { agent } = waiting;
  const changes = /** @type {readonly Change[]} */ (/** @type {unknown} */ (pending.changes));
  return html`<article class="pending">
    <p class="lead">${WHY[pending.why]}${forWhom(pending.variant)}, since ${instantText(pending.since)}. ${
      pending.inForce === null
        ? 'Nothing is in force, so nothing is served.'
        : `The card in force is served until ${instantText(pending.until)}.`
    } Offered by <span class="mono"><${Text} value=${pending.url} room=${200} /></span>.</p>
    <${Signatures} pending=${pending} review=${review} />
    ${changes.length > 0 ? html`<${ChangeSides} changes=${changes} />` : html`<section class="class"><h2>The card</h2><${CardView} card=${pending.card} /></section>`}
    <${Decide} pending=${pending} waiting=${waiting} model=${model} />
    <section class="gitops"><h2>For a file in Git</h2>
      <p class="dim">A pins file approves this content in every Pod that mounts it:</p>
      <${CopyLine} text=${pinLine(agent, pending.digest)} label="the line for the pins file" />
      <p class="dim">The digest alone:</p>
      <${CopyLine} text=${pending.digest} label="the digest" /></section>
  </article>`;
}

/** Who vouches, before and after. @param {{ readonly pending: Pending, readonly review: AgentDetail['review'] | null }} props */
function Signatures({ pending, review }) {
  const before = review?.inForce.find(({ variant }) => variant === pending.variant)?.verdict ?? null;
  return html`<dl class="standing">
    <div><dt>Signature in force</dt><dd><${VerdictMark} verdict=${before} /></dd></div>
    <div><dt>Signature of what is offered</dt><dd>${
      pending.refusal === null
        ? html`<${VerdictMark} verdict=${pending.verdict} />`
        : html`<strong class="code">${pending.refusal.code}</strong> <${Text} value=${pending.refusal.detail} />`
    }</dd></div>
    <div class="wide"><dt>Digest of what is offered</dt><dd><${Digest} digest=${pending.digest} /></dd></div>
  </dl>`;
}

/** @param {{ readonly pending: Pending, readonly waiting: Waiting, readonly model: Model }} props */
function Decide({ pending, waiting, model }) {
  const { agent } = waiting;
  const why = undecidable(pending, waiting);
  if (why !== undefined) return html`<section class="decide"><h2>Decide</h2><p>${why}</p></section>`;
  const decide = (/** @type {string} */ choice, /** @type {string} */ reason) =>
    model.order({
      method: 'POST',
      path: `${agentPath(agent)}/${choice}`,
      body: { digest: pending.digest, reason },
      done:
        choice === 'approve'
          ? `Approved: ${agent} serves this card now.`
          : `Rejected: ${agent} does not serve this card.`,
    });
  return html`<section class="decide"><h2>Decide</h2>
    <div class="means"><div><h3>Approving means</h3><ul>${approvingMeans(pending, waiting).map((line) => html`<li key=${line}>${line}</li>`)}</ul></div>
      <div><h3>Rejecting means</h3><ul>${rejectingMeans(pending).map((line) => html`<li key=${line}>${line}</li>`)}</ul></div></div>
    <${ReasonForm} id=${`reason-${pending.variant}-${pending.digest}`} decide=${decide}
      choices=${[{ name: 'approve', label: 'Approve this card', kind: 'main' }, { name: 'reject', label: 'Reject it' }]} />
  </section>`;
}
