import { tag, type Url } from '../kernel/ids.ts';
import { policyDigest } from '../kernel/ids.ts';
import { formatPattern, parseTarget, type Target } from '../kernel/origins.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { Listing, RegistryAction, RegistryStop } from '../kernel/registry.ts';
import { CHANGE_CLASSES } from '../kernel/change.ts';
import type { ReviewRule } from '../kernel/review.ts';
import { ruleFor, stranger } from './places.ts';
import type { AgentRule, OriginRule, Registration, Rules } from './rules.ts';

/** What registries say, laid over what the configuration says: an agent that names an entry gets its place and its standing from it. */

/** What a registry says of one entry now, and where its card was taken from before. */
export interface Said extends Listing {
  readonly place: Url | null;
}

export type AskRegistry = (entry: Registration) => Said;

/** Lays what registries say over the rules as they are configured. */
export function placeAgents(given: Rules, says: AskRegistry): Rules {
  const placed = [...given.agents.values()].map((agent) => placeAgent(agent, given, says));
  return { ...given, agents: new Map(placed.map((agent) => [agent.name, agent])) };
}

function placeAgent(agent: AgentRule, rules: Rules, says: AskRegistry): AgentRule {
  if (agent.registered === null) return agent;
  const said = says(agent.registered);
  const { status } = said;
  const action = agent.registered.actions[status];
  const named = said.card === null ? undefined : coverOf(said.card, rules);
  const misplaced = named === undefined || named.ok ? null : named.refusal;
  const registered = { ...agent.registered, status, action, said: said.said, misplaced };
  const place = named?.ok === true ? named.value : coverBefore(said, rules);
  const standing = { ...agent, registered, review: reviewUnder(action, agent.review) };
  return place === undefined ? standing : placedAt(standing, place);
}

/** Where a URL is, and the rule that says how it is reached. */
interface Cover {
  readonly rule: OriginRule;
  readonly target: Target;
}

/** The last place stays while the registry names none that may be used: what it says wrong of an agent takes it nowhere. */
function coverBefore({ place }: Said, rules: Rules): Cover | undefined {
  const before = place === null ? undefined : coverOf(place, rules);
  return before?.ok === true ? before.value : undefined;
}

/** Longer URLs name no card in use. */
const LONGEST = 2_048;

/**
 * Finds the rule in `origins` that lets what a registry names be fetched: a registry finds, and never allows. Else whoever can write
 * to it could have anything fetched from here.
 */
export function coverOf(url: Url, rules: Rules): Outcome<Cover> {
  if (url.length > LONGEST)
    return refused(refuse('request-too-large', `The URL is longer than ${LONGEST} characters.`));
  const parsed = parseTarget(url);
  if (!parsed.ok) return refused(refuse('origin-not-allowed', `The URL is refused: ${parsed.why}.`));
  const rule = ruleFor(rules.origins, parsed.value);
  if (rule === undefined) return refused(stranger(rules, parsed.value, null));
  return rule.content === 'none' ? refused(forOthers(rule, parsed.value)) : accepted({ rule, target: parsed.value });
}

const forOthers = ({ name }: OriginRule, { origin }: Target): Refusal =>
  refuse(
    'origin-not-allowed',
    `${name} is for URLs written in the configuration alone (content: none), and ${origin} is named by a registry. To allow it, write content: card.`,
  );

/** One card on exactly its own origin, reached as the rule says that covers it. */
function placedAt(agent: AgentRule, { rule, target: { url, scheme, host, port } }: Cover): AgentRule {
  const { cleartext } = rule.egress;
  const allowed = [{ scheme, host, wildcard: false, port }] as const;
  const { audience } = agent.extended;
  return {
    ...agent,
    cards: [url],
    egress: { ...rule.egress, allowed },
    card: { ...agent.card, cleartext },
    extended: { ...agent.extended, audience: audience.length > 0 ? audience : allowed.map(formatPattern) },
    policy: policyDigest(`${agent.policy}+${agent.registered?.action ?? ''}${cleartext ? '+cleartext' : ''}`),
  };
}

/** Nothing new is taken in while a registry says so; what a person or a pin approves is not taken on its word. */
function reviewUnder(action: RegistryAction, review: ReviewRule): ReviewRule {
  if (action !== 'hold') return review;
  return {
    ...review,
    firstUse: review.firstUse === 'pinned' ? 'pinned' : 'hold',
    actions: new Map(CHANGE_CLASSES.map((of) => [of, review.actions.get(of) === 'block' ? 'block' : 'hold'])),
  };
}

/** True where a registry lets nothing new of the agent be taken in. */
export const isHeldByRegistry = ({ registered }: Pick<AgentRule, 'registered'>): boolean =>
  registered?.action === 'hold';

export const isBlockedByRegistry = ({ registered }: Pick<AgentRule, 'registered'>): boolean =>
  registered?.action === 'block';

/** Lists what registries stop. */
export const registryStops = ({ agents }: Rules): readonly RegistryStop[] =>
  [...agents.values()].flatMap(({ name, registered }) =>
    registered?.action === 'block'
      ? [{ scope: tag(`agent:${name}`), registry: registered.registry, status: registered.status }]
      : [],
  );

/** Says why an agent has no place; undefined where it has one. */
export function refuseUnplaced({ name, cards, registered }: AgentRule): Refusal | undefined {
  if (cards.length > 0 || registered === null) return undefined;
  const { registry, id, misplaced, action, said } = registered;
  if (misplaced !== null) {
    const detail = `The registry ${registry} places this agent where it may not be fetched from. ${misplaced.detail}`;
    return { ...misplaced, detail, agent: name };
  }
  const detail = `The registry ${registry} names no place for ${id}: ${said}.`;
  return refuse(action === 'hold' ? 'first-use-held' : 'origin-unreachable', detail, { agent: name });
}

/** Says in a line what an agent's registry says of it, where that is anything but yes. */
export function doubtOf({ registered }: Pick<AgentRule, 'registered'>): string | undefined {
  if (registered === null || registered.action === 'allow') return undefined;
  const { registry, status, said } = registered;
  return `The registry ${registry} says that it is ${status}${said === status ? '' : ` (${said})`}.`;
}
