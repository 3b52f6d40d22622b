import type { Ask } from '../kernel/ask.ts';
import { type AgentName, agentName, type Url, urlId } from '../kernel/ids.ts';
import { formatPattern, parseTarget } from '../kernel/origins.ts';
import type { Principal } from '../kernel/principal.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { createPlaces, type Place, type Places } from './places.ts';
import { isVisible } from './principals.ts';
import type { AgentRule, OriginRule, Rules } from './rules.ts';

/**
 * Where a request goes, judged on the raw request-target alone: nothing is decoded, resolved or normalised, so two spellings
 * never name one card. What is not literally a known path is no path.
 */
export type Route =
  /** `otherwise`: where a URL leads whoever may not see the agent; a name that is not to be seen is a name that nobody has. */
  | { readonly to: 'card'; readonly agent: AgentRule; readonly otherwise?: () => Route }
  /** The card in its origin's bytes, where `route: through` serves another. */
  | { readonly to: 'origin-card'; readonly agent: AgentRule }
  /** `below` is the raw path under the agent's base URL: `''`, `/`, `/message:send`. */
  | { readonly to: 'operation'; readonly agent: AgentRule; readonly below: string }
  /** The key that signs rewritten cards. */
  | { readonly to: 'keys' }
  | { readonly to: 'origin'; readonly rule: OriginRule; readonly url: Url }
  | { readonly to: 'agents' }
  | { readonly to: 'catalog' }
  | { readonly to: 'logout' }
  | { readonly to: 'problem'; readonly code: string }
  /** `agent`: below whose base URL there is nothing; null where no agent is named. */
  | {
      readonly to: 'nowhere';
      readonly refusal: Refusal;
      readonly agent: AgentRule | null;
      readonly otherwise?: () => Route;
    }
  /** A URL that nothing allows. */
  | { readonly to: 'stranger'; readonly why: (seenBy: Principal | null) => Refusal };

/** Where it goes once it is known who asks: every stranger's URL is refused by then. */
export type RouteOfCaller = Exclude<Route, { readonly to: 'stranger' }>;

/** One route look-up per listener; `exact` answers the ordinary request by one map access. */
export interface RouteTable extends Pick<Places, 'find'> {
  route(asked: Asked): Route;
}

/** What of a request says where it goes. */
export type Asked = Pick<Ask, 'listener' | 'host' | 'proxied' | 'target'>;

const CARD_PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'] as const;
const ORIGIN_CARD = '/origin-card';
const KEYS = '/.well-known/jwks.json';
const AGENTS = '/agents';
const CATALOG = '/.well-known/ai-catalog.json';
const LOGOUT = '/logout';
const PROBLEMS = '/problems/';
const ORIGINS = '/origins/';

const nowhere = (refusal: Refusal, agent: AgentRule | null = null): Extract<Route, { to: 'nowhere' }> => ({
  to: 'nowhere',
  refusal,
  agent,
});
const notFound = (detail: string): Route => nowhere(refuse('not-found', detail));

/** Builds the table for one snapshot of the rules. */
export function buildRoutes(rules: Rules): RouteTable {
  const shared = new Map<string, Route>([
    [AGENTS, { to: 'agents' }],
    [CATALOG, { to: 'catalog' }],
    [LOGOUT, { to: 'logout' }],
  ]);
  const own = new Map<AgentName, ReadonlyMap<string, Route>>();
  const atRoots = agentsAtRoots(rules);
  for (const agent of rules.agents.values()) {
    const card: Route = { to: 'card', agent };
    for (const path of CARD_PATHS) shared.set(`${AGENTS}/${agent.name}${path}`, card);
    if (atRoots.has(agent.name))
      own.set(
        agent.name,
        new Map<string, Route>([...CARD_PATHS.map((path): [string, Route] => [path, card]), ...keys(agent)]),
      );
    for (const [path, route] of keys(agent)) shared.set(path, route);
  }
  const places = createPlaces(rules);
  const atRoot = (agent: AgentName, target: string): Route =>
    own.get(agent)?.get(target) ?? routeOwn(rules, agent, pathOf(target));
  const onAgents = ({ host, proxied, target }: Asked): Route => {
    if (proxied !== null) return routeProxied(places, proxied, target);
    const alias = rules.aliases.get(host);
    if (alias !== undefined) return atRoot(alias, target);
    if (target.startsWith(ORIGINS)) return routeUrl(places.find(urlBelow(target)));
    return shared.get(target) ?? routeShared(rules, shared, pathOf(target));
  };
  return {
    find: places.find,
    route(asked) {
      const role = rules.listeners.get(asked.listener);
      if (role === undefined) return notFound('This listener is closing.');
      switch (role.serves) {
        case 'agents':
          return onAgents(asked);
        case 'agent':
          return atRoot(role.agent, asked.target);
        case 'origin':
          return routeOrigin(places, role.origin, asked.target);
      }
    },
  };
}

/** Agents whose paths are at the root of a host or a listener. */
function agentsAtRoots({ aliases, listeners }: Rules): ReadonlySet<AgentName> {
  const own = [...listeners.values()].flatMap((role) => (role.serves === 'agent' ? [role.agent] : []));
  return new Set([...aliases.values(), ...own]);
}

