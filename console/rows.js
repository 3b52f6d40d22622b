/** Which agents a table shows, and in which order. */

/** @import { Agent, WaitingChange } from './shapes.ts' */

/** The states that a card may have, the most urgent first. */
export const STATES = /** @type {const} */ (['killed', 'revoked', 'missing', 'held', 'expired', 'stale', 'fresh']);

/** @typedef {'urgency' | 'agent' | 'fresh' | 'age' | 'signature' | 'review' | 'error'} Column */
/** @typedef {{ readonly state: string, readonly text: string }} Filter `state` '' for every state */
/** @typedef {{ readonly by: Column, readonly down: boolean }} Order `down`: the other way round */

/**
 * Keeps the agents that a filter lets through.
 * @param {readonly Agent[]} agents
 * @param {Filter} filter
 * @returns {readonly Agent[]}
 */
export function filterAgents(agents, { state, text }) {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return agents.filter((agent) => {
    if (state !== '' && agent.state !== state) return false;
    const read = words.length === 0 ? '' : readable(agent);
    return words.every((word) => read.includes(word));
  });
}

/** What a search looks through. @param {Agent} agent */
function readable({ agent, name, state, urls, tags, digest, version, verdict, setback }) {
  // The tag that has the agent's own name would make every agent one for "agent".
  const marks = tags.filter((tag) => !tag.startsWith('agent:'));
  const parts = [
    agent,
    name,
    state,
    ...urls,
    ...marks,
    digest,
    version,
    verdict?.signature,
    verdict?.kid,
    setback?.code,
  ];
  return parts.join('\n').toLowerCase();
}

/**
 * Counts the agents of each state.
 * @param {readonly Agent[]} agents
 * @returns {ReadonlyMap<string, number>}
 */
export function countStates(agents) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { state } of agents) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

/** What each column is ordered by. @type {{ readonly [By in Column]: (agent: Agent) => number | string }} */
const KEYS = {
  urgency: ({ state }) => STATES.findIndex((each) => each === state),
  agent: ({ agent }) => agent,
  fresh: ({ digest, freshUntil }) => (digest === null ? 0 : freshUntil),
  // The youngest first: a card that never came is the oldest.
  age: ({ lastSuccess }) => -lastSuccess,
  signature: ({ signature }) => signature ?? '~',
  review: ({ pending }) => -waitingCount(pending),
  error: ({ setback }) => (setback === null ? 1 : -setback.at),
};

/**
 * Orders agents by a column, then by name: the same agents always stand in the same order.
 * @param {readonly Agent[]} agents
 * @param {Order} order
 * @returns {readonly Agent[]}
 */
export function sortAgents(agents, { by, down }) {
  const keyOf = KEYS[by];
  const keyed = agents.map((agent) => ({ agent, key: keyOf(agent) }));
  keyed.sort(
    (one, other) => (down ? -1 : 1) * compare(one.key, other.key) || compare(one.agent.agent, other.agent.agent),
  );
  return keyed.map(({ agent }) => agent);
}

/** `agent-2` stands before `agent-10`, as people count. */
const NAMES = new Intl.Collator('en', { numeric: true });

/** @param {number | string} one @param {number | string} other */
const compare = (one, other) =>
  typeof one === 'string' || typeof other === 'string' ? NAMES.compare(String(one), String(other)) : one - other;

/**
 * How many changes wait for a person.
 * @param {Agent['pending']} pending
 */
export const waitingCount = (pending) => Object.values(pending).reduce((sum, count) => sum + (count ?? 0), 0);

/**
 * True for a card that waits and that no row tells of: one without a name, and one with no change, the first of its kind.
 * @param {Pick<WaitingChange, 'agent' | 'classes'>} waiting
 */
export const standsInNoRow = ({ agent, classes }) => agent.includes('://') || classes.length === 0;
