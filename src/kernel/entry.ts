import type { Fields } from './fields.ts';
import type {
  AgentName,
  CardDigest,
  EntryKey,
  Generation,
  PolicyDigest,
  ReceiptId,
  Tag,
  Url,
  VariantKey,
} from './ids.ts';
import type { Review, SignatureVerdict, UnverifiedWhy } from './outcome.ts';
import type { EpochMs, Ms } from './units.ts';

/** What was found about a card's signatures. */
export interface Verdict {
  readonly signature: SignatureVerdict;
  readonly why?: UnverifiedWhy;
  readonly kid?: string;
  readonly alg?: string;
  /** The name of the key set that holds the key. */
  readonly keys?: string;
  /** The canonical form that the signature is over. */
  readonly form?: string;
  /** JSON Pointers of members outside the signature that are not served. */
  readonly dropped?: readonly string[];
}

/** What a card says of itself, as far as others read it (metrics, receipts, lists). */
export interface CardFacts {
  readonly name: string;
  readonly version: string;
  /** `0.2`, `0.3` or `1.0`: how the card was read. */
  readonly protocolVersion: string;
  /** The interface that a client would pick, where one is declared. */
  readonly interfaceUrl?: string;
  readonly extended: boolean;
}

/** The record that let one card in: it is stored with the bytes, and judged again when `policy` is no longer today's. */
export interface Admission {
  readonly digest: CardDigest;
  readonly verdict: Verdict;
  readonly review: Review;
  readonly facts: CardFacts;
  readonly policy: PolicyDigest;
  readonly receipt: ReceiptId;
  readonly at: EpochMs;
  /** What a stricter reading would refuse; for the receipt and `lint`. */
  readonly warnings: readonly string[];
}

/** How long an entry may be used, fixed when it was stored or validated (RFC 9111 §4.2, RFC 5861), every ceiling applied. */
export interface Lifetime {
  /** The freshness lifetime. */
  readonly fresh: Ms;
  /** How long past `fresh` it may be served while a refresh runs. */
  readonly staleWhileRevalidate: Ms;
  /** How long past `fresh` it may be served because the origin fails; 0 where the origin forbids it. */
  readonly staleIfError: Ms;
  /** `no-cache`: usable only after validation, however young. */
  readonly validateAlways: boolean;
  /** `must-revalidate` and its like: never served stale to anyone, whatever the caller allows. */
  readonly mustRevalidate: boolean;
  /** RFC 8246: a reload by the caller needs no revalidation while it is fresh. */
  readonly immutable: boolean;
}

/** A content coding that stored bodies are kept in (RFC 9110 §8.4.1). */
export type ContentCoding = 'br' | 'gzip';

/** A stored body in one content coding: a representation of its own, with a strong entity tag of its coded bytes. */
export interface CodedBody {
  readonly coding: ContentCoding;
  readonly body: Uint8Array;
  readonly etag: string;
}

/** One stored response (RFC 9111 §3), immutable; a 304 or a HEAD makes a new one. */
export interface Entry {
  readonly key: EntryKey;
  readonly variant: VariantKey;
  /** The lower-case names in the response's `Vary`; `*` alone for a response that matches nothing. */
  readonly vary: readonly string[];
  readonly agent: AgentName | null;
  /** The URL that answered: validators are sent to it alone. */
  readonly url: Url;
  readonly status: number;
  /** End-to-end fields as stored (RFC 9111 §3.1). */
  readonly fields: Fields;
  readonly body: Uint8Array;
  /** Strong entity tag of `body`, quoted; of the origin where `content: any` keeps the origin's. */
  readonly etag: string | null;
  /** The same body coded, the shortest first; absent until a caller asks for a coding, empty where none gains anything. */
  readonly coded?: readonly CodedBody[];
  /** RFC 9111 §4.2.3: when the request was made and the response received. */
  readonly requestedAt: EpochMs;
  readonly receivedAt: EpochMs;
  /** `corrected_initial_age` at `receivedAt`. */
  readonly initialAge: Ms;
  readonly lifetime: Lifetime;
  /** Null for `content: any`, where no card rules hold. */
  readonly admission: Admission | null;
  readonly generation: Generation;
  readonly tags: readonly Tag[];
}
