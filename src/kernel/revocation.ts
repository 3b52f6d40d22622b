import type { Tag } from './ids.ts';
import { type EpochMs, type Ms, ms } from './units.ts';

/** What a person has taken back: every token of a principal or a tenant that is no newer than this instant. */
export interface Revocation {
  /** `principal:h_…` or `tenant:h_…`, as receipts show them; `all` where the record of revocations could not be believed. */
  readonly scope: Tag;
  readonly at: EpochMs;
}

/** Those in force, by scope. */
export type Revocations = ReadonlyMap<Tag, Revocation>;

/** No access token lives so long, and no certificate of a public authority: what was issued before is over by then. */
export const REVOKED_FOR: Ms = ms(400 * 24 * 60 * 60 * 1_000);

/** True once no token from before it can still be valid. */
export const hasLapsed = ({ at }: Revocation, now: EpochMs): boolean => now - at >= REVOKED_FOR;
