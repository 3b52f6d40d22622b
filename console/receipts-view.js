import { Digest } from './copy-line.js';
import { instantText } from './freshness.js';
import { tellReceipt } from './receipt-words.js';
import { ReplyOf } from './reply-of.js';
import { Text } from './stranger-text.js';
import { html } from './view.js';

/** @import { Reply } from './api.js' */
/** @import { Receipt } from './shapes.ts' */

/**
 * The latest receipts as a timeline, the newest first.
 * @param {{ readonly reply: Reply | undefined }} props
 */
export const Receipts = ({ reply }) => html`<section aria-labelledby="receipts">
  <h2 id="receipts">Receipts</h2>
  <${ReplyOf} reply=${reply} show=${(/** @type {{ receipts: readonly Receipt[] }} */ { receipts }) =>
    receipts.length === 0
      ? html`<p class="dim">Nothing has happened yet.</p>`
      : html`<ol class="timeline">${receipts.map((receipt) => html`<${Entry} key=${receipt.id} receipt=${receipt} />`)}</ol>`} />
</section>`;

/** @param {{ readonly receipt: Receipt }} props */
function Entry({ receipt }) {
  const { tone, title, facts, digest } = tellReceipt(receipt);
  return html`<li data-tone=${tone}>
    <time datetime=${new Date(receipt.at).toISOString()}>${instantText(receipt.at)}</time> <code class="dim id">${receipt.id}</code>
    <div><strong>${title}</strong>
      <ul class="facts">${facts.map((fact) => html`<li key=${fact}><${Text} value=${fact} room=${240} /></li>`)}</ul>
      ${digest !== null && html`<${Digest} digest=${digest} />`}</div>
  </li>`;
}
