import { hash } from 'node:crypto';
import { type PolicyDigest, policyDigest } from '../kernel/ids.ts';
import { type EpochMs, epochMs } from '../kernel/units.ts';
import type { JwkKey, KeySet } from './keys.ts';

/** Names what an agent's card is judged by at an instant. */
export interface Identity {
  readonly policy: PolicyDigest;
  /** Until then the same sets have the same identity: the first instant at which a key of theirs begins or ends. */
  readonly until: EpochMs;
}

/**
 * Joins the digest of an agent's rules with what its key sets say now: every key that may vouch, and every one that may not. A verdict
 * that was reached under another identity was reached with other keys.
 */
export function identify(rules: PolicyDigest, sets: readonly KeySet[], now: EpochMs): Identity {
  if (sets.length === 0) return { policy: rules, until: FOR_EVER };
  const said = sets.map(({ name, jku, keys, revoked, usable }) => [
    name,
    jku ?? null,
    usable,
    revoked.toSorted(),
    keys.map((key) => [key.kid ?? null, key.thumbprint, key.algorithms.map(({ alg }) => alg), isCurrent(key, now)]),
  ]);
  const digest = hash('sha256', JSON.stringify([rules, said]));
  return { policy: policyDigest(`sha256:${digest}`), until: nextTurn(sets, now) };
}

/** True where a key may be used at this time, as far as the set says anything of it. */
export const isCurrent = ({ from, until }: JwkKey, now: EpochMs): boolean =>
  (from === null || from <= now) && (until === null || now < until);

const FOR_EVER = epochMs(Number.POSITIVE_INFINITY);

function nextTurn(sets: readonly KeySet[], now: EpochMs): EpochMs {
  let next = FOR_EVER;
  for (const { keys } of sets)
    for (const { from, until } of keys)
      for (const turn of [from, until]) if (turn !== null && turn > now && turn < next) next = turn;
  return next;
}