/** `/origins/{host[:port]}/{path}` stands for https, `/origins/http/…` for cleartext, which only a rule can allow. */
function urlBelow(target: string): string {
  const rest = target.slice(ORIGINS.length);
  return rest.startsWith('http/') ? `http://${rest.slice('http/'.length)}` : `https://${rest}`;
}

/**
 * "the same, over https unless the rule says cleartext; an explicit port is kept". Clients cannot say https to a proxy without a
 * tunnel, so http:// is how they ask for either.
 */
function routeProxied(places: Places, authority: string, target: string): Route {
  const secure = `https://${authority.toLowerCase()}${target}`;
  const [first, second] = [parseTarget(secure), parseTarget(`http://${authority.toLowerCase()}${target}`)];
  const meant = first.ok && !places.knows(first.value) && second.ok && places.knows(second.value) ? second : first;
  // The spelling of a path is the caller's, that of an authority is its HTTP client's.
  return routeUrl(places.find(meant.ok ? `${meant.value.origin}${target}` : secure));
}

/** A listener of its own: the origin's paths at the root. */
function routeOrigin(places: Places, rule: OriginRule, target: string): Route {
  const url = `${formatPattern(rule.match)}${target}`;
  return rule.card === null ? { to: 'origin', rule, url: urlId(url) } : routeUrl(places.find(url));
}

function routeUrl(place: Place): Route {
  switch (place.is) {
    case 'card': {
      const { agent, otherwise } = place;
      return { to: 'card', agent, otherwise: () => routeUrl(otherwise()) };
    }
    case 'origin':
      return { to: 'origin', rule: place.rule, url: place.url };
    case 'refused': {
      const { why, hidden } = place;
      if (hidden === undefined) return { to: 'stranger', why };
      return { ...nowhere(why(null), hidden.agent), otherwise: () => routeUrl(hidden.otherwise()) };
    }
  }
}

/** Cards that are not rewritten have no key here. */
const keys = (agent: AgentRule): readonly [string, Route][] =>
  agent.card.route === 'through' ? [[KEYS, { to: 'keys' }]] : [];

/** Cuts the query off a raw target. */
export function pathOf(target: string): string {
  const mark = target.indexOf('?');
  return mark === -1 ? target : target.slice(0, mark);
}

function routeShared(rules: Rules, shared: ReadonlyMap<string, Route>, path: string): Route {
  const exact = shared.get(path);
  if (exact !== undefined) return exact;
  if (path.startsWith(PROBLEMS)) return { to: 'problem', code: path.slice(PROBLEMS.length) };
  if (!path.startsWith(`${AGENTS}/`)) return notFound('Agents are served below /agents/; GET /agents lists them.');
  const slash = path.indexOf('/', AGENTS.length + 1);
  const name = path.slice(AGENTS.length + 1, slash === -1 ? undefined : slash);
  const agent = rules.agents.get(agentName(name));
  if (agent === undefined) return nowhere(unknownAgent(name));
  return belowBase(agent, slash === -1 ? '' : path.slice(slash));
}

function routeOwn(rules: Rules, name: AgentName, path: string): Route {
  if (path.startsWith(PROBLEMS)) return { to: 'problem', code: path.slice(PROBLEMS.length) };
  if (path === LOGOUT) return { to: 'logout' };
  const agent = rules.agents.get(name);
  if (agent === undefined) return notFound('This listener is closing.');
  return belowBase(agent, path);
}

function belowBase(agent: AgentRule, rest: string): Route {
  for (const path of CARD_PATHS) if (rest === path) return { to: 'card', agent };
  if (rest === ORIGIN_CARD && agent.card.route === 'through') return { to: 'origin-card', agent };
  if (rest.startsWith('/.well-known/')) {
    return nowhere(refuse('not-found', `The card is at ${CARD_PATHS[0]} below the agent's base URL.`), agent);
  }
  return { to: 'operation', agent, below: rest };
}

/**
 * What a caller that may not see an agent is told of it: from here on its request is one for a name that nobody has, in every answer,
 * count and log line. Any other route stays as it is.
 */
export function routeFor(route: Route, principal: Principal): RouteOfCaller {
  switch (route.to) {
    case 'card':
    case 'nowhere': {
      const { agent, otherwise } = route;
      if (agent === null || isVisible(agent, principal)) return route;
      return otherwise === undefined ? nowhere(unknownAgent(agent.name)) : routeFor(otherwise(), principal);
    }
    case 'origin-card':
    case 'operation':
      return isVisible(route.agent, principal) ? route : nowhere(unknownAgent(route.agent.name));
    case 'stranger':
      return nowhere(route.why(principal));
    case 'origin':
    case 'agents':
    case 'catalog':
    case 'keys':
    case 'logout':
    case 'problem':
      return route;
  }
}

function unknownAgent(name: string): Refusal {
  // JavaScript's and .NET's URL joining drops the last segment of a base URL that does not end in "/".
  const hint = name === '.well-known' ? ' The base URL lost its last segment: write it with a trailing "/".' : '';
  return refuse('unknown-agent', `No agent of this name is served here; GET /agents lists those that are.${hint}`);
}
