import type { CardStatus } from '../discovery/card-status.ts';
import type { Revoked, RevokeOrder } from '../discovery/revoke.ts';
import type { ChangeClass, KeptChange } from '../kernel/change.ts';
import type { AgentName, CardDigest, ReceiptId, Tag, Url } from '../kernel/ids.ts';
import type { Kill, KillSource } from '../kernel/kill.ts';
import type { Verdict } from '../kernel/entry.ts';
import type { Review, SignatureVerdict } from '../kernel/outcome.ts';
import type { Authority } from '../kernel/receipt.ts';
import type { RegistryAction, RegistryStatus } from '../kernel/registry.ts';
import type { Outcome, Refusal } from '../kernel/refusal.ts';
import type { CardVariant, FirstUse, ReviewAction } from '../kernel/review.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { Clock, Decision, Evidence } from '../ports.ts';
import type { TokenDoor } from './authority.ts';
import type { ConsoleFiles } from './console-files.ts';
import type { EventFeed } from './events.ts';

/** What the admin API asks of the daemon; nothing of it can be reached from another listener. */
export interface AdminPorts {
  readonly clock: Clock;
  readonly ledger: Evidence;
  readonly kills: KillPorts;
  readonly events: EventFeed;
  readonly reviews: ReviewPorts;
  /** The page for people, and how they sign in; null where no browser comes, on a socket in the file system. */
  readonly console: ConsolePorts | null;
  /** Every named agent, in the order of the configuration. */
  agents(): readonly AgentView[];
  /** One agent by its name, or a card that has none by its URL. */
  agent(agent: AgentName): AgentView | undefined;
  /** The card that is served now; undefined where there is none. */
  card(agent: AgentName): ServedCard | undefined;
  /** Asks the origin now, whatever is fresh; resolves when that has ended. */
  refresh(agent: AgentName): Promise<Outcome<Refreshment>>;
  /** What a stop of this scope would concern now. */
  preview(scope: Tag): KillPreview;
  /** Resolves to how many entries it concerned. */
  purge(tags: readonly Tag[], soft: boolean): Promise<number>;
  /** Reads a registry now; resolves when what it says is in force, with the agents that name it. */
  refreshRegistry(name: string): Promise<Outcome<readonly AgentView[]>>;
  hasRegistry(name: string): boolean;
  /** In force when it returns; resolves when it is written, or could not be. */
  revoke(order: RevokeOrder): Promise<Outcome<Revoked>>;
  /** Adopts the configuration as it is written now, or says why the old one stays. */
  reload(): Promise<Outcome<{ readonly digest: string }>>;
  /** Starts the drain; the answer is written before the listeners close. */
  drain(): void;
  /** The effective configuration, secrets as references. */
  config(): unknown;
  /** What an agent's name or a URL is to Cardea; undefined for what is neither. */
  describe(target: string): Described | undefined;
}

export interface ConsolePorts {
  readonly files: ConsoleFiles;
  readonly door: Pick<TokenDoor, 'signIn' | 'makeLink'>;
}

/** The kill switch, as far as an administrator moves it. */
export interface KillPorts {
  active(): readonly Kill[];
  persisted(): boolean;
  engage(order: { readonly scope: Tag; readonly reason: string; readonly by: KillSource }): Promise<Outcome<Moved>>;
  lift(order: { readonly id: string; readonly reason: string; readonly by: Authority }): Promise<Outcome<Moved>>;
}

/** Reviews, as far as an administrator sees and decides them. */
export interface ReviewPorts {
  /** Undefined for an agent that is not configured, and a URL that no rule lets. */
  of(agent: AgentName): ReviewView | undefined;
  /** Everything that waits or is blocked: of agents, then of cards without a name. */
  waiting(): readonly WaitingView[];
  decide(order: ReviewOrder): Promise<Outcome<Decision>>;
  /** What an offered card's signatures are worth under today's rules and keys, or why the card would be refused. */
  judge(agent: AgentName, digest: CardDigest): Promise<Outcome<Verdict>>;
}

export interface ReviewOrder extends Pick<Decision, 'agent' | 'digest' | 'action' | 'reason' | 'by'> {}

