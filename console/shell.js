import { AgentView } from './agent-view.js';
import { AgentsView } from './agents-view.js';
import { ChangeView } from './change-view.js';
import { KillBanner } from './kills.js';
import { agentsOf } from './reader.js';
import { ReplyOf } from './reply-of.js';
import { SignIn } from './sign-in.js';
import { Text } from './stranger-text.js';
import { SwitchView } from './switch-view.js';
import { html } from './view.js';

/** @import { Kills } from './kills.js' */
/** @import { Model, State } from './model.js' */
/** @import { Route } from './routes.js' */
/** @import { Agent, WaitingChange } from './shapes.ts' */
/** @import { Ticker } from './ticker.js' */

/** @typedef {{ readonly state: State, readonly model: Model, readonly ticker: Ticker, readonly turn: (route: Route) => void }} Props */

/**
 * The page: what stands around every view, and the view of the route.
 * @param {Props} props
 */
export function Shell(props) {
  const { state, model } = props;
  if (state.session !== 'in')
    return html`<${SignIn} model=${model} ended=${state.session === 'ended'} refused=${state.refused} />`;
  const kills = state.replies.get('/kill');
  return html`<${Top} state=${state} model=${model} />
    <${KillBanner} kills=${kills?.ok === true ? /** @type {Kills} */ (kills.value).kills : []} />
    ${state.link === 'lost' && html`<p class="lost" role="alert">The connection to the daemon is lost: what you see may be old. Trying again.</p>`}
    <main id="main">${state.said !== '' && html`<p class="said"><${Text} value=${state.said} /></p>`}<${View} ...${props} /></main>
    <div class="hidden" role="status" aria-live="polite"><${Text} value=${state.said} /></div>`;
}

/** @type {Readonly<Record<State['link'], string>>} */
const LINKS = { joining: 'Connecting', live: 'Live', lost: 'Not connected' };

/** @param {Pick<Props, 'state' | 'model'>} props */
const Top = ({
  state: { route, link },
  model,
}) => html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
  <header><span class="mark"><img src="icon.svg" alt="" width="20" height="20" />Cardea</span>
    <nav aria-label="Views">
      <a href="#/agents" aria-current=${route.view === 'switch' ? undefined : 'page'}>Agents</a>
      <a href="#/switch" aria-current=${route.view === 'switch' ? 'page' : undefined}>Switch</a>
    </nav>
    <span class="link" data-link=${link}><i aria-hidden="true" />${LINKS[link]}</span>
    <button type="button" class="quiet" onClick=${() => model.signOut()}>Sign out</button></header>`;

/** `#main` is no address of this page: the focus moves, and the route stays. @param {Event} event */
function skip(event) {
  event.preventDefault();
  focusHeading();
}

/** Puts whoever reads by keyboard or by ear at the beginning of the view. */
export const focusHeading = () => document.querySelector('h1')?.focus();

/** @param {Props} props */
function View({ state: { route, replies }, model, ticker, turn }) {
  switch (route.view) {
    case 'agents':
      return html`<${ReplyOf} reply=${replies.get('/agents')} show=${(/** @type {unknown} */ value) =>
        html`<${AgentsView} route=${route} agents=${agentsOf(value) ?? []} waiting=${waitingIn(replies)} ticker=${ticker} turn=${turn} />`} />`;
    case 'agent':
      return html`<${AgentView} key=${route.agent} agent=${route.agent} replies=${replies} model=${model} ticker=${ticker} />`;
    case 'change':
      return html`<${ChangeView} key=${route.agent} agent=${route.agent} replies=${replies} model=${model} />`;
    case 'switch':
      return html`<${SwitchView} scope=${route.scope} agents=${agentsIn(replies)} replies=${replies} model=${model} />`;
    case 'nowhere':
      return html`<h1 tabindex="-1">No such view</h1><p><a href="#/agents">All agents</a></p>`;
  }
}

/** @param {State['replies']} replies @returns {readonly WaitingChange[]} */
function waitingIn(replies) {
  const reply = replies.get('/changes');
  return reply?.ok === true ? /** @type {{ readonly pending: readonly WaitingChange[] }} */ (reply.value).pending : [];
}

/** @param {State['replies']} replies @returns {readonly Agent[]} */
function agentsIn(replies) {
  const reply = replies.get('/agents');
  return reply?.ok === true ? (agentsOf(reply.value) ?? []) : [];
}
