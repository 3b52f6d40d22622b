import type { Tag } from '../kernel/ids.ts';
import { type Principal, principalTag } from '../kernel/principal.ts';
import type { EpochMs } from '../kernel/units.ts';
import { authorisationOf } from '../policy/principals.ts';
import type { ExtendedStore } from '../ports/callers.ts';
import type { Caller } from './callers.ts';

/** What is held for callers, and its end. Everything is found by index, and what is on its way cannot come back. */
export interface Sessions {
  /** Notes who asks: a later token of the same principal that says something else ends what was obtained by the earlier one. */
  seen(caller: Caller): void;
  /** Ends everything of one principal; how many entries that were. */
  end(caller: Caller): number;
}

/** What the latest token of a principal says. */
interface Latest {
  readonly issuedAt: EpochMs;
  readonly authorisation: string;
}

/** Principals whose latest token is remembered; of one that is forgotten the next token is the first. */
const MOST = 10_000;

export function createSessions(extended: Pick<ExtendedStore, 'purge'>): Sessions {
  const latest = new Map<string, Latest>();
  const end = ({ principal }: Caller): number => extended.purge([nameOf(principal)], false);
  return {
    end,
    seen(caller) {
      const { principal } = caller;
      const { issuedAt } = principal;
      if (principal.kind !== 'verified' || issuedAt === null) return;
      const key = JSON.stringify([principal.id, principal.tenant]);
      const before = latest.get(key);
      // Tokens of one sign-on may differ and be used in turn: only a newer one says that the old word has changed.
      if (before !== undefined && issuedAt <= before.issuedAt) return;
      const authorisation = authorisationOf(principal);
      if (before !== undefined && before.authorisation !== authorisation) end(caller);
      latest.delete(key);
      latest.set(key, { issuedAt, authorisation });
      if (latest.size > MOST) for (const oldest of latest.keys()) return void latest.delete(oldest);
    },
  };
}

/** A tenant is no principal: another caller of it stays. */
const nameOf = ({ id }: Principal): Tag => principalTag(id);