/** Everything that is known about the reviews of one agent; lists are newest first. */
export interface ReviewView {
  readonly rule: {
    readonly firstUse: FirstUse;
    /** In ms. */
    readonly maxHold: number;
    readonly pins: readonly CardDigest[];
    /** Where the configuration names an action. */
    readonly actions: { readonly [Class in ChangeClass]?: ReviewAction };
  };
  /** Why nothing but the public card may be used meanwhile; null where all may. */
  readonly suspended: string | null;
  readonly pending: readonly PendingView[];
  /** What is in force, by variant. */
  readonly inForce: readonly InForceView[];
  /** Every card that has been in force, as far back as they are kept. */
  readonly history: readonly InForceView[];
  readonly decisions: readonly Decision[];
}

/** A card that is not taken. */
export interface PendingView {
  /** `extended`: a card that callers have of their own. */
  readonly variant: CardVariant | 'extended';
  readonly digest: CardDigest;
  readonly url: Url;
  readonly why: 'held' | 'blocked' | 'first-use';
  /** When it was first seen. */
  readonly at: EpochMs;
  /** Since when something waits, and until when the approved card is served. */
  readonly since: EpochMs;
  readonly until: EpochMs;
  /** The digest of what is served meanwhile; null where nothing is in force. */
  readonly inForce: CardDigest | null;
  readonly changes: readonly KeptChange[];
  /** The card as it came. */
  readonly card: unknown;
}

/** The same in a list of many: of its changes the classes, those that hold it first. */
export interface WaitingView extends Omit<PendingView, 'card' | 'changes'> {
  readonly agent: AgentName;
  readonly classes: readonly ChangeClass[];
}

/** A card that is or was in force. */
export interface InForceView {
  readonly variant: CardVariant;
  readonly digest: CardDigest;
  readonly url: Url;
  readonly review: 'approved' | 'allowed' | 'first-use';
  readonly by: 'person' | 'pin' | 'policy';
  readonly signature: SignatureVerdict;
  readonly verdict: Verdict;
  readonly at: EpochMs;
  readonly receipt: ReceiptId;
}

/** What a stop would concern. What it would keep away later, nobody can count. */
export interface KillPreview {
  /** Named agents that would be stopped. */
  readonly agents: readonly AgentName[];
  /** Stored answers, cards among them. */
  readonly entries: number;
  /** Stored extended cards, and of how many callers. */
  readonly extended: number;
  readonly callers: number;
  /** Answers that are being written, and would be cut off. */
  readonly streams: number;
}

/** A stop that was made or ended. */
export interface Moved {
  readonly kill: Kill;
  /** False where a restart would not know. */
  readonly persisted: boolean;
  readonly error?: string;
}

export interface AgentView extends CardStatus {
  /** Where its card is fetched from. */
  readonly urls: readonly Url[];
  /** What a kill or a purge finds it by. */
  readonly tags: readonly Tag[];
  /** What the card calls itself; null while there is none. */
  readonly name: string | null;
  readonly verdict: Verdict | null;
  /** How it came to be served. */
  readonly reviewed: Review | null;
  /** How long it is fresh from when it was new, in ms. */
  readonly lifetime: number;
  /** Until when it may be served although its origin fails; 0 for not at all. */
  readonly staleUntil: EpochMs;
  /** The last failure, while it is remembered. */
  readonly setback: SetbackView | null;
  /** What its registry says of it; null where it names none. */
  readonly registry: RegistryView | null;
}

export interface RegistryView {
  readonly name: string;
  /** The identifier of its entry. */
  readonly id: string;
  readonly status: RegistryStatus;
  /** What the configuration makes of that. */
  readonly action: RegistryAction;
  /** The registry's own words. */
  readonly said: string;
  /** When it was last had; 0 for never. */
  readonly at: EpochMs;
  /** Why the place that it names is not used. */
  readonly misplaced: { readonly code: string; readonly detail: string } | null;
}

export interface SetbackView {
  readonly code: string;
  readonly detail: string;
  /** What mends it, as the table of problems says. */
  readonly remedy: string;
  readonly at: EpochMs;
  readonly failures: number;
  readonly retryAt: EpochMs;
}

export interface ServedCard {
  readonly body: Uint8Array;
  readonly contentType: string;
}

export interface Refreshment {
  readonly outcome: string;
  readonly digest: string | null;
}

export interface Described {
  readonly agent: AgentName | null;
  /** The rule that covers it: `agents.weather`, `origins[2]`; null where none does. */
  readonly rule: string | null;
  readonly url: Url | null;
  readonly tags: readonly Tag[];
  /** Why it is refused by its rules alone. */
  readonly refusal: Refusal | null;
}
