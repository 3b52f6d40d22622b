import type { Interim } from './kernel/answer.ts';
import type { EgressRule } from './kernel/egress-rule.ts';
import type { KeptChange } from './kernel/change.ts';
import type { CodedBody, ContentCoding, Entry, Verdict } from './kernel/entry.ts';
import type { Event } from './kernel/event.ts';
import type { ByteStream, Fields } from './kernel/fields.ts';
import type { AgentName, CardDigest, EntryKey, Generation, PolicyDigest, ReceiptId, Tag, Url } from './kernel/ids.ts';
import type { Kill } from './kernel/kill.ts';
import type { Purpose, Review } from './kernel/outcome.ts';
import type { Authority, Receipt, RefusalNote, Trail } from './kernel/receipt.ts';
import type { Outcome, Refusal } from './kernel/refusal.ts';
import type { CardVariant, HeldExtended } from './kernel/review.ts';
import type { Bytes, EpochMs, Ms } from './kernel/units.ts';

/** The doors between the rules and the world. `daemon.ts` chooses who stands behind each. */

/** Time and chance: tests bring their own. */
export interface Clock {
  now(): EpochMs;
  /** Runs once after the delay unless cancelled; does not keep the process alive. */
  after(delay: Ms, run: () => void): () => void;
  /** At least 0, below 1. */
  random(): number;
  /** Lets everything else that waits have its turn. */
  turn(): Promise<void>;
}

/**
 * Tells when files have changed, whoever changed them and however: edited in place, renamed over, put there or taken away, or a
 * ConfigMap's or Secret's `..data` swapped. What is told of has been the same for a moment, so it is not half written.
 *
 * A file that a setting names needs no watch of its own: `config/files-needed.ts` lists it, and a change of any of those is a
 * reload of the whole configuration. This door is for files that are found otherwise.
 */
