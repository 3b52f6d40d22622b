import type { Trace } from './answer.ts';
import type { ListenerName } from './ids.ts';
import type { Receipt } from './receipt.ts';
import type { Bytes, Ms } from './units.ts';

/** What the observer hears; each becomes metrics and, where it is worth one, a canonical log line. */
export type Event =
  | {
      readonly kind: 'request';
      readonly listener: ListenerName;
      readonly method: string;
      readonly status: number;
      readonly trace: Trace;
      readonly took: Ms;
    }
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  /** Evidence that could not be written down. */
  | { readonly kind: 'receipts-lost'; readonly count: number }
  | { readonly kind: 'evicted'; readonly reason: EvictionReason; readonly count: number; readonly bytes: Bytes }
  | {
      readonly kind: 'notice';
      readonly level: 'debug' | 'info' | 'warn' | 'error';
      readonly msg: string;
      /** Further members of the log line; never a secret. */
      readonly about?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
    };

/** Why an entry left the store (`cardea_cache_evictions_total{reason}`). */
export const EVICTION_REASONS = ['size', 'variants', 'purge', 'replaced', 'too-large'] as const;
export type EvictionReason = (typeof EVICTION_REASONS)[number];
