import type { Principal } from '../kernel/principal.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { AgentRule, IssuerRule, VisibleTo } from './rules.ts';

/** What follows from who is calling: which agents it may see, and which its token is for. */

/** Tells whether a caller may see an agent: where nothing is written every local caller may. */
export const isVisible = ({ visibleTo }: Pick<AgentRule, 'visibleTo'>, principal: Principal): boolean =>
  visibleTo === null || visibleTo.some((one) => matches(one, principal));

/** All that one line names must fit; what a caller lacks fits nothing. */
const matches = ({ tenant, principal, scope, role }: VisibleTo, caller: Principal): boolean =>
  (tenant === null || caller.tenant === tenant) &&
  (principal === null || caller.id === principal) &&
  (scope === null || caller.scopes.includes(scope)) &&
  (role === null || caller.roles.includes(role));

/**
 * "A caller's token must be for one of its issuer's `audience` or the agent's `extended.audience`."
 * @param isOfAgent says whether an audience is that of the agent, or of any agent before it is known which one is meant.
 */
export function checkAudience(
  principal: Principal,
  issuer: IssuerRule,
  isOfAgent: (audience: string) => boolean,
): Outcome<Principal> {
  const { audience } = principal;
  if (audience.some((each) => issuer.audience.includes(each) || isOfAgent(each))) return accepted(principal);
  return refused(
    refuse(
      'token-audience',
      'The aud of the token names neither Cardea nor the agent; ask its issuer for one that does.',
    ),
  );
}

/** The audiences of all agents together. */
export const audiencesOf = (agents: Iterable<Pick<AgentRule, 'extended'>>): ReadonlySet<string> =>
  new Set([...agents].flatMap(({ extended }) => extended.audience));

/** What makes two tokens of one principal two authorisations. */
export const authorisationOf = ({ scopes, roles }: Pick<Principal, 'scopes' | 'roles'>): string =>
  JSON.stringify([scopes, roles]);
