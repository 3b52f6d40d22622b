import type { CachePolicy } from '../kernel/cache-policy.ts';
import type { CardRule } from '../kernel/card-rule.ts';
import type { EgressRule, OriginPattern } from '../kernel/egress-rule.ts';
import type { AgentName, ListenerName, PolicyDigest, Url } from '../kernel/ids.ts';
import type { Bytes, Ms } from '../kernel/units.ts';

/** The configuration as the rest of the program reads it: one immutable snapshot, replaced whole or not at all. */
export interface Rules {
  /** Digest of the effective configuration (`cardea_config_info`). */
  readonly digest: string;
  readonly agents: ReadonlyMap<AgentName, AgentRule>;
  readonly origins: readonly OriginRule[];
  /** What each listener serves; the key is the name it is opened under. */
  readonly listeners: ReadonlyMap<ListenerName, ListenerRole>;
  readonly limits: Limits;
  readonly prefetch: { readonly enabled: boolean; readonly timeout: Ms };
}

/** What a listener of the agents' side serves: the whole listener, or one agent or one origin at the root. */
export type ListenerRole =
  | { readonly serves: 'agents' }
  | { readonly serves: 'agent'; readonly agent: AgentName }
  | { readonly serves: 'origin'; readonly origin: OriginRule };

export interface AgentRule {
  readonly name: AgentName;
  /** Card URLs in the order they are tried: the well-known path, then the 0.2 path; one alone where `card` is written. */
  readonly cards: readonly Url[];
  readonly egress: EgressRule;
  readonly cache: CachePolicy;
  /** Digest of every setting that an admission depends on. */
  readonly policy: PolicyDigest;
  readonly card: CardRule;
}

export interface OriginRule {
  /** `origins[2]`, for messages. */
  readonly name: string;
  readonly match: OriginPattern;
  readonly content: 'card' | 'any' | 'none';
  readonly egress: EgressRule;
  readonly cache: CachePolicy;
}

export interface Limits {
  readonly cardBytes: Bytes;
  /** How many redirects an exchange may follow. */
  readonly redirects: number;
  readonly jsonDepth: number;
  readonly connect: Ms;
  /** Whole exchange for cards, keys, tokens and registries. */
  readonly response: Ms;
  /** Such exchanges at one time. */
  readonly concurrency: number;
  /** Streamed exchanges at one time. */
  readonly forwardConcurrency: number;
  readonly streamIdle: Ms;
  readonly clientConnections: number;
}
