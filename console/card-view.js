import { readCard } from './card.js';
import { JsonView } from './json-view.js';
import { Text } from './stranger-text.js';
import { html, useState } from './view.js';

/** @import { Fact, Interface, ReadCard, Skill } from './card.js' */

/**
 * A card as a person reads it, or as JSON.
 * @param {{ readonly card: unknown }} props
 */
export function CardView({ card }) {
  const [as, setAs] = useState('read');
  return html`<div role="group" aria-label="How to show the card" class="chips">
      <button type="button" aria-pressed=${as === 'read'} onClick=${() => setAs('read')}>To read</button>
      <button type="button" aria-pressed=${as === 'json'} onClick=${() => setAs('json')}>As JSON</button>
    </div>
    ${as === 'read' ? html`<${Readable} card=${readCard(card)} />` : html`<${JsonView} value=${card} label="The card as JSON" />`}`;
}

/** @param {{ readonly card: ReadCard }} props */
function Readable({ card }) {
  return html`<div class="card">
    <p class="name"><${Text} value=${card.name} room=${200} /></p>
    <p><${Text} value=${card.description} /></p>
    <${Facts} facts=${card.facts} />
    <h3>Interfaces</h3>
    <${List} of=${card.interfaces} none="It names no interface: nobody can call it." show=${InterfaceLine} />
    <h3>Can</h3>
    <${List} of=${card.capabilities} none="Plain messages only." show=${(/** @type {string} */ one) => html`<${Text} value=${one} room=${200} />`} />
    <h3>Security</h3>
    <p>${card.requirements.length === 0 ? 'Asks callers for nothing.' : html`Asks callers for <${Text} value=${card.requirements.join(', or ')} />.`}</p>
    <${Facts} facts=${card.schemes} />
    <h3>Skills <span class="dim">${card.skills.length}</span></h3>
    <${List} of=${card.skills} none="It offers no skill." show=${SkillBlock} />
  </div>`;
}

/** A card may list thousands of things, and nobody reads them. */
const MOST = 50;

/**
 * @template T
 * @param {{ readonly of: readonly T[], readonly none: string, readonly show: (one: T) => unknown }} props
 */
function List({ of, none, show }) {
  const [room, setRoom] = useState(MOST);
  if (of.length === 0) return html`<p class="dim">${none}</p>`;
  return html`<ul class="plain">${of.slice(0, room).map((one, at) => html`<li key=${at}>${show(one)}</li>`)}</ul>
    ${of.length > room && html`<button type="button" class="quiet" onClick=${() => setRoom(room + MOST)}>Show more <span class="dim">(${of.length - room} left)</span></button>`}`;
}

/** URLs are text: a card must not lead whoever reads it anywhere. @param {Interface} one */
const InterfaceLine = ({ url, binding, version, tenant }) =>
  html`<span class="mono"><${Text} value=${url} room=${300} /></span> <span class="dim"><${Text} value=${[binding, version, tenant && `tenant ${tenant}`].filter(Boolean).join(' · ')} room=${200} /></span>`;

/** @param {Skill} skill */
const SkillBlock = ({ name, id, description, tags, examples, facts }) => html`<div class="skill">
  <h4><${Text} value=${name || id} room=${200} /> <span class="dim mono"><${Text} value=${id} room=${100} /></span></h4>
  <p><${Text} value=${description} /></p>
  ${examples.length > 0 && html`<${List} of=${examples} none="" show=${(/** @type {string} */ one) => html`<q><${Text} value=${one} room=${300} /></q>`} />`}
  ${tags.length > 0 && html`<p class="tags"><${Text} value=${tags.join(' · ')} room=${300} /></p>`}
  <${Facts} facts=${facts} />
</div>`;

/** @param {{ readonly facts: readonly Fact[] }} props */
export const Facts = ({ facts }) =>
  facts.length === 0
    ? null
    : html`<dl class="facts">${facts
        .slice(0, MOST)
        .map(
          ({ label, text }) =>
            html`<div key=${label}><dt><${Text} value=${label} room=${80} /></dt><dd><${Text} value=${text} room=${300} /></dd></div>`,
        )}</dl>`;
