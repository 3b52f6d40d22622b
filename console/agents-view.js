import { AgentRow } from './agent-row.js';
import { forWhom } from './change-words.js';
import { linkTo } from './routes.js';
import { STATES, countStates, filterAgents, sortAgents, standsInNoRow } from './rows.js';
import { labelOf, meaningOf } from './state-mark.js';
import { html, useEffect, useState } from './view.js';

/** @import { AgentsRoute } from './routes.js' */
/** @import { Column } from './rows.js' */
/** @import { Agent, WaitingChange } from './shapes.ts' */
/** @import { Ticker } from './ticker.js' */

/** @typedef {{ readonly route: AgentsRoute, readonly agents: readonly Agent[], readonly waiting: readonly WaitingChange[], readonly ticker: Ticker, readonly turn: (route: AgentsRoute) => void }} Props */

/**
 * All agents: one row each, the most urgent first.
 * @param {Props} props
 */
export function AgentsView({ route, agents, waiting, ticker, turn }) {
  const found = sortAgents(filterAgents(agents, route), route);
  const beside = html`<${Beside} waiting=${waiting} />`;
  if (agents.length === 0) return html`<h1 tabindex="-1">Agents</h1>${beside}<${NoAgents} />`;
  return html`<div class="heading"><h1 tabindex="-1">Agents</h1><p class="dim" role="status">${countText(found.length, agents.length)}</p></div>
    ${beside}<${Filters} route=${route} agents=${agents} turn=${turn} />
    ${
      found.length === 0
        ? html`<div class="empty"><p>No agent matches this filter.</p>
            <button type="button" onClick=${() => turn({ ...route, state: '', text: '' })}>Show all ${agents.length}</button></div>`
        : html`<${Table} route=${route} agents=${found} ticker=${ticker} turn=${turn} />`
    }`;
}

/** What waits and no row tells of. @param {Pick<Props, 'waiting'>} props */
function Beside({ waiting }) {
  const found = waiting.filter(standsInNoRow);
  if (found.length === 0) return null;
  return html`<div class="said"><p>${found.length === 1 ? 'A card waits' : `${found.length} cards wait`} for you:</p>
    <ul class="plain">${found
      .slice(0, MOST_BESIDE)
      .map(
        ({ agent, variant, digest, classes }) =>
          html`<li key=${`${agent} ${variant} ${digest}`}><a class="mono" href=${linkTo({ view: 'change', agent })}>${agent}</a> <span class="dim">${classes.length === 0 ? 'with nothing to compare it with' : classes.join(', ')}${forWhom(variant)}</span></li>`,
      )}</ul></div>`;
}

/** The rest is in the terminal: cardea review. */
const MOST_BESIDE = 20;

/** @param {number} shown @param {number} all */
const countText = (shown, all) =>
  shown === all ? `${all} ${all === 1 ? 'agent' : 'agents'}` : `${shown} of ${all} agents`;

const NoAgents = () => html`<div class="empty">
  <p>No agent is configured, so there is nothing to serve.</p>
  <p>Name one in the configuration, then run <code>cardea reload</code>:</p>
  <pre>agents:
  weather:
    origin: https://weather.example.com</pre>
</div>`;

/** @param {Omit<Props, 'ticker' | 'waiting'>} props */
function Filters({ route, agents, turn }) {
  const counts = countStates(agents);
  const states = STATES.filter((state) => counts.has(state) || state === route.state);
  return html`<div class="filters">
    <label class="search"><span class="hidden">Search agents</span>
      <input type="search" placeholder="Search names, hosts, errors" value=${route.text}
        onInput=${(/** @type {InputEvent & { target: HTMLInputElement }} */ event) => turn({ ...route, text: event.target.value })} /></label>
    <div role="group" aria-label="Filter by state" class="chips">
      <button type="button" aria-pressed=${route.state === ''} onClick=${() => turn({ ...route, state: '' })}>All <b>${agents.length}</b></button>
      ${states.map(
        (
          state,
        ) => html`<button type="button" key=${state} class="state" data-state=${state} title=${meaningOf(state)} aria-pressed=${route.state === state}
          onClick=${() => turn({ ...route, state: route.state === state ? '' : state })}><i aria-hidden="true" />${labelOf(state)} <b>${counts.get(state) ?? 0}</b></button>`,
      )}
    </div>
  </div>`;
}

/** @type {readonly (readonly [by: Column, label: string])[]} */
const HEADS = [
  ['agent', 'Agent'],
  ['urgency', 'State'],
  ['fresh', 'Freshness'],
  ['age', 'Age'],
  ['signature', 'Signature'],
  ['review', 'Review'],
  ['error', 'Last error'],
];

/** Rows that are drawn at once: more than a screen. The rest follows frame by frame, so that no key press waits for it. */
const BATCH = 60;

/** @param {Omit<Props, 'waiting'>} props */
function Table({ route, agents, ticker, turn }) {
  const shown = useGrowing(agents.length, `${route.state} ${route.text}`);
  return html`<div class="scroll"><table role="table" class="agents">
    <caption class="hidden">Agents and how their cards stand</caption>
    <thead role="rowgroup"><tr role="row">
      ${HEADS.map(
        ([by, label]) => html`<th role="columnheader" scope="col" key=${by} aria-sort=${sortOf(route, by)}>
          <button type="button" onClick=${() => turn(turned(route, by))}>${label}</button></th>`,
      )}
    </tr></thead>
    <tbody role="rowgroup">${agents.slice(0, shown).map((agent) => html`<${AgentRow} key=${agent.agent} agent=${agent} ticker=${ticker} />`)}</tbody>
  </table></div>`;
}

/** @param {AgentsRoute} route @param {Column} by */
const sortOf = (route, by) => (route.by !== by ? 'none' : route.down ? 'descending' : 'ascending');

/** The same column again turns the order around. @param {AgentsRoute} route @param {Column} by @returns {AgentsRoute} */
const turned = (route, by) => ({ ...route, by, down: route.by === by && !route.down });

/** How many rows are drawn: it grows by a batch a frame, and begins anew with another filter. @param {number} all @param {string} filter */
function useGrowing(all, filter) {
  const [grown, setGrown] = useState({ filter, rows: BATCH });
  const rows = grown.filter === filter ? grown.rows : BATCH;
  useEffect(() => {
    if (rows >= all) return undefined;
    const frame = requestAnimationFrame(() => setGrown({ filter, rows: rows + BATCH }));
    return () => cancelAnimationFrame(frame);
  }, [rows, all, filter]);
  return rows;
}
