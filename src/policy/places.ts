import type { OriginPattern } from '../kernel/egress-rule.ts';
import { agentName, type Url } from '../kernel/ids.ts';
import { findLookalike } from '../kernel/lookalike.ts';
import { coversOrigin, formatPattern, parseTarget, type Target } from '../kernel/origins.ts';
import type { Principal } from '../kernel/principal.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { isVisible } from './principals.ts';
import type { AgentRule, OriginRule, Rules } from './rules.ts';

/** What a URL that somebody names is to the rules. */
export type Place =
  /** `otherwise`: what the URL is to whoever may not see that agent, just as if there were none. */
  | { readonly is: 'card'; readonly agent: AgentRule; readonly otherwise: () => Place }
  | { readonly is: 'origin'; readonly rule: OriginRule; readonly url: Url }
  /**
   * Nothing that may be had, by the rule that covers it where one does; why depends on what whoever asks may know, null for who may
   * know all. `hidden`: the reason tells of an agent, so whoever may not see it gets the other.
   */
  | {
      readonly is: 'refused';
      readonly rule: OriginRule | null;
      readonly why: (seenBy: Principal | null) => Refusal;
      readonly hidden?: { readonly agent: AgentRule; readonly otherwise: () => Place };
    };

/** Finds out what URLs are, for one snapshot of the rules. */
export interface Places {
  /** @param url absolute, as somebody wrote it. */
  find(url: string): Place;
  /** True where a rule or an agent says anything about URLs on this origin. */
  knows(target: Target): boolean;
}

/**
 * Rules made for cards without a name that are remembered, so that what is known by their identity is found again. A caller may ask
 * for any path on a wildcard's hosts: past this number the oldest is made anew when it is asked for.
 */
const MOST_UNNAMED = 1_024;
/** Longer URLs name no card in use, and every one that fails is remembered for a while. */
const LONGEST = 2_048;

export function createPlaces(rules: Rules): Places {
  const named = new Map<Url, AgentRule>();
  for (const agent of rules.agents.values()) for (const url of agent.cards) if (!named.has(url)) named.set(url, agent);
  const unnamed = new Map<Url, AgentRule>();
  const cardAt = (rule: OriginRule, card: AgentRule, target: Target): AgentRule => {
    const agent = unnamed.get(target.url) ?? unnamedAgent(rule, card, target);
    unnamed.delete(target.url);
    unnamed.set(target.url, agent);
    const [oldest] = unnamed.keys();
    if (unnamed.size > MOST_UNNAMED && oldest !== undefined) unnamed.delete(oldest);
    return agent;
  };
  const byRule = (url: string, target: Target): Place => {
    const rule = ruleFor(rules.origins, target);
    const nobody = (): Place => refused((principal) => stranger(rules, target, principal));
    if (rule === undefined) return nobody();
    if (rule.content === 'any') return { is: 'origin', rule, url: target.url };
    const { card } = rule;
    if (card === null) return refused(() => writtenOnly(rule, target), rule);
    const why = unusable(url, target);
    if (why !== undefined) return refused(() => why, rule, { agent: card, otherwise: nobody });
    return { is: 'card', agent: cardAt(rule, card, target), otherwise: nobody };
  };
  return {
    knows: (target) => named.has(target.url) || ruleFor(rules.origins, target) !== undefined,
    find(url) {
      const parsed = parseTarget(url);
      if (!parsed.ok) return refused(malformed(rules, url, parsed.why));
      const target = parsed.value;
      const otherwise = (): Place => byRule(url, target);
      const agent = named.get(target.url);
      if (agent === undefined) return otherwise();
      const why = misspelled(url, target);
      return why === undefined ? { is: 'card', agent, otherwise } : refused(() => why, null, { agent, otherwise });
    },
  };
}

/** A rule for the host itself goes before one for its neighbours. */
export function ruleFor(origins: readonly OriginRule[], target: Target): OriginRule | undefined {
  const covering = origins.filter(({ match }) => coversOrigin(match, target));
  return covering.find(({ match }) => !match.wildcard) ?? covering[0];
}

/** "A rule in `origins` takes an agent's keys too; its AGENT in commands is the card's URL": one card, on exactly its own origin. */
function unnamedAgent(by: OriginRule, card: AgentRule, { url, scheme, host, port }: Target): AgentRule {
  const name = agentName(url);
  const allowed: readonly OriginPattern[] = [{ scheme, host, wildcard: false, port }];
  return {
    ...card,
    name,
    by,
    cards: [url],
    egress: { ...card.egress, allowed },
    card: { ...card.card, agent: name },
    review: { ...card.review, pins: new Set(by.pins.get(url)) },
    extended: { ...card.extended, audience: allowed.map(formatPattern) },
  };
}

type Refused = Extract<Place, { readonly is: 'refused' }>;

const refused = (why: Refused['why'], rule: Refused['rule'] = null, hidden?: Refused['hidden']): Refused => ({
  is: 'refused',
  rule,
  why,
  ...(hidden === undefined ? {} : { hidden }),
});

/** What keeps a URL from naming a card under a rule that covers it. */
function unusable(url: string, target: Target): Refusal | undefined {
  if (target.url.length > LONGEST)
    return refuse('request-too-large', `The URL is longer than ${LONGEST} characters.`, { status: 414 });
  return misspelled(url, target);
}

/** One card has one spelling: what a URL parser would mend on the way is another name for the same thing, and is refused. */
const misspelled = (url: string, target: Target): Refusal | undefined =>
  url === target.url ? undefined : refuse('not-found', `The URL is not spelled as it is used; write ${target.url}.`);

const writtenOnly = ({ name }: OriginRule, { origin }: Target): Refusal =>
  refuse(
    'origin-not-allowed',
    `${name} is for URLs written in the configuration alone (content: none). To let callers reach ${origin}, write content: card or any.`,
  );

export function stranger(rules: Rules, target: Target, principal: Principal | null): Refusal {
  const like = target.host.includes(':') ? null : findLookalike(target.host, hostsSeenBy(rules, principal));
  if (like !== null) {
    return refuse('lookalike-origin', `No rule allows ${target.origin}; it resembles ${like}, which one does.`);
  }
  return refuse(
    'origin-not-allowed',
    `No rule allows ${target.origin}. To allow it, add { match: "${target.origin}", content: card } to origins.`,
  );
}

function malformed(rules: Rules, url: string, why: string): (principal: Principal | null) => Refusal {
  return (principal) => {
    const host = (URL.parse(url)?.hostname ?? '').replace(/\.$/, '');
    const like = host === '' ? null : findLookalike(host, hostsSeenBy(rules, principal));
    if (like === null) return refuse('origin-not-allowed', `The URL is refused: ${why}.`);
    return refuse('lookalike-origin', `The URL is refused: ${why}; its host resembles ${like}, which a rule allows.`);
  };
}

/** The hosts that a caller may know of: those of rules that are for callers, and of the agents that it may see. */
function hostsSeenBy({ agents, origins }: Rules, principal: Principal | null): readonly string[] {
  const sees = (agent: AgentRule): boolean => principal === null || isVisible(agent, principal);
  const seen = [...agents.values()].filter(sees);
  const open = origins.filter(({ content, card }) => content !== 'none' && (card === null || sees(card)));
  return [...seen.flatMap(({ egress }) => egress.allowed), ...open.map(({ match }) => match)].map(({ host }) => host);
}
