import type { ChangeClass } from './change.ts';
import type { FaultCode } from './faults.ts';
import type { AgentName, CardDigest, PolicyDigest, ReceiptId, Url, VariantKey } from './ids.ts';
import type { Verdict } from './entry.ts';
import type { KillSource } from './kill.ts';
import type { FetchOutcome, Purpose, Review } from './outcome.ts';
import type { RegistryAction, RegistryStatus } from './registry.ts';
import type { EpochMs, Ms } from './units.ts';

/** What one exchange did on the network, filled by the Fetcher. Holds no credential and no body. */
export interface Trail {
  readonly requestedUrl: Url;
  readonly finalUrl: Url;
  readonly redirects: readonly Url[];
  /** Addresses that the name resolved to, in the order tried. */
  readonly addresses: readonly string[];
  /** True when an existing connection carried it, so nothing was resolved. */
  readonly reused: boolean;
}

/** The record of one exchange with an origin and of the verdict it led to. Never a token, never a card's text. */
export interface ExchangeReceipt {
  readonly kind: 'exchange';
  readonly id: ReceiptId;
  readonly at: EpochMs;
  readonly purpose: Purpose;
  readonly agent: AgentName | null;
  /** Set where it was for one caller's extended card: keyed hashes, null for a caller that has no name. */
  readonly caller?: { readonly principal: string | null; readonly tenant: string | null };
  readonly variant: VariantKey | null;
  readonly trail: Trail;
  readonly conditional: boolean;
  /** The origin's status, or null when none arrived. */
  readonly status: number | null;
  /** The fields that decided caching, as received: Cache-Control, Age, Expires, Date, ETag, Last-Modified, Vary. */
  readonly caching: Readonly<Record<string, string>>;
  readonly digest: CardDigest | null;
  readonly version: string | null;
  readonly protocolVersion: string | null;
  readonly interfaceUrl: string | null;
  readonly verdict: Verdict | null;
  readonly review: Review | null;
  /** What kinds of change the card had, where it was compared with one before. */
  readonly changes: readonly ChangeClass[];
  readonly warnings: readonly string[];
  readonly outcome: FetchOutcome;
  /** The refusal's code and detail, where the outcome is one. */
  readonly code: FaultCode | null;
  readonly why: string | null;
  readonly policy: PolicyDigest | null;
  readonly took: Ms;
}

/** The record of a verdict on a card that no exchange brought: at start and after a reload stored cards are judged again. */
export interface VerdictReceipt {
  readonly kind: 'verdict';
  readonly id: ReceiptId;
  readonly at: EpochMs;
  readonly agent: AgentName | null;
  readonly variant: VariantKey | null;
  readonly digest: CardDigest | null;
  readonly verdict: Verdict | null;
  readonly review: Review | null;
  readonly changes: readonly ChangeClass[];
  readonly outcome: 'accepted' | 'refused';
  readonly code: FaultCode | null;
  readonly why: string | null;
  readonly policy: PolicyDigest;
}

/** Where an order came from: a token, a session of the console, a socket's mode, a signal, a file; never a name that nobody has checked. */
export type Authority = Exclude<KillSource, 'unreadable-state'>;

/** The record of a person's decision on one card. */
export interface ReviewReceipt {
  readonly kind: 'review';
  readonly id: ReceiptId;
  readonly at: EpochMs;
  readonly agent: AgentName;
  readonly digest: CardDigest;
  readonly action: 'approve' | 'reject';
  readonly reason: string;
  readonly by: Authority;
}

/** The record of a stop or of its end. */
export interface SwitchReceipt {
  readonly kind: 'switch';
  readonly id: ReceiptId;
  readonly at: EpochMs;
  readonly action: 'kill' | 'lift';
  /** Names the stop. */
  readonly kill: string;
  /** The scope; the name of a tenant or principal as its keyed hash. */
  readonly scope: string;
  readonly reason: string;
  readonly by: KillSource;
}

/** What an administrator may order besides stops and reviews. */
export const CHANGES = ['purge', 'refresh', 'reload', 'drain', 'revoke', 'sign-in'] as const;
export type Change = (typeof CHANGES)[number];

/** The record of such an order, written before it takes effect; a revocation takes effect first. */
export interface ChangeReceipt {
  readonly kind: 'change';
  readonly id: ReceiptId;
  readonly at: EpochMs;
  readonly action: Change;
  /** The agent or the tags that it is about; the name of a tenant or principal as its keyed hash. */
  readonly about: readonly string[];
  readonly reason: string | null;
  readonly by: Authority;
}

/** The record of what a registry says of an agent that it did not say before, and of what becomes of it. */
export interface RegistryReceipt {
  readonly kind: 'registry';
  readonly id: ReceiptId;
  readonly at: EpochMs;
  readonly agent: AgentName;
  readonly registry: string;
  /** The identifier of its entry. */
  readonly entry: string;
  readonly status: RegistryStatus;
  readonly action: RegistryAction;
  readonly said: string;
  /** Where the agent's card is taken from now. */
  readonly url: Url | null;
  /** Why the place that the registry names is not used. */
  readonly code: FaultCode | null;
  readonly why: string | null;
}

/** The record of what one caller was refused about one agent within a minute. */
export interface RefusalReceipt {
  readonly kind: 'refusal';
  readonly id: ReceiptId;
  /** When the first of them happened. */
  readonly at: EpochMs;
  readonly agent: AgentName | null;
  readonly code: FaultCode;
  /** Keyed hashes; null for a caller that has no name. */
  readonly principal: string | null;
  readonly tenant: string | null;
  readonly count: number;
}

/** What one caller was refused about one agent; callers by their keyed hashes. */
export interface RefusalNote {
  readonly agent: AgentName | null;
  readonly code: FaultCode;
  readonly principal: string | null;
  readonly tenant: string | null;
}

/** Every kind of receipt. */
export type Receipt =
  | ExchangeReceipt
  | VerdictReceipt
  | ReviewReceipt
  | SwitchReceipt
  | ChangeReceipt
  | RegistryReceipt
  | RefusalReceipt;
