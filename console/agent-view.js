import { Setback } from './agent-row.js';
import { Digest } from './copy-line.js';
import { FreshnessBar, Since } from './freshness-bar.js';
import { spanText } from './freshness.js';
import { History } from './history-view.js';
import { agentPath, explainPath, receiptsPath } from './needs.js';
import { Receipts } from './receipts-view.js';
import { ReplyOf } from './reply-of.js';
import { linkTo } from './routes.js';
import { ServedCard } from './served-card.js';
import { ReviewMark, StateMark, VerdictMark } from './state-mark.js';
import { Text } from './stranger-text.js';
import { html, useState } from './view.js';

/** @import { Model, State } from './model.js' */
/** @import { AgentDetail } from './shapes.ts' */
/** @import { Ticker } from './ticker.js' */

/** @typedef {{ readonly agent: string, readonly replies: State['replies'], readonly model: Model, readonly ticker: Ticker }} Props */

/**
 * One agent: how it stands and why, its card, its history, its receipts.
 * @param {Props} props
 */
export function AgentView({ agent, replies, model, ticker }) {
  return html`<p class="trail"><a href="#/agents">Agents</a></p>
    <div class="heading"><h1 tabindex="-1"><${Text} value=${agent} room=${200} /></h1>
      <div class="buttons"><${Refresh} agent=${agent} model=${model} />
        <a class="button" href=${linkTo({ view: 'switch', scope: `agent:${agent}` })}>Stop it…</a></div></div>
    <${ReplyOf} reply=${replies.get(agentPath(agent))} show=${(/** @type {AgentDetail} */ detail) => html`
      <${Standing} detail=${detail} ticker=${ticker} />
      <div class="columns">
        <div>
          <section aria-labelledby="why"><h2 id="why">What callers get, and why</h2>
            <${ReplyOf} reply=${replies.get(explainPath(agent))} show=${Because} /></section>
          <section aria-labelledby="card"><h2 id="card">The card that is served</h2>
            <${ServedCard} agent=${agent} digest=${detail.digest} model=${model} /></section>
        </div>
        <div>
          <section aria-labelledby="rule"><h2 id="rule">What a change would meet</h2><${Rule} review=${detail.review} /></section>
          <section aria-labelledby="history"><h2 id="history">History</h2><${History} review=${detail.review} /></section>
          <${Receipts} reply=${replies.get(receiptsPath(agent))} />
        </div>
      </div>`} />`;
}

/** @param {Pick<Props, 'agent' | 'model'>} props */
function Refresh({ agent, model }) {
  const [busy, setBusy] = useState(false);
  const refresh = async () => {
    setBusy(true);
    await model.order({
      method: 'POST',
      path: `${agentPath(agent)}/refresh`,
      body: {},
      done: `${agent} was asked anew.`,
    });
    setBusy(false);
  };
  return html`<button type="button" aria-disabled=${busy} onClick=${() => busy || refresh()}>${busy ? 'Asking…' : 'Ask the origin now'}</button>`;
}

/** @param {{ readonly detail: AgentDetail, readonly ticker: Ticker }} props */
function Standing({ detail, ticker }) {
  const count = detail.review.pending.length;
  return html`<dl class="standing">
    <div><dt>State</dt><dd><${StateMark} state=${detail.state} /></dd></div>
    <div><dt>Freshness</dt><dd><${FreshnessBar} agent=${detail} ticker=${ticker} /></dd></div>
    <div><dt>Last answer of the origin</dt><dd><${Since} at=${detail.lastSuccess} ticker=${ticker} />${detail.lastSuccess > 0 ? ' ago' : ''}</dd></div>
    <div><dt>Signature</dt><dd><${VerdictMark} verdict=${detail.verdict} /></dd></div>
    <div><dt>Review</dt><dd>${
      count === 0
        ? html`<${ReviewMark} reviewed=${detail.reviewed} />`
        : html`<a href=${linkTo({ view: 'change', agent: detail.agent })}>${count} ${count === 1 ? 'card waits' : 'cards wait'} for you</a>`
    }</dd></div>
    ${detail.registry !== null && html`<div><dt>Registry</dt><dd><${Registry} registry=${detail.registry} /></dd></div>`}
    <div><dt>Version</dt><dd><${Text} value=${detail.version ?? '–'} room=${40} />${detail.protocolVersion !== null && html` <span class="dim">A2A ${detail.protocolVersion}</span>`}</dd></div>
    <div class="wide"><dt>Digest</dt><dd>${detail.digest === null ? '–' : html`<${Digest} digest=${detail.digest} />`}</dd></div>
    <div class="wide"><dt>Fetched from</dt><dd class="mono">${detail.urls.map((url) => html`<div key=${url}><${Text} value=${url} room=${200} /></div>`)}</dd></div>
    <div class="wide"><dt>Last error</dt><dd><${Setback} agent=${detail} ticker=${ticker} /></dd></div>
  </dl>`;
}

/** What the registry says in its own words, and what the configuration makes of that. @param {{ readonly registry: NonNullable<AgentDetail['registry']> }} props */
const Registry = ({ registry: { name, said, action } }) =>
  html`<${Text} value=${said} room=${80} /> <span class="dim">by ${name}: ${action}</span>`;

/** @param {{ readonly because: readonly string[] }} explanation */
const Because = ({ because }) =>
  html`<ul class="because">${because.map((line) => html`<li key=${line}><${Text} value=${line} /></li>`)}</ul>`;

/** @type {Readonly<Record<string, string>>} */
const FIRST_USE = {
  allow: 'The first card that is ever seen is taken.',
  hold: 'The first card that is ever seen waits for a person.',
  pinned: 'The first card is taken only where its digest is pinned.',
};

/** @param {{ readonly review: AgentDetail['review'] }} props */
function Rule({ review: { rule, suspended, inForce } }) {
  const named = Object.entries(rule.actions);
  return html`<ul class="because">
    ${suspended !== null && html`<li><strong>${suspended}</strong></li>`}
    <li>${FIRST_USE[rule.firstUse] ?? rule.firstUse}${inForce.length > 0 && ' One has been seen.'}</li>
    <li>A change that is held waits for a person; what is in force is served for ${spanText(rule.maxHold)} meanwhile.</li>
    ${named.map(([name, action]) => html`<li key=${name}>The configuration says: <code>${name}: ${action}</code></li>`)}
    ${rule.pins.length > 0 && html`<li>${rule.pins.length} ${rule.pins.length === 1 ? 'digest is' : 'digests are'} pinned.</li>`}
  </ul>`;
}
