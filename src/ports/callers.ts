import type { ExtendedEntry, PartitionKey } from '../kernel/extended-entry.ts';
import type { Generation, Tag } from '../kernel/ids.ts';
import type { Revocation, Revocations } from '../kernel/revocation.ts';
import type { SecretRef } from '../kernel/secret.ts';
import type { Bytes } from '../kernel/units.ts';

/** The doors that are there for callers: what is kept for each, and what is shown in their name or Cardea's. */

/**
 * Where extended cards live: in memory alone, each for one caller, the bytes of equal ones once. It takes no entry of the Store, and
 * the Store none of its own.
 */
export interface ExtendedStore {
  get(partition: PartitionKey): ExtendedEntry | undefined;
  /** False, and nothing changes, when a tag of it was purged after the entry's generation, or when it is larger than the store takes. */
  put(entry: ExtendedEntry): boolean;
  /** True where a tag of it was purged after the entry's generation: it is nobody's any more, whether it would be kept or not. */
  isEnded(entry: Pick<ExtendedEntry, 'tags' | 'generation'>): boolean;
  drop(entry: ExtendedEntry): void;
  /** Takes out everything that carries one of the tags, found by index; `soft` makes it stale instead. */
  purge(tags: readonly Tag[], soft: boolean): number;
  /** What a fetch remembers when it starts. */
  generation(): Generation;
  /** Entries and bytes held, and for how many principals. */
  held(): { readonly entries: number; readonly bytes: Bytes; readonly principals: number };
}

/** Reads secrets where the configuration says that they are, each time anew: they may rotate. */
export interface Secrets {
  /** Undefined where there is none, or no readable one. */
  read(secret: SecretRef): Promise<string | undefined>;
}

/** Where revocations outlive a restart, apart from every database. */
export interface RevocationBook {
  inForce(): Revocations;
  /**
   * In force when this returns, in the place of an earlier one of the same scope; resolves to null when it will outlive a restart, else
   * to why not. What has lapsed goes.
   */
  put(revocation: Revocation): Promise<string | null>;
}
