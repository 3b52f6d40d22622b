import { type Tag, tag } from '../kernel/ids.ts';
import type { Principal } from '../kernel/principal.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { type Revocation, type Revocations, hasLapsed } from '../kernel/revocation.ts';
import type { EpochMs } from '../kernel/units.ts';

/** A caller, as far as a revocation concerns it. */
export interface Bearer {
  readonly principal: Principal;
  readonly tags: readonly Tag[];
}

const ALL = tag('all');

/**
 * Says whether what a caller has shown was taken back. A token that says when it was issued is good again once it is newer; `iat` is
 * in whole seconds, so one of the very second of the order is refused, as it may have been issued before.
 */
export function revokedBy(revocations: Revocations, bearer: Bearer, now: EpochMs): Refusal | undefined {
  if (revocations.size === 0) return undefined;
  const { issuedAt } = bearer.principal;
  for (const { at } of concerning(revocations, bearer, now)) {
    if (issuedAt === null) return refuse('token-revoked', OUTRIGHT);
    if (issuedAt <= at) return refuse('token-revoked', BEFORE);
  }
  return undefined;
}

const BEFORE = 'Every token of this caller issued so far was revoked here; get a new one from its issuer.';
const OUTRIGHT =
  'This caller was revoked here, and its credential does not say when it was issued; ask whoever runs Cardea.';

function concerning(revocations: Revocations, { principal, tags }: Bearer, now: EpochMs): readonly Revocation[] {
  const scopes = showsNothing(principal) ? tags : [ALL, ...tags];
  return scopes.flatMap((scope) => {
    const found = revocations.get(scope);
    return found === undefined || hasLapsed(found, now) ? [] : [found];
  });
}

/** Whoever shows no credential has none that a lost record could have named. */
const showsNothing = ({ kind }: Principal): boolean => kind === 'anonymous' || kind === 'listener';
