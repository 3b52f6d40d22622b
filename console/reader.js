/** Reads what the view of today is made of, at a pace, and keeps what stays the same. */

/** @import { Api, Reply } from './api.js' */
/** @import { Agent } from './shapes.ts' */

/** Events come in flocks: one reading a second is fresh enough, and the first is made at once. */
const PACE = 1_000;
/** Nothing tells that time has passed; and whatever an event did not tell is seen after this. */
const EVERY = 15_000;
const AGENTS = '/agents';

/**
 * @typedef {object} Desk
 * @property {() => readonly string[]} wanted the paths of the view, none while nobody is signed in
 * @property {(path: string) => Reply | undefined} known
 * @property {(path: string, reply: Reply) => void} keep
 */

/**
 * Makes a reader for one page.
 * @param {Api} api
 * @param {Desk} desk
 */
export function createReader(api, desk) {
  /** @type {Set<string>} */
  const old = new Set();
  let planned = 0;
  let lastRead = -PACE;

  /** @param {string} path @param {'person' | 'page'} by */
  const read = async (path, by) => {
    const reply = await api.get(path, by);
    // Meanwhile somebody may have gone to another view, or out.
    if (!desk.wanted().includes(path)) return;
    if (path === AGENTS) setClock(api, reply);
    const before = desk.known(path);
    const kept = keepSame(before, reply);
    if (kept !== before) desk.keep(path, kept);
  };
  /** @param {readonly string[]} paths @param {'person' | 'page'} by */
  const readAll = async (paths, by) => {
    await Promise.all(paths.map((path) => read(path, by)));
  };
  const readOld = () => {
    planned = 0;
    lastRead = performance.now();
    const paths = desk.wanted().filter((path) => old.has(path));
    old.clear();
    void readAll(paths, 'page');
  };
  /** @param {readonly string[]} paths */
  const plan = (paths) => {
    for (const path of paths) old.add(path);
    if (planned !== 0 || old.size === 0) return;
    planned = window.setTimeout(readOld, Math.max(0, lastRead + PACE - performance.now()));
  };
  window.setInterval(() => plan(desk.wanted()), EVERY);
  return {
    /** Reads the whole view because a person asked for it. */
    readView: () => readAll(desk.wanted(), 'person'),
    plan,
  };
}

/**
 * Keeps what is the same as before, so that only what differs is drawn again: whole answers, and single agents in the list.
 * @param {Reply | undefined} before
 * @param {Reply} after
 * @returns {Reply}
 */
export function keepSame(before, after) {
  if (before === undefined) return after;
  const [old, now] = [agentsIn(before), agentsIn(after)];
  if (old === undefined || now === undefined) return JSON.stringify(before) === JSON.stringify(after) ? before : after;
  const known = new Map(old.map((agent) => [agent.agent, agent]));
  const agents = now.map((agent) => {
    const same = known.get(agent.agent);
    return same !== undefined && JSON.stringify(same) === JSON.stringify(agent) ? same : agent;
  });
  const isSame = old.length === agents.length && agents.every((agent, at) => agent === old[at]);
  return isSame ? before : { ok: true, value: { agents } };
}

/** @param {Reply} reply @returns {readonly Agent[] | undefined} */
const agentsIn = (reply) => (reply.ok ? agentsOf(reply.value) : undefined);

/** @param {unknown} value @returns {readonly Agent[] | undefined} */
export const agentsOf = (value) =>
  typeof value === 'object' && value !== null && 'agents' in value && Array.isArray(value.agents)
    ? value.agents
    : undefined;

/** What runs down runs by the daemon's clock, whatever this machine's says. @param {Api} api @param {Reply} reply */
function setClock(api, reply) {
  const { now } = /** @type {{ readonly now?: unknown }} */ (reply.ok ? reply.value : {});
  if (typeof now === 'number') api.setClock(now);
}
