import type { CardStatus } from '../discovery/card-status.ts';
import type { AgentName, Tag, Url } from '../kernel/ids.ts';
import type { Kill, KillSource } from '../kernel/kill.ts';
import type { Authority } from '../kernel/receipt.ts';
import type { Outcome, Refusal } from '../kernel/refusal.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { Clock, Evidence } from '../ports.ts';
import type { EventFeed } from './events.ts';

/** What the admin API asks of the daemon; nothing of it can be reached from another listener. */
export interface AdminPorts {
  readonly clock: Clock;
  readonly ledger: Evidence;
  readonly kills: KillPorts;
  readonly events: EventFeed;
  /** Every named agent, in the order of the configuration. */
  agents(): readonly AgentView[];
  /** The card that is served now; undefined where there is none. */
  card(agent: AgentName): ServedCard | undefined;
  /** Asks the origin now, whatever is fresh; resolves when that has ended. */
  refresh(agent: AgentName): Promise<Outcome<Refreshment>>;
  /** Resolves to how many entries it concerned. */
  purge(tags: readonly Tag[], soft: boolean): Promise<number>;
  /** Adopts the configuration as it is written now, or says why the old one stays. */
  reload(): Promise<Outcome<{ readonly digest: string }>>;
  /** Starts the drain; the answer is written before the listeners close. */
  drain(): void;
  /** The effective configuration, secrets as references. */
  config(): unknown;
  /** What an agent's name or a URL is to Cardea; undefined for what is neither. */
  describe(target: string): Described | undefined;
}

/** The kill switch, as far as an administrator moves it. */
export interface KillPorts {
  active(): readonly Kill[];
  persisted(): boolean;
  engage(order: { readonly scope: Tag; readonly reason: string; readonly by: KillSource }): Promise<Outcome<Moved>>;
  lift(order: { readonly id: string; readonly reason: string; readonly by: Authority }): Promise<Outcome<Moved>>;
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
  /** The last failure, while it is remembered. */
  readonly setback: SetbackView | null;
}

export interface SetbackView {
  readonly code: string;
  readonly detail: string;
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
