import type { OriginPattern } from '../kernel/egress-rule.ts';
import { formatPattern } from '../kernel/origins.ts';
import type { ExtendedRule } from '../policy/rules.ts';
import { ownCredential } from './compile-credentials.ts';
import type { AgentSettings } from './schema.ts';

/** Says what may leave in a caller's name: a token for the card's origin is one for the agent, unless it is written otherwise. */
export function extendedRule(
  { credentials, audience, opaque, session, replacePublic }: AgentSettings['extended'],
  card: readonly OriginPattern[],
  { name, egressOf }: Parameters<typeof ownCredential>[1],
): ExtendedRule {
  return {
    credentials: typeof credentials === 'string' ? credentials : ownCredential(credentials, { name, egressOf }),
    audience: audience === null ? card.map(formatPattern) : [audience],
    opaque: opaque ?? (audience === null ? 'allow' : 'refuse'),
    session,
    replacePublic,
  };
}
