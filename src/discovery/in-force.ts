import { type Refusal, refuse } from '../kernel/refusal.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';

/**
 * Says whether a rule belongs to the snapshot that is in force. Reloads keep the rules that did not change as the very objects that
 * they were, so that whoever holds one can tell: a fetch that began under a rule that is gone stores nothing.
 */
export type IsInForce = (agent: AgentRule) => boolean;

export const inForceIn =
  (rules: () => Rules): IsInForce =>
  (agent) =>
    agent.by === null ? rules().agents.get(agent.name) === agent : rules().origins.includes(agent.by);

/** What comes of a fetch whose rule has been replaced meanwhile; a caller that can be asked again never sees it. */
export const outdated = ({ name }: AgentRule): Refusal =>
  refuse('origin-unreachable', 'The configuration changed while the card was being fetched; ask again.', {
    agent: name,
  });
