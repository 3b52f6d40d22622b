import type { Url } from '../kernel/ids.ts';
import type { Listing } from '../kernel/registry.ts';
import type { Bytes, EpochMs } from '../kernel/units.ts';

/** The doors to registries: whoever adds a kind of registry writes one `ReadRegistry`. */

/**
 * Reads what a registry's document says of some identifiers; what it does not list is not in the answer.
 * @throws RegistryError where it cannot be read, and whatever `open` throws.
 */
export type ReadRegistry = (document: Uint8Array, asked: AskedOf) => Promise<ReadonlyMap<string, Listing>>;

export interface AskedOf {
  /** Where the document came from; null for a file. */
  readonly base: Url | null;
  readonly identifiers: ReadonlySet<string>;
  /** Fetches a further document of the registry: null where no rule lets it be fetched. Throws where it cannot be had. */
  readonly open: (url: Url) => Promise<Uint8Array | null>;
}

/** Registries that are files. */
export interface RegistryFiles {
  /** Reads a whole file of at most so many bytes. Throws a RegistryError. */
  read(file: string, most: Bytes): Promise<Uint8Array>;
  /** Tells when the file has changed; the function that it returns ends that. */
  watch(file: string, changed: () => void): () => void;
}

/** What a registry said last, and when. */
export interface HeardRegistry {
  readonly name: string;
  /** The URL or path that it was read from: what one place said is not another's word. */
  readonly source: string;
  readonly at: EpochMs;
  readonly entries: readonly HeardEntry[];
}

export interface HeardEntry extends Listing {
  readonly id: string;
  /** Where the agent's card was taken from last. */
  readonly place: Url | null;
}

/** Where what registries said outlives a restart: no revocation is forgotten by one. */
export interface RegistryRecord {
  /** What was heard last from this place, by this process or an earlier one. */
  last(name: string, source: string): HeardRegistry | undefined;
  /**
   * Why it is not known what an earlier process heard of this registry; null where that is known, or it heard nothing. It stays
   * unknown until this registry is saved, whatever is saved of others, also through restarts.
   */
  doubt(name: string): string | null;
  /** Resolves to null when it will outlive a restart, else to why not. */
  save(heard: HeardRegistry): Promise<string | null>;
}
