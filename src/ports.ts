import type { EgressRule } from './kernel/egress-rule.ts';
import type { Entry } from './kernel/entry.ts';
import type { Event } from './kernel/event.ts';
import type { ByteStream, Fields } from './kernel/fields.ts';
import type { AgentName, EntryKey, Generation, ReceiptId, Tag, Url } from './kernel/ids.ts';
import type { Purpose } from './kernel/outcome.ts';
import type { Receipt, Trail } from './kernel/receipt.ts';
import type { Refusal } from './kernel/refusal.ts';
import type { Bytes, EpochMs, Ms } from './kernel/units.ts';

/** The five doors between the rules and the world. `daemon.ts` chooses who stands behind each. */

/** Time and chance: tests bring their own. */
export interface Clock {
  now(): EpochMs;
  /** Runs once after the delay unless cancelled; does not keep the process alive. */
  after(delay: Ms, run: () => void): () => void;
  /** At least 0, below 1. */
  random(): number;
}

/** One exchange to make. The Fetcher adds Host, Via, Connection and Accept-Encoding and removes what is hop-by-hop. */
export interface FetchOrder {
  readonly purpose: Purpose;
  readonly agent: AgentName | null;
  readonly url: Url;
  readonly method: string;
  readonly fields: Fields;
  readonly body: ByteStream | null;
  readonly rule: EgressRule;
  readonly limits: FetchLimits;
  readonly signal: AbortSignal;
}

export interface FetchLimits {
  /** Until the connection, TLS included, stands. */
  readonly connect: Ms;
  /** From the start to the last byte; 0 for none (streams). */
  readonly total: Ms;
  /** The longest silence while a body flows, either way. */
  readonly idle: Ms;
  /** The largest decoded body; 0 for no bound (streams). */
  readonly bytes: Bytes;
  /** How many redirects may be followed. */
  readonly redirects: number;
}

/** A response whose head has arrived. Reading the body may throw a RefusalError. */
export interface StreamedResponse {
  readonly status: number;
  readonly fields: Fields;
  readonly body: ByteStream;
}

/** A response that has arrived whole, within every limit, content codings undone. */
export interface WholeResponse {
  readonly status: number;
  readonly fields: Fields;
  readonly body: Uint8Array;
}

/** How an exchange ended. The trail says what was tried, also where nothing came of it. */
export type FetchResult<Response> =
  | { readonly ok: true; readonly response: Response; readonly trail: Trail }
  | { readonly ok: false; readonly refusal: Refusal; readonly trail: Trail };

/** Everything that leaves the process, and nothing else does. */
export interface Fetcher {
  /** Fetches a whole, bounded response: cards, keys, tokens, registries. */
  fetch(order: FetchOrder): Promise<FetchResult<WholeResponse>>;
  /** Opens an exchange that streams both ways, codings untouched: `content: any` and forwarded traffic. */
  open(order: FetchOrder): Promise<FetchResult<StreamedResponse>>;
}

/** Where entries live. `peek` is the hit path: memory only, no waiting. */
export interface Store {
  /** All variants under a key that memory holds, most recently stored first. */
  peek(key: EntryKey): readonly Entry[];
  /** The same, deeper tiers included. */
  find(key: EntryKey): Promise<readonly Entry[]>;
  /**
   * Puts an entry in place of the one of the same key and variant. False, and nothing changes, when a tag of it was purged
   * after the entry's generation, or when it is larger than the store takes.
   */
  put(entry: Entry): Promise<boolean>;
  /** Takes out one entry, if it is still this very one. */
  drop(entry: Entry): Promise<void>;
  /** Takes out everything that carries one of the tags; `soft` makes it stale instead. Resolves to how many entries it concerned. */
  purge(tags: readonly Tag[], soft: boolean): Promise<number>;
  /** Today's generation: what a fetch remembers when it starts. */
  generation(): Generation;
  /** Entries and bytes held, for metrics. */
  size(): { readonly entries: number; readonly bytes: Bytes };
  close(): Promise<void>;
}

/** Evidence. Ids are given out before the record is complete, so that an answer can name its record. */
export interface Ledger {
  issue(): ReceiptId;
  record(receipt: Receipt): void;
  close(): Promise<void>;
}

/** Everything that is seen from outside: metrics and logs. Never throws, never waits. */
export interface Observer {
  record(event: Event): void;
}
