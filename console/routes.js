/** The page's own addresses, behind `#`: they are kept in the history, and never sent anywhere. */

/** @import { Column } from './rows.js' */

/**
 * @typedef {{ readonly view: 'agents', readonly state: string, readonly text: string, readonly by: Column, readonly down: boolean }} AgentsRoute
 * @typedef {{ readonly view: 'agent', readonly agent: string }} AgentRoute
 * @typedef {{ readonly view: 'change', readonly agent: string }} ChangeRoute
 * @typedef {{ readonly view: 'switch', readonly scope: string }} SwitchRoute
 * @typedef {{ readonly view: 'nowhere' }} NoRoute
 * @typedef {AgentsRoute | AgentRoute | ChangeRoute | SwitchRoute | NoRoute} Route
 */

/** @type {AgentsRoute} */
export const HOME = { view: 'agents', state: '', text: '', by: 'urgency', down: false };

/** @type {readonly Column[]} */
const COLUMNS = ['urgency', 'agent', 'fresh', 'age', 'signature', 'review', 'error'];

/**
 * Reads an address: `#/agents?state=held`, `#/agents/weather`, `#/agents/weather/change`, `#/switch`.
 * @param {string} hash
 * @returns {Route}
 */
export function readRoute(hash) {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?', 2);
  const [, place = '', encoded = '', below = '', ...more] = path.split('/');
  const agent = decoded(encoded);
  if (more.length > 0 || agent === undefined) return { view: 'nowhere' };
  const asked = new URLSearchParams(query);
  if (place === '' && agent === '') return HOME;
  if (place === 'switch' && agent === '') return { view: 'switch', scope: asked.get('scope') ?? '' };
  if (place !== 'agents') return { view: 'nowhere' };
  if (agent === '') return readAgents(asked);
  if (below === '') return { view: 'agent', agent };
  return below === 'change' ? { view: 'change', agent } : { view: 'nowhere' };
}

/** @param {URLSearchParams} asked @returns {AgentsRoute} */
function readAgents(asked) {
  const by = COLUMNS.find((column) => column === asked.get('sort')) ?? HOME.by;
  return { view: 'agents', state: asked.get('state') ?? '', text: asked.get('q') ?? '', by, down: asked.has('down') };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // not an address that this page wrote
  }
}

/**
 * Writes the address of a route; the other way round than `readRoute`.
 * @param {Route} route
 */
export function linkTo(route) {
  switch (route.view) {
    case 'agents':
      return withQuery('#/agents', {
        state: route.state,
        q: route.text,
        sort: route.by === HOME.by ? '' : route.by,
        down: route.down ? '1' : '',
      });
    case 'agent':
      return `#/agents/${encodeURIComponent(route.agent)}`;
    case 'change':
      return `#/agents/${encodeURIComponent(route.agent)}/change`;
    case 'switch':
      return withQuery('#/switch', { scope: route.scope });
    case 'nowhere':
      return '#/';
  }
}

/** @param {string} path @param {Readonly<Record<string, string>>} members */
function withQuery(path, members) {
  const query = new URLSearchParams(Object.entries(members).filter(([, value]) => value !== '')).toString();
  return query === '' ? path : `${path}?${query}`;
}

/**
 * Names a view for the title of the window.
 * @param {Route} route
 */
export function titleOf(route) {
  switch (route.view) {
    case 'agents':
      return 'Agents';
    case 'agent':
      return route.agent;
    case 'change':
      return `Change of ${route.agent}`;
    case 'switch':
      return 'The switch';
    case 'nowhere':
      return 'No such view';
  }
}
