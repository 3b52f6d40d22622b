import type { Admission, Lifetime } from './entry.ts';
import type { Fields } from './fields.ts';
import type { AgentName, CardDigest, Generation, Tag } from './ids.ts';
import type { EpochMs, Ms } from './units.ts';

declare const partition: unique symbol;
/**
 * The key of what was obtained for one caller. Made in `discovery/partition.ts` alone, of everything that the answer depends on; no
 * key of the public store is one, and it is none of theirs.
 */
export type PartitionKey = string & { readonly [partition]: true };

/**
 * An extended card as it was obtained for one caller. It has no `EntryKey`, so that no public store takes it, and nothing public has
 * a partition: the wrong one in the wrong place is a type error.
 */
export interface ExtendedEntry {
  readonly partition: PartitionKey;
  readonly agent: AgentName;
  readonly body: Uint8Array;
  readonly etag: string;
  /** What the answer shows of the origin's fields: Date, Content-Type, Last-Modified. */
  readonly fields: Fields;
  readonly receivedAt: EpochMs;
  readonly initialAge: Ms;
  readonly lifetime: Lifetime;
  readonly admission: Admission;
  /** When it ends, however fresh: the end of the token or of the session. */
  readonly until: EpochMs;
  /** The public card that it goes with: another one in its place ends it. */
  readonly publicDigest: CardDigest;
  readonly generation: Generation;
  readonly tags: readonly Tag[];
}
