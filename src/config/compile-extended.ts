import type { OriginPattern } from '../kernel/egress-rule.ts';
import { formatPattern } from '../kernel/origins.ts';
import type { ExtendedRule } from '../policy/rules.ts';
import type { AgentSettings } from './schema.ts';

/** Says what may leave in a caller's name: a token for the card's origin is one for the agent, unless it is written otherwise. */
export function extendedRule(
  { audience, opaque }: AgentSettings['extended'],
  card: readonly OriginPattern[],
): ExtendedRule {
  return {
    audience: audience === null ? card.map(formatPattern) : [audience],
    opaque: opaque ?? (audience === null ? 'allow' : 'refuse'),
  };
}