export interface FileWatch {
  /**
   * @param files absolute paths; they may be missing, their folders too. Changes count from the time of this call.
   * @param changed gets those that changed. Their content may be what it was: compare where that matters. Must not throw.
   * @returns ends this watch.
   */
  watch(files: readonly string[], changed: (files: readonly string[]) => void): () => void;
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
  /** Asked before a redirect is followed: a stop of where it leads holds, although the origin that was asked is not stopped. */
  readonly refuseHop?: (to: Url) => Refusal | undefined;
  /** Hears of interim responses before the final one, per-connection fields removed; absent where they are of no use. */
  readonly interim?: (interim: Interim) => void;
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
  | {
      readonly ok: false;
      readonly refusal: Refusal;
      readonly trail: Trail;
      /** False where not one byte of the request left: then it can be sent elsewhere, whatever it asks for. */
      readonly sent: boolean;
    };

/** Everything that leaves the process, and nothing else does. */
export interface Fetcher {
  /** Fetches a whole, bounded response: cards, keys, tokens, registries. */
  fetch(order: FetchOrder): Promise<FetchResult<WholeResponse>>;
  /** Opens an exchange that streams both ways, codings untouched: `content: any` and forwarded traffic. */
  open(order: FetchOrder): Promise<FetchResult<StreamedResponse>>;
}

/** Makes the content codings of a stored body. */
export interface Coder {
  /** Resolves to the codings that are worth their memory; none for what is too short or too long. Never rejects. */
  code(body: Uint8Array): Promise<readonly { readonly coding: ContentCoding; readonly body: Uint8Array }[]>;
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
  /** Gives what is stored under a key with this entity tag, and has no coded forms yet, those of its body; without where they find no room. */
  code(key: EntryKey, etag: string, coded: readonly CodedBody[]): void;
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

/** Which receipts are wanted, newest first. */
export interface ReceiptQuery {
  readonly agent?: AgentName;
  readonly since?: EpochMs;
  /** The `next` of the page before. */
  readonly before?: number;
  readonly limit: number;
}

/** Receipts as they were written down. */
export interface ReceiptPage {
  readonly receipts: readonly Receipt[];
  /** What `before` of the next page is; null where there is none. */
  readonly next: number | null;
}

/** What checking the chain of receipts found. */
export interface ChainReport {
  readonly whole: boolean;
  /** How many receipts were checked, and how many older ones have been pruned. */
  readonly checked: number;
  readonly pruned: number;
  /** Hex of the last link: what was noted elsewhere can be compared. */
  readonly head: string;
  /** What does not fit, and where, in order. */
  readonly breaks: readonly string[];
}

/** A person's decision on one card of an agent. */
export interface Decision {
  readonly id: ReceiptId;
  readonly at: EpochMs;
  readonly agent: AgentName;
  readonly digest: CardDigest;
  readonly action: 'approve' | 'reject';
  readonly reason: string;
  readonly by: Authority;
}

/** A card that waits for a decision: public cards alone, one per agent and variant, the newest. */
export interface HeldCard {
  readonly agent: AgentName;
  readonly variant: CardVariant;
  readonly digest: CardDigest;
  /** Where the configuration says that the card is. */
  readonly url: Url;
  readonly body: Uint8Array;
  readonly contentType: string;
  /** When it was first seen, and under which policy it is held. */
  readonly at: EpochMs;
  readonly policy: PolicyDigest;
  /** Since when the card in force has been followed by one that waits: another one after it does not begin anew. */
  readonly since: EpochMs;
  /** False where its origin forbids to store it. */
  readonly servable: boolean;
  /** What it says otherwise than the card in force; empty where there is none. */
  readonly changes: readonly KeptChange[];
}

/** A card that was taken: what the next one is compared with, and what is served while that one waits. */
export interface CardInForce {
  readonly agent: AgentName;
  readonly variant: CardVariant;
  readonly digest: CardDigest;
  /** Where the configuration said that the card is. */
  readonly url: Url;
  readonly body: Uint8Array;
  readonly contentType: string;
  readonly verdict: Verdict;
  readonly review: Exclude<Review, 'held'>;
  /** What let it in. */
  readonly by: 'person' | 'pin' | 'policy';
  readonly receipt: ReceiptId;
  readonly at: EpochMs;
  /** False where its origin forbids to store it: it is kept to be compared with, and never served. */
  readonly servable: boolean;
}

/** The ledger with what is read from it. A disk that fails makes decisions fail and receipts be lost, and nothing else. */
export interface Evidence extends Ledger {
  /** Writes one receipt and waits until it is on the disk; false where it was lost. */
  commit(receipt: Receipt): Promise<boolean>;
  /** Notes a refusal: one receipt a minute per agent, code and caller, with a count. */
  refused(note: RefusalNote): ReceiptId;
  query(query: ReceiptQuery): Promise<Outcome<ReceiptPage>>;
  verify(): Promise<Outcome<ChainReport>>;
  /**
   * Writes a decision with its receipt, ends the hold on that digest and puts the cards in force that it lets in: all of it or, with
   * a refusal, nothing.
   */
  decide(decision: Decision, letsIn: readonly CardInForce[]): Promise<Outcome<Decision>>;
  /** All decisions on an agent's cards, oldest first. */
  decisions(agent: AgentName): Promise<Outcome<readonly Decision[]>>;
  hold(card: HeldCard): Promise<Outcome<HeldCard>>;
  /** The cards that wait, of one agent or of all. */
  held(agent: AgentName | null): Promise<Outcome<readonly HeldCard[]>>;
  /** Takes back a hold: the origin went back to what was approved, or the agent is gone. */
  release(agent: AgentName, variant: CardVariant): Promise<Outcome<null>>;
  /** Puts a card in force; the ones before it are kept, as far as somebody may go back to them. */
  enforce(card: CardInForce): Promise<Outcome<CardInForce>>;
  /** The cards that have been in force, oldest first: the last of each variant is. */
  inForce(agent: AgentName): Promise<Outcome<readonly CardInForce[]>>;
  holdExtended(card: HeldExtended): Promise<Outcome<HeldExtended>>;
  /** The extended cards that wait, of all agents, oldest first. */
  heldExtended(): Promise<Outcome<readonly HeldExtended[]>>;
  releaseExtended(agent: AgentName, digest: CardDigest): Promise<Outcome<null>>;
  /** The cards without a name that something is known of, by their URLs: what was written last comes last. */
  unnamed(): Promise<Outcome<readonly AgentName[]>>;
  /** Takes out what waits and what has been in force of one agent; decisions and receipts stay. */
  forget(agent: AgentName): Promise<Outcome<null>>;
  /** Names a principal or tenant in evidence: the same name gives the same hash, and only here. */
  keyedHash(kind: 'principal' | 'tenant', name: string): string;
}

/** A fetched key set as it outlives a restart. */
export interface ArchivedKeySet {
  readonly name: string;
  readonly url: Url;
  readonly fetchedAt: EpochMs;
  /** The JWKS as received. */
  readonly body: Uint8Array;
}

/** What serves when every origin is down at start: the last accepted public cards and the key sets that judge them. */
export interface CardArchive {
  save(entry: Entry): void;
  drop(entry: Entry): void;
  /** Takes out what carries one of the tags, or makes it stale; resolves when that is on the disk. */
  purge(tags: readonly Tag[], soft: boolean): Promise<void>;
  /** Empty on anything that cannot be read. */
  load(): Promise<readonly Entry[]>;
  saveKeySet(keys: ArchivedKeySet): void;
  loadKeySets(): Promise<readonly ArchivedKeySet[]>;
  close(): Promise<void>;
}

/** The stops that are in force. Memory holds them before anything is written, and what cannot be written holds all the same. */
export interface KillBook {
  active(): readonly Kill[];
  /** In force when this returns; resolves to null when it will outlive a restart, else to why not. */
  put(kill: Kill): Promise<string | null>;
  /** Lifted when this returns; resolves as `put` does. */
  remove(id: string): Promise<string | null>;
  /** Writes again what could not be written. */
  flush(): Promise<string | null>;
  /** True where a restart would find exactly what is in force now. */
  persisted(): boolean;
}

/** A private key as RFC 7517 writes it. It stays in the process. */
export type PrivateJwk = Readonly<Record<string, string>>;

/** Everything that is seen from outside: metrics and logs. Never throws, never waits. */
export interface Observer {
  record(event: Event): void;
}
