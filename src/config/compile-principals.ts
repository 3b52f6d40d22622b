import type { IssuerRule, OriginRule, VisibleTo } from '../policy/rules.ts';
import { egressOf } from './compile-keys.ts';
import type { AgentSettings, Settings } from './schema.ts';

/** Turns `principals.issuers` into rules; their keys are reached as the rule that covers their URL says. */
export function compileIssuers(
  { principals, egress }: Settings,
  origins: readonly OriginRule[],
): readonly IssuerRule[] {
  return principals.issuers.map(({ issuer, audience, jwks, claims }) => ({
    issuer,
    audience,
    keys: {
      name: issuer,
      jku: null,
      source: { from: 'url', url: jwks.url, egress: egressOf(jwks, { users: [], origins, egress }) },
      revoked: [],
    },
    claims,
  }));
}

/** Who may see an agent; null where nothing is written. */
export const compileVisibleTo = ({ visibleTo }: AgentSettings): readonly VisibleTo[] | null =>
  visibleTo.length === 0 ? null : visibleTo;
