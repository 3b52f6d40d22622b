import type { FaultCode } from './faults.ts';
import type { AgentName, CardDigest, PolicyDigest, ReceiptId, Url, VariantKey } from './ids.ts';
import type { Verdict } from './entry.ts';
import type { FetchOutcome, Purpose, Review } from './outcome.ts';
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

/** The record of one exchange with an origin and of the verdict it led to (contract, section 6). Never a token, never a card's text. */
export interface ExchangeReceipt {
  readonly kind: 'exchange';
  readonly id: ReceiptId;
  readonly at: EpochMs;
  readonly purpose: Purpose;
  readonly agent: AgentName | null;
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
  readonly warnings: readonly string[];
  readonly outcome: FetchOutcome;
  /** The refusal's code and detail, where the outcome is one. */
  readonly code: FaultCode | null;
  readonly why: string | null;
  readonly policy: PolicyDigest | null;
  readonly took: Ms;
}

/** Every kind of receipt; the ledger, gate and switch add theirs. */
export type Receipt = ExchangeReceipt;
