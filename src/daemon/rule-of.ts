import type { Discovery } from '../discovery/discovery.ts';
import type { AgentName } from '../kernel/ids.ts';
import type { AgentRule } from '../policy/rules.ts';

/** Finds an agent's rule by its name, or that of a card without one by its URL, spelled as it is used. */
export function ruleOf(discovery: Pick<Discovery, 'rules' | 'find'>, agent: AgentName): AgentRule | undefined {
  const named = discovery.rules().agents.get(agent);
  if (named !== undefined || !/^https?:/.test(agent)) return named;
  const place = discovery.find(agent);
  return place.is === 'card' ? place.agent : undefined;
}
