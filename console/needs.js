/** What a view reads from the daemon, and which events make it read again. */

/** @import { Route } from './routes.js' */
/** @import { ServerEvent } from './sse.js' */

/**
 * The paths that a view is made of. The agents and the stops belong to every view: the banner and the counts.
 * @param {Route} route
 * @returns {readonly string[]}
 */
export function pathsOf(route) {
  const always = ['/kill', '/agents'];
  switch (route.view) {
    case 'agents':
      return [...always, '/changes'];
    case 'switch':
    case 'nowhere':
      return always;
    case 'agent':
      return [...always, ...agentPaths(route.agent)];
    case 'change':
      return [...always, agentPath(route.agent), changePath(route.agent)];
  }
}

/** @param {string} agent */
const agentPaths = (agent) => [agentPath(agent), explainPath(agent), receiptsPath(agent)];

/** @param {string} agent */
export const agentPath = (agent) => `/agents/${encodeURIComponent(agent)}`;
/** @param {string} agent */
export const cardPath = (agent) => `${agentPath(agent)}/card`;
/** @param {string} agent */
export const changePath = (agent) => `${agentPath(agent)}/change`;
/** @param {string} agent */
export const explainPath = (agent) => `/explain?target=${encodeURIComponent(agent)}`;
/** @param {string} agent */
export const receiptsPath = (agent) => `/receipts?agent=${encodeURIComponent(agent)}&limit=50`;

/**
 * Which of a view's paths an event makes old.
 * @param {Route} route
 * @param {ServerEvent} event
 * @returns {readonly string[]}
 */
export function staleBy(route, { name, data }) {
  // Requests change no card; a notice may tell of a reload, and after a loss anything may have happened.
  if (name === 'request') return [];
  if (name !== 'receipt') return pathsOf(route);
  const agent = agentIn(data);
  // An order by tags or a stop may be about any agent.
  if (agent === null) return pathsOf(route);
  const isOurs = (route.view === 'agent' || route.view === 'change') && route.agent === agent;
  const about = (/** @type {string} */ path) => (isOurs ? path !== '/kill' : path === '/agents' || path === '/changes');
  return pathsOf(route).filter(about);
}

/** @param {string} data */
function agentIn(data) {
  /** @type {{ readonly agent?: unknown }} */
  const receipt = JSON.parse(data);
  return typeof receipt.agent === 'string' ? receipt.agent : null;
}
