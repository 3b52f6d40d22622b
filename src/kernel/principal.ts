import { type Tag, tag } from './ids.ts';
import { type EpochMs, epochMs } from './units.ts';

/** How it is known who is calling. */
export type PrincipalKind =
  | 'verified' // a token that a configured issuer signed
  | 'opaque' // any other credential: known by its keyed hash, and nothing more
  | 'certificate' // a client certificate that the listener verified
  | 'listener' // whoever speaks on a listener that names its principal
  | 'anonymous'; // no credential at all: one principal for each listener

/** Who is calling, as far as anything here decides by it. Holds no credential. */
export interface Principal {
  readonly kind: PrincipalKind;
  /** What kills, purges and revocations call it: `issuer#subject`, a keyed hash `h_…`, or the listener's word for it. */
  readonly id: string;
  /** The caller's tenant as its issuer says it; null for none, which is nobody's tenant. */
  readonly tenant: string | null;
  /** Sorted, each once: two tokens that say the same in another order are one authorisation. */
  readonly scopes: readonly string[];
  readonly roles: readonly string[];
  readonly audience: readonly string[];
  /** When its token was issued; null for what says nothing of it. */
  readonly issuedAt: EpochMs | null;
  /** When its token ends; never, for what has no end. */
  readonly until: EpochMs;
  /** What the key of the issuer is (RFC 7638), where one verified it. */
  readonly signedBy: string | null;
}

export const NO_END = epochMs(Number.POSITIVE_INFINITY);

const UNSAID = {
  tenant: null,
  scopes: [],
  roles: [],
  audience: [],
  issuedAt: null,
  until: NO_END,
  signedBy: null,
} as const;

/** A caller that is known by one word alone. */
export const plainPrincipal = (kind: Exclude<PrincipalKind, 'verified'>, id: string): Principal => ({
  ...UNSAID,
  kind,
  id,
});

/** How evidence and tags name callers: the same name gives the same hash. */
export type NameHash = (kind: 'principal' | 'tenant', name: string) => string;

/** What finds everything of one principal, whatever its tenant. */
export const principalTag = (id: string): Tag => tag(`principal:${id}`);

/** What kills, purges and revocations find a caller by: its name and its tenant's, in clear and as a receipt shows them. */
export function principalTags({ id, tenant }: Pick<Principal, 'id' | 'tenant'>, hash: NameHash): readonly Tag[] {
  const tags = [principalTag(id), principalTag(hash('principal', id))];
  if (tenant !== null) tags.push(tag(`tenant:${tenant}`), tag(`tenant:${hash('tenant', tenant)}`));
  return [...new Set(tags)];
}
