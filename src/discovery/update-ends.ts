import type { Event } from '../kernel/event.ts';
import type { AgentRule } from '../policy/rules.ts';

export const brokenUpdate = (agent: AgentRule, error: unknown): Event => ({
  kind: 'notice',
  level: 'error',
  msg: 'a background refresh broke',
  about: { agent: agent.name, error: error instanceof Error ? error.message : String(error) },
});
