import type { AgentRule, KeySetRule, ListenerRole, OriginRule, Rules } from './rules.ts';

/**
 * Gives a new snapshot the very objects of the old one where they say the same. Whoever holds a rule then sees by identity whether
 * it changed: fetches, failures, verdicts and plans of an unchanged agent go on over a reload as if there had been none.
 */
export function keepUnchanged(before: Rules, next: Rules): Rules {
  const sets = keeper(before.keySets);
  const keySets = next.keySets.map(sets);
  const agents = new Map([...next.agents.values()].map((agent) => [agent.name, keepAgent(before, agent, sets)]));
  const kept = keeper(before.origins);
  const origins = next.origins.map((origin) => withKeys(kept(origin), sets));
  const role = (given: ListenerRole): ListenerRole => {
    if (given.serves !== 'origin') return given;
    return { serves: 'origin', origin: origins[next.origins.indexOf(given.origin)] ?? given.origin };
  };
  const listeners = new Map([...next.listeners].map(([name, given]) => [name, role(given)]));
  return { ...next, agents, origins, keySets, listeners };
}

function keepAgent(before: Rules, agent: AgentRule, sets: (set: KeySetRule) => KeySetRule): AgentRule {
  const known = before.agents.get(agent.name);
  return known !== undefined && isSame(known, agent) ? known : { ...agent, keySets: agent.keySets.map(sets) };
}

/** A changed rule still means the sets that did not change. */
function withKeys(origin: OriginRule, sets: (set: KeySetRule) => KeySetRule): OriginRule {
  const { card } = origin;
  if (card === null || card.keySets.every((set) => sets(set) === set)) return origin;
  return { ...origin, card: { ...card, keySets: card.keySets.map(sets) } };
}

/** Finds what says the same among those that were there. */
function keeper<Rule extends KeySetRule | OriginRule>(before: readonly Rule[]): (given: Rule) => Rule {
  const byName = Map.groupBy(before, ({ name }) => name);
  return (given) => byName.get(given.name)?.find((known) => isSame(known, given)) ?? given;
}

/** Compares what rules are made of; what is none of it counts as changed. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const [mine, theirs] = [partsOf(one), partsOf(other)];
  if (mine === undefined || theirs === undefined || mine.length !== theirs.length) return false;
  return mine.every((part, index) => isSame(part, theirs[index]));
}

/** Lists the parts of a plain object, a list, bytes or a map, so that equal ones have equal lists. */
function partsOf(whole: object): readonly unknown[] | undefined {
  if (Array.isArray(whole)) return ['list', ...whole];
  if (whole instanceof Uint8Array) return ['bytes', ...whole];
  if (whole instanceof Map) return ['map', ...[...whole].flat()];
  if (whole instanceof Set) return ['set', ...whole];
  if (Object.getPrototypeOf(whole) !== Object.prototype) return undefined;
  return ['members', ...Object.entries(whole).toSorted(byName).flat()];
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : Number(one > other);
