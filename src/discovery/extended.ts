import type { SigningKey } from '../card/sign.ts';
import type { Tag } from '../kernel/ids.ts';
import { issuerKeyTag } from './caller-tags.ts';
import { createRefreshExtended, type RefreshDoors } from './extended-refresh.ts';
import type { Forward } from './forward.ts';
import type { LocalCard } from './local-card.ts';
import { createLocalExtended } from './local-extended.ts';
import { type Logout, createLogout } from './logout.ts';
import { type Operate, createOperate } from './operate.ts';
import type { RefuseOperation } from './operation.ts';
import type { OwnCredentials } from './own-credentials.ts';
import { type ExtendedCards, type ExtendedParts, createExtendedCards } from './serve-extended.ts';
import type { ServeCard } from './serve-card.ts';
import { type ServeWellKnown, createServeWellKnown } from './serve-well-known.ts';
import { createSessions } from './sessions.ts';

/** Extended cards, whole: what answers callers, and what ends their sessions. */
export interface Extended {
  readonly operate: Operate;
  readonly serveWellKnown: ServeWellKnown;
  readonly logout: Logout;
  /** Takes out what carries one of the tags, or makes it stale; how many entries that were. */
  purge(tags: readonly Tag[], soft: boolean): number;
  /** Ends what was obtained on the word of an issuer's key that is gone. */
  withdraw(thumbprint: string): void;
  forgive(): void;
  settled(): Promise<void>;
}

type Parts = RefreshDoors &
  Omit<ExtendedParts, 'refresh' | 'sessions' | 'local'> & {
    /** What signs the cards that are rewritten. */
    readonly cardKey: SigningKey;
    readonly own: OwnCredentials;
    readonly otherwise: RefuseOperation;
    readonly serveCard: ServeCard;
    readonly localCard: LocalCard;
    readonly forward: Forward;
  };

/** Puts the parts of extended cards together. */
export function createExtended(parts: Parts): Extended {
  const { extended } = parts;
  const sessions = createSessions(extended);
  const cards: ExtendedCards = createExtendedCards({
    ...parts,
    sessions,
    refresh: createRefreshExtended(parts),
    local: createLocalExtended(parts.cardKey),
  });
  return {
    operate: createOperate({ ...parts, serveExtended: cards.serve }),
    serveWellKnown: createServeWellKnown(parts, cards),
    logout: createLogout(sessions),
    purge: (tags, soft) => extended.purge(tags, soft),
    withdraw: (thumbprint) => void extended.purge([issuerKeyTag(thumbprint)], false),
    forgive: () => cards.forgive(),
    settled: () => cards.settled(),
  };
}
