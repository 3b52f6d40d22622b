import { compactVerify } from 'jose/jws/compact/verify';
import { importJWK } from 'jose/key/import';
import type { Principal } from '../kernel/principal.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type EpochMs, epochMs } from '../kernel/units.ts';
import { readClaims, type Subject } from './claims.ts';
import type { IssuerRule } from './rules.ts';
import type { ReadToken } from './token.ts';

/** A public key of an issuer, as a key set publishes it. */
export interface TokenKey {
  readonly kid: string | undefined;
  readonly thumbprint: string;
  readonly jwk: { readonly kty: string };
  /** What it may verify. */
  readonly algorithms: readonly { readonly alg: string }[];
  readonly from: EpochMs | null;
  readonly until: EpochMs | null;
}

/** A token that its issuer signed, and what it says of its bearer, the choice among several tenants aside. */
export interface VerifiedToken {
  readonly subject: Subject;
  readonly signedBy: string;
}

/** How verification ended; `unknown-key` may end otherwise with newer keys. */
export type Verification =
  | { readonly ok: true; readonly token: VerifiedToken }
  | { readonly ok: false; readonly why: 'unknown-key' | 'refused'; readonly refusal: ReturnType<typeof refuse> };

/** RFC 8725 §3.11: other kinds of JWT of the same issuer (ID tokens, logout tokens, proofs) say so, and are no access tokens. */
const TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt']);
/** Keys without a name, or of one name: a rotation shows two; each more costs a verification per guess. */
const MOST_KEYS = 4;

/** Verifies a token of a configured issuer at one instant: header, signature, claims, times. Asks nobody for anything. */
export async function verifyToken(
  token: ReadToken,
  issuer: IssuerRule,
  keys: readonly TokenKey[],
  now: EpochMs,
): Promise<Verification> {
  const wrong = wrongHeader(token);
  if (wrong !== undefined) return no(invalid(wrong));
  const candidates = findKeys(token, keys, now);
  if (candidates.length === 0)
    return { ok: false, why: 'unknown-key', refusal: invalid('no key of its issuer fits its kid and alg') };
  const signedBy = await firstThatHolds(token, candidates);
  if (signedBy === undefined) return { ok: false, why: 'unknown-key', refusal: invalid('its signature does not hold') };
  const subject = readClaims(token, issuer, now);
  return subject.ok ? { ok: true, token: { subject: subject.value, signedBy } } : no(subject.refusal);
}

const no = (refusal: ReturnType<typeof refuse>): Verification => ({ ok: false, why: 'refused', refusal });

/** What is wrong goes to the caller in one sentence without a word of the token. */
export const invalid = (what: string): ReturnType<typeof refuse> =>
  refuse('token-invalid', `The token is refused: ${what}.`);

function wrongHeader({ header }: ReadToken): string | undefined {
  const { typ, crit, zip } = header;
  if (crit !== undefined || zip !== undefined) return 'its header asks for an extension that is not understood';
  if (typ === undefined) return undefined;
  return typeof typ === 'string' && TYPES.has(typ.toLowerCase()) ? undefined : 'its typ is not that of an access token';
}

/** `kid` finds a key and proves nothing; `jku`, `x5u`, `jwk` and `x5c` would let the token bring its own, and are not read. */
function findKeys({ header }: ReadToken, keys: readonly TokenKey[], now: EpochMs): readonly TokenKey[] {
  const { kid, alg } = header;
  return keys
    .filter((key) => kid === undefined || key.kid === kid)
    .filter((key) => key.algorithms.some((one) => one.alg === alg))
    .filter(({ from, until }) => (from === null || from <= now) && (until === null || now < until))
    .slice(0, MOST_KEYS);
}

async function firstThatHolds({ text, header }: ReadToken, keys: readonly TokenKey[]): Promise<string | undefined> {
  const alg = String(header['alg']);
  for (const key of keys) {
    // The algorithm is the key's, so that no token picks HMAC over a public key.
    const imported = await importJWK({ ...key.jwk }, alg);
    const holds = await compactVerify(text, imported, { algorithms: [alg] }).then(
      () => true,
      () => false,
    );
    if (holds) return key.thumbprint;
  }
  return undefined;
}

/**
 * Makes the principal of one request: among several tenants the caller's own field chooses.
 * @param chosen what it names; `''` for none.
 */
export function principalOf(
  { subject, signedBy }: VerifiedToken,
  issuer: IssuerRule,
  chosen: string,
): Outcome<Principal> {
  const tenant = tenantOf(subject, issuer, chosen);
  if (!tenant.ok) return tenant;
  const { id, scopes, roles, audience, issuedAt, until } = subject;
  return accepted({
    kind: 'verified',
    id,
    tenant: tenant.value,
    scopes,
    roles,
    audience,
    issuedAt,
    until: until ?? epochMs(Number.POSITIVE_INFINITY),
    signedBy,
  });
}

/** A header alone makes nobody a tenant's: it picks one of those that the issuer has signed. */
function tenantOf(
  { tenants }: Subject,
  { claims: { tenantHeader } }: IssuerRule,
  chosen: string,
): Outcome<string | null> {
  if (tenants.is === 'one') {
    const differs = tenantHeader !== null && chosen !== '' && chosen !== tenants.tenant;
    return differs ? refused(invalid(`${tenantHeader} names a tenant that is not its own`)) : accepted(tenants.tenant);
  }
  if (tenantHeader === null) return refused(invalid('it names several tenants, and no tenantHeader is configured'));
  if (chosen === '') return refused(invalid(`it names several tenants; choose one of them with ${tenantHeader}`));
  return tenants.among.includes(chosen)
    ? accepted(chosen)
    : refused(invalid(`${tenantHeader} names a tenant that is not among its own`));
}
