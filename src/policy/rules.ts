import type { CachePolicy } from '../kernel/cache-policy.ts';
import type { CardRule } from '../kernel/card-rule.ts';
import type { EgressRule, OriginPattern } from '../kernel/egress-rule.ts';
import type { AgentName, CardDigest, ListenerName, PolicyDigest, Url } from '../kernel/ids.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { RegistryAction, RegistryKind, RegistryStatus } from '../kernel/registry.ts';
import type { ReviewRule } from '../kernel/review.ts';
import type { SecretRef } from '../kernel/secret.ts';
import type { Bytes, Ms } from '../kernel/units.ts';

/** The configuration as the rest of the program reads it: one immutable snapshot, replaced whole or not at all. */
export interface Rules {
  /** Digest of the effective configuration (`cardea_config_info`). */
  readonly digest: string;
  readonly agents: ReadonlyMap<AgentName, AgentRule>;
  readonly origins: readonly OriginRule[];
  /** Every set of keys that an agent may be vouched for by. */
  readonly keySets: readonly KeySetRule[];
  /** The oldest that fetched keys may be. */
  readonly keysMaxStale: Ms;
  /** Every origin that is written in the configuration: what a card may point at besides its own. */
  readonly allowlist: readonly OriginPattern[];
  /** What each listener serves; the key is the name it is opened under. */
  readonly listeners: ReadonlyMap<ListenerName, ListenerRole>;
  /** Agents by the host names that are theirs alone on the agents listener. */
  readonly aliases: ReadonlyMap<string, AgentName>;
  /** Origins of web pages that may read answers, as browsers write them. */
  readonly cors: ReadonlySet<string>;
  /** Whose tokens name callers. */
  readonly issuers: readonly IssuerRule[];
  readonly registries: readonly RegistryRule[];
  readonly limits: Limits;
  readonly prefetch: { readonly enabled: boolean; readonly timeout: Ms };
}

/** What a listener of the agents' side serves: the whole listener, or one agent or one origin at the root. */
export type ListenerRole =
  | { readonly serves: 'agents' }
  | { readonly serves: 'agent'; readonly agent: AgentName }
  | { readonly serves: 'origin'; readonly origin: OriginRule };

export interface AgentRule {
  /** Its name in the configuration; the card's URL for a card that a rule in `origins` allows. */
  readonly name: AgentName;
  /** The rule in `origins` that lets a card without a name; null for an agent. There may be any number of such cards. */
  readonly by: OriginRule | null;
  /**
   * Card URLs in the order they are tried: the well-known path, then the 0.2 path; one alone where `card` is written. None where its
   * registry names no place that may be used.
   */
  readonly cards: readonly Url[];
  readonly egress: EgressRule;
  readonly cache: CachePolicy;
  /** Digest of every setting that an admission depends on. */
  readonly policy: PolicyDigest;
  readonly card: CardRule;
  readonly review: ReviewRule;
  /** The sets that may vouch for its card, each also in `Rules.keySets`; no other agent's `jku` is among them. */
  readonly keySets: readonly KeySetRule[];
  /** What its origin is shown when the public card is fetched. */
  readonly credentials: 'none' | OwnCredential;
  /** Who may see the agent; null for every local caller. */
  readonly visibleTo: readonly VisibleTo[] | null;
  readonly extended: ExtendedRule;
  /** The entry that says where its card is and whether it may be used; null where the configuration says both. */
  readonly registered: Registration | null;
}

/** The entry of a registry that an agent is, and what the registry says of it now. */
export interface Registration {
  readonly registry: string;
  readonly id: string;
  /** What becomes of each status. */
  readonly actions: Readonly<Record<RegistryStatus, RegistryAction>>;
  /** How old what the registry said may be: past it the status is unknown. */
  readonly maxAge: Ms;
  readonly status: RegistryStatus;
  readonly action: RegistryAction;
  /** What the registry itself says, for people. */
  readonly said: string;
  /** Why the place that it names is not used; null where it is. */
  readonly misplaced: Refusal | null;
}

