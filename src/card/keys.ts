import type { Url } from '../kernel/ids.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { Algorithm } from './algorithms.ts';
import type { PublicKey } from './verify.ts';

/** A public key as a key set publishes it: only members that say what the key is, in their one canonical encoding. */
export interface PublicJwk {
  readonly kty: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly n?: string;
  readonly e?: string;
}

/** One key that may have signed cards. */
export interface JwkKey {
  /** The name that its set gives it: a hint for finding it, never a reason to trust it. */
  readonly kid: string | undefined;
  /** RFC 7638, SHA-256, base64url: what the key is, whatever it is called. */
  readonly thumbprint: string;
  readonly jwk: PublicJwk;
  readonly publicKey: PublicKey;
  /** What it may verify: its type's algorithms, or the one that the set declares. */
  readonly algorithms: readonly Algorithm[];
  /** When it may be used, where the set says so (`nbf`, `exp`). */
  readonly from: EpochMs | null;
  readonly until: EpochMs | null;
}

/** Keys that one name in the configuration stands for. */
export interface KeySet {
  readonly name: string;
  /** Set where the keys are those behind a `jku`: they vouch only for signatures that name this very URL. */
  readonly jku?: Url;
  readonly keys: readonly JwkKey[];
  /** Names or thumbprints of keys that vouch for nothing any more, though the set may still hold them. */
  readonly revoked: readonly string[];
  /** When the keys were read; null for a set that was never had. */
  readonly fetchedAt: EpochMs | null;
  /** False where the set is older than `cache.keysMaxStale`, or was never had. */
  readonly usable: boolean;
}
