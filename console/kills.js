import { instantText } from './freshness.js';
import { ReasonForm } from './reason-form.js';
import { linkTo } from './routes.js';
import { Text } from './stranger-text.js';
import { html, useState } from './view.js';

/** @import { Model } from './model.js' */
/** @import { Kill } from './shapes.ts' */

/** @typedef {{ readonly kills: readonly Kill[], readonly persisted: boolean }} Kills */

/**
 * Says on every view that something is stopped.
 * @param {{ readonly kills: readonly Kill[] }} props
 */
export function KillBanner({ kills }) {
  if (kills.length === 0) return null;
  const all = kills.some(({ scope }) => scope === 'all');
  const [first] = kills;
  return html`<aside class="banner" aria-label="Stops in force"><strong>${all ? 'Everything is stopped' : `${kills.length} ${kills.length === 1 ? 'stop is' : 'stops are'} in force`}</strong>
    <span>${first !== undefined && html`<code><${Text} value=${first.scope} room=${100} /></code> since ${instantText(first.at)}: <${Text} value=${first.reason} room=${160} />`}
      ${kills.length > 1 && html` and ${kills.length - 1} more`}</span>
    <a href=${linkTo({ view: 'switch', scope: '' })}>See and lift</a></aside>`;
}

/**
 * Every stop that is in force, each with the way to end it.
 * @param {{ readonly kills: Kills, readonly model: Model }} props
 */
export const ActiveKills = ({ kills: { kills, persisted }, model }) => html`<section aria-labelledby="active">
  <h2 id="active">In force</h2>
  ${!persisted && html`<p class="problem">These stops are not on the disk: a restart would not know them.</p>`}
  ${
    kills.length === 0
      ? html`<p class="dim">Nothing is stopped.</p>`
      : html`<ul class="plain kills">${kills.map((kill) => html`<${One} key=${kill.id} kill=${kill} model=${model} />`)}</ul>`
  }
</section>`;

/** @param {{ readonly kill: Kill, readonly model: Model }} props */
function One({ kill, model }) {
  const [lifting, setLifting] = useState(false);
  const lift = (/** @type {string} */ _choice, /** @type {string} */ reason) =>
    model.order({
      method: 'DELETE',
      path: `/kill/${kill.id}`,
      body: { reason },
      done: `Lifted: ${kill.scope} is served again.`,
    });
  return html`<li class="kill">
    <div><code><${Text} value=${kill.scope} room=${200} /></code> <span class="dim">since ${instantText(kill.at)}, by ${kill.by}</span>
      <div>“<${Text} value=${kill.reason} />”</div></div>
    ${
      lifting
        ? html`<${ReasonForm} id=${`lift-${kill.id}`} decide=${lift} choices=${[{ name: 'lift', label: 'Lift it', kind: 'main' }]} />`
        : html`<button type="button" onClick=${() => setLifting(true)}>Lift…</button>`
    }
  </li>`;
}
