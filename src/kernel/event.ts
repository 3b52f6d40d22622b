import type { Trace } from './answer.ts';
import type { AgentName, ListenerName } from './ids.ts';
import type { Receipt } from './receipt.ts';
import { REGISTRY_STATUSES } from './registry.ts';
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
  /** What passes between a caller and an agent; counted, and never a line of the log. */
  | { readonly kind: 'forward'; readonly agent: AgentName; readonly what: Passed }
  /** A registry was asked: what it says of one agent, or that it could not be had. */
  | { readonly kind: 'lookup'; readonly registry: string; readonly result: LookupResult }
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

/** What was found in a registry (`cardea_registry_lookup_total{result}`). */
export const LOOKUP_RESULTS = [...REGISTRY_STATUSES, 'failed'] as const;
export type LookupResult = (typeof LOOKUP_RESULTS)[number];

/** Why an entry left the store (`cardea_cache_evictions_total{reason}`). */
export const EVICTION_REASONS = ['size', 'variants', 'purge', 'replaced', 'too-large'] as const;
export type EvictionReason = (typeof EVICTION_REASONS)[number];

/** Which way bytes go: a caller's request, or an agent's response. */
export const DIRECTIONS = ['request', 'response'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** One thing that happened to a call that passes through. */
export type Passed =
  /** The head of the agent's answer is there. */
  | { readonly is: 'opened'; readonly firstByte: Ms }
  | { readonly is: 'closed' }
  | { readonly is: 'bytes'; readonly direction: Direction; readonly bytes: Bytes };
