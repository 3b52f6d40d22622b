import { decodeJwt } from 'jose/jwt/decode';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import type { AgentRule, IssuerRule } from './rules.ts';

/**
 * Refuses to send a credential to an agent that it is not for: whoever receives a token can use it wherever it is taken. What a
 * JWT says is enough to refuse by; whether it is true is for the agent to verify.
 * @param authorization the Authorization field as the caller sent it.
 * @param issuers those whose tokens name callers here.
 */
export function refuseAudience(
  authorization: string | undefined,
  { name, extended }: Pick<AgentRule, 'name' | 'extended'>,
  issuers: readonly Pick<IssuerRule, 'issuer' | 'audience'>[],
): Refusal | undefined {
  if (authorization === undefined) return undefined;
  const claims = claimsOf(authorization);
  if (claims === null) {
    if (extended.opaque === 'allow') return undefined;
    return refuse(
      'token-audience',
      `The credential is no JWT, so that nobody can tell whom it is for; agents.${name}.extended.opaque: allow lets it pass.`,
    );
  }
  const audiences = [claims.aud ?? []].flat().filter((one) => typeof one === 'string');
  if (audiences.some((one) => extended.audience.some((wanted) => isSame(one, wanted)))) return undefined;
  if (isForUs(audiences, issuers) && !issuers.some(({ issuer }) => issuer === claims.iss))
    return refuse(
      'token-issuer',
      `The token is for Cardea, where nobody vouches for its issuer, and not for this agent. Get one of an issuer in principals.issuers, or one whose aud holds ${extended.audience.join(' or ')}.`,
    );
  return refuse(
    'token-audience',
    `The token is not for this agent: its aud must hold ${extended.audience.join(' or ')}. Get one that does, or set agents.${name}.extended.audience.`,
  );
}

/** An origin is the same with and without the slash of its empty path (RFC 9110 §4.2.3). */
const isSame = (one: string, other: string): boolean => withoutSlash(one) === withoutSlash(other);
const withoutSlash = (url: string): string => url.replace(/^(https?:\/\/[^/]+)\/$/, '$1');

const isForUs = (audiences: readonly string[], issuers: readonly Pick<IssuerRule, 'audience'>[]): boolean =>
  issuers.some(({ audience }) => audience.some((wanted) => audiences.includes(wanted)));

/** Reads what a JWT says of itself; null where it is none. */
function claimsOf(authorization: string): Pick<ReturnType<typeof decodeJwt>, 'aud' | 'iss'> | null {
  // Whatever scheme it comes under: some agents take it under any, or under none.
  const token = /^(?:.*[ \t])?([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*)[ \t]*$/s.exec(authorization)?.[1];
  if (token === undefined) return null;
  try {
    return decodeJwt(token);
  } catch {
    return null;
  }
}
