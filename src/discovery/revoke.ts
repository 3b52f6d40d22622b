import { type ReceiptId, type Tag, tag } from '../kernel/ids.ts';
import type { Authority } from '../kernel/receipt.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type Revocation, hasLapsed } from '../kernel/revocation.ts';
import { epochMs } from '../kernel/units.ts';
import type { Clock, Evidence } from '../ports.ts';
import type { ExtendedStore, RevocationBook } from '../ports/callers.ts';

export interface RevokeOrder {
  readonly kind: 'principal' | 'tenant';
  /** `issuer#subject`, a tenant, or the hash of either that a receipt shows. */
  readonly name: string;
  readonly reason: string;
  readonly by: Authority;
}

/** A revocation that is in force. */
export interface Revoked extends Revocation {
  /** How many entries it took out. */
  readonly dropped: number;
  /** False where a restart would forget it. */
  readonly persisted: boolean;
  /** Why it would. */
  readonly error?: string;
  readonly receipt: ReceiptId;
}

/** In force when this returns; resolves when it is written, or could not be. */
export type Revoke = (order: RevokeOrder) => Promise<Outcome<Revoked>>;

export interface RevokeParts {
  readonly clock: Clock;
  readonly revocations: RevocationBook;
  readonly extended: Pick<ExtendedStore, 'purge'>;
  readonly ledger: Pick<Evidence, 'issue' | 'commit' | 'keyedHash'>;
}

/** The whole record is written for each; who needs more kills the tenant or everything. */
const MOST = 10_000;

export function createRevoke({ clock, revocations, extended, ledger }: RevokeParts): Revoke {
  return async ({ kind, name, reason, by }) => {
    const scope = tag(`${kind}:${ledger.keyedHash(kind, name)}`);
    const now = clock.now();
    if (isFull(revocations, scope, now)) return refused(tooMany());
    // A clock that was set back takes nothing of an earlier order back.
    const at = epochMs(Math.max(now, revocations.inForce().get(scope)?.at ?? now));
    const writing = revocations.put({ scope, at });
    const dropped = extended.purge([scope], false);
    const receipt = ledger.issue();
    const noted = ledger.commit({ kind: 'change', id: receipt, at: now, action: 'revoke', about: [scope], reason, by });
    const [error] = await Promise.all([writing, noted]);
    const done = { scope, at, dropped, persisted: error === null, receipt };
    return accepted(error === null ? done : { ...done, error });
  };
}

function isFull(revocations: RevocationBook, scope: Tag, now: Revocation['at']): boolean {
  const held = revocations.inForce();
  return (
    !held.has(scope) && held.size >= MOST && [...held.values()].filter((each) => !hasLapsed(each, now)).length >= MOST
  );
}

const tooMany = () => refuse('conflict', `${MOST} revocations are in force; revoke or kill the tenant, or kill all.`);