/** A list that says where cards are and whether they may be used. */
export interface RegistryRule {
  readonly name: string;
  readonly kind: RegistryKind;
  readonly source: RegistrySource;
  /** How often it is read, at the least. */
  readonly refresh: Ms;
  /** How long what it said last holds while it cannot be had. */
  readonly maxStale: Ms;
}

export type RegistrySource =
  | { readonly from: 'url'; readonly url: Url; readonly egress: EgressRule }
  | { readonly from: 'file'; readonly file: string };

/** Callers that may see an agent: everything that is not null must fit. */
export interface VisibleTo {
  readonly tenant: string | null;
  readonly principal: string | null;
  readonly scope: string | null;
  readonly role: string | null;
}

/** How callers get an agent's extended card, and what leaves for the agent in their name. */
export interface ExtendedRule {
  /** `forward`: the caller's own; `none`: at most a client certificate. */
  readonly credentials: 'none' | 'forward' | OwnCredential;
  /** Whom a caller's token must be for: one of these stands in its `aud`. */
  readonly audience: readonly string[];
  /** Whether a credential may be sent on that does not say whom it is for. */
  readonly opaque: 'allow' | 'refuse';
  /** The longest that an extended card is kept. */
  readonly session: Ms;
  /** True where a caller gets the one that is held for it at the well-known path too. */
  readonly replacePublic: boolean;
}

/** A credential that is Cardea's and no caller's. */
export type OwnCredential =
  | { readonly by: 'static'; readonly name: string; readonly file: string }
  | ({ readonly by: 'client'; readonly name: string } & OauthClient);

/** A client of an OAuth server (RFC 6749 §4.4). */
export interface OauthClient {
  readonly tokenUrl: Url;
  readonly egress: EgressRule;
  readonly clientId: string;
  readonly clientSecret: SecretRef;
  readonly scope: string | null;
}

/** An issuer whose tokens name callers. */
export interface IssuerRule {
  /** What `iss` must be, byte for byte. */
  readonly issuer: string;
  /** What `aud` may be, besides what the agents' `extended.audience` say. */
  readonly audience: readonly string[];
  readonly keys: KeySetRule & { readonly source: Extract<KeySource, { from: 'url' }> };
  readonly claims: ClaimNames;
}

/** Which claims say what. */
export interface ClaimNames {
  readonly principal: string;
  /** Null where `tenant` is read if it is there; a claim that is named must be there. */
  readonly tenant: string | null;
  readonly scopes: string;
  readonly roles: string;
  /** The field by which a caller of several tenants chooses one; null where such tokens are refused. */
  readonly tenantHeader: string | null;
}

/** Keys that may sign cards. */
export interface KeySetRule {
  /** What `Card-Status` and metrics call it: the name in the configuration, or the URL of a `jku`. */
  readonly name: string;
  /** Set where these are the keys behind a signature's `jku`. */
  readonly jku: Url | null;
  readonly source: KeySource;
  /** Names or thumbprints of keys that vouch for nothing any more. */
  readonly revoked: readonly string[];
}

export type KeySource =
  | { readonly from: 'document'; readonly document: Uint8Array }
  | { readonly from: 'url'; readonly url: Url; readonly egress: EgressRule };

export interface OriginRule {
  /** `origins[2]`, for messages. */
  readonly name: string;
  readonly match: OriginPattern;
  readonly content: 'card' | 'any' | 'none';
  /** What cards of these origins are judged by; name, URLs and origin are each card's own. Null where they are none. */
  readonly card: AgentRule | null;
  /** What the pins approve of cards without a name, by their URLs; empty where no cards are judged. */
  readonly pins: ReadonlyMap<string, readonly CardDigest[]>;
  readonly egress: EgressRule;
  readonly cache: CachePolicy;
  /** Digest of every setting that a stored answer depends on: under another one it is not found. */
  readonly policy: PolicyDigest;
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
