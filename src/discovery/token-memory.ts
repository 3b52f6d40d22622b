import type { Refusal } from '../kernel/refusal.ts';
import { type EpochMs, type Ms, isDuring, later, ms } from '../kernel/units.ts';
import type { VerifiedToken } from '../policy/verify-token.ts';
import type { Caller } from './callers.ts';
import type { Issuer } from './issuers.ts';

/** A token that was verified once, and the callers that it has been. */
export interface KnownToken {
  readonly issuer: Issuer;
  readonly token: VerifiedToken;
  readonly verifiedAt: EpochMs;
  /** By the tenant that the caller has chosen. */
  readonly callers: Map<string, Caller>;
}

/**
 * Remembers verifications by the keyed hash of the whole credential, never by a part of it. Bad tokens are remembered apart, for a
 * moment: a flood of them pushes out no good one, and a key that arrives is seen soon.
 */
export interface TokenMemory {
  good(hash: string): KnownToken | undefined;
  /** The same without counting as a use: what stands on it is asked for by a use once a second. */
  peek(hash: string): KnownToken | undefined;
  bad(hash: string, now: EpochMs): Refusal | undefined;
  /** Whoever shows a credential that nobody vouches for: its name is all that is known of it. */
  opaque(hash: string): Caller | undefined;
  keepOpaque(hash: string, caller: Caller): void;
  keep(hash: string, known: KnownToken): void;
  refuse(hash: string, refusal: Refusal, now: EpochMs): void;
  forget(hash: string): void;
}

/** Callers at one time; about 20 MB at the most. */
const MOST_GOOD = 10_000;
const MOST_BAD = 1_000;
const MOST_OPAQUE = 1_000;
/** As long as a failing card: a broken client costs one verification in this time. */
const BAD_FOR: Ms = ms(10_000);

export function createTokenMemory(): TokenMemory {
  const good = new Map<string, KnownToken>();
  const bad = new Map<string, { readonly refusal: Refusal; readonly at: EpochMs }>();
  const opaque = new Map<string, Caller>();
  return {
    good: (hash) => used(good, hash),
    peek: (hash) => good.get(hash),
    opaque: (hash) => used(opaque, hash),
    keepOpaque: (hash, caller) => put(opaque, hash, caller, MOST_OPAQUE),
    bad(hash, now) {
      const known = bad.get(hash);
      return known !== undefined && isDuring(now, known.at, later(known.at, BAD_FOR)) ? known.refusal : undefined;
    },
    keep: (hash, known) => put(good, hash, known, MOST_GOOD),
    refuse: (hash, refusal, now) => put(bad, hash, { refusal, at: now }, MOST_BAD),
    forget: (hash) => void good.delete(hash),
  };
}

/** The order is that of the last use. */
function used<Value>(memory: Map<string, Value>, hash: string): Value | undefined {
  const known = memory.get(hash);
  if (known === undefined) return undefined;
  memory.delete(hash);
  memory.set(hash, known);
  return known;
}

function put<Value>(memory: Map<string, Value>, hash: string, value: Value, most: number): void {
  memory.delete(hash);
  memory.set(hash, value);
  if (memory.size <= most) return;
  const [oldest] = memory.keys();
  if (oldest !== undefined) memory.delete(oldest);
}
