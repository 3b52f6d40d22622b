import { type GatedChange, type WithheldWhy, classesOf } from '../card/gate.ts';
import { fieldValue } from '../http/fields.ts';
import type { ChangeClass } from '../kernel/change.ts';
import type { PartitionKey } from '../kernel/extended-entry.ts';
import type { AgentName, CardDigest, Generation, Tag } from '../kernel/ids.ts';
import { type Outcome, accepted } from '../kernel/refusal.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { Clock, Evidence, Observer } from '../ports.ts';
import type { ExtendedStore } from '../ports/callers.ts';
import type { ExtendedOffer } from './extended-reviews.ts';
import { unwritten } from './review-notices.ts';

type Why = Exclude<WithheldWhy, 'rejected'>;

/** An extended card that waits or is blocked. Its text is in memory alone, for as long as the session of a caller who has it. */
export interface WaitingExtended {
  readonly digest: CardDigest;
  readonly why: Why;
  readonly classes: readonly ChangeClass[];
  /** Against the card before it of the caller who came with it first; none where that is not known any more. */
  readonly changes: readonly GatedChange[];
  /** The digest of that one. */
  readonly inForce: CardDigest | null;
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
  /** When it was first seen, and since when something waits for a caller who has it. */
  readonly at: EpochMs;
  readonly since: EpochMs;
}

interface Held extends ExtendedOffer {
  readonly why: Why;
  readonly changes: readonly GatedChange[];
  readonly inForce: CardDigest | null;
}

/** What waits of extended cards: which digests, and for which callers. */
export interface ExtendedWaiting {
  /** Reads the digests that waited when the last process ended; false where they cannot be read. */
  load(): Promise<boolean>;
  /** Notes that a caller's newest card waits; since when something waits for that caller. */
  hold(held: Held): EpochMs;
  /** Notes that nothing waits for a caller. */
  leave(agent: AgentName, partition: PartitionKey): void;
  /** Notes that a card waits for nobody any more. */
  end(agent: AgentName, digest: CardDigest): void;
  isKnown(agent: AgentName, digest: CardDigest): boolean;
  waits(partition: PartitionKey): boolean;
  of(agent: AgentName): readonly WaitingExtended[];
}

interface Parts {
  readonly clock: Clock;
  readonly ledger: Pick<Evidence, 'holdExtended' | 'heldExtended' | 'releaseExtended'>;
  readonly observer: Observer;
  readonly extended: Pick<ExtendedStore, 'isEnded'>;
}

/** What a person can look through, of one agent. Further ones are held all the same, and are listed when there is room. */
const MOST_OF_AGENT = 64;
/** Texts of cards that wait, of all agents: beyond it a card is held, and not shown. */
const MOST_BYTES = 16 * 1_048_576;

/** Callers for whom something waits, at some 300 bytes each; of one that is forgotten the time begins anew. */
const MOST_HOLDERS = 16_384;

/** A caller for whom a card waits. */
interface Holder {
  readonly agent: AgentName;
  readonly digest: CardDigest;
  readonly since: EpochMs;
  readonly until: EpochMs;
  readonly tags: readonly Tag[];
  readonly generation: Generation;
}

interface Known {
  readonly at: EpochMs;
  readonly classes: readonly ChangeClass[];
  /** Null while nobody has it: after a restart, and when the sessions of those who had it are over. */
  shown: Omit<WaitingExtended, 'digest' | 'classes' | 'at' | 'since'> | null;
  readonly holders: Set<PartitionKey>;
}

export const createExtendedWaiting = (parts: Parts): ExtendedWaiting => new Waiting(parts);

class Waiting implements ExtendedWaiting {
  readonly #parts: Parts;
  readonly #agents = new Map<AgentName, Map<CardDigest, Known>>();
  readonly #holders = new Map<PartitionKey, Holder>();
  #loading: Promise<Outcome<null>> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async load(): Promise<boolean> {
    this.#loading ??= this.#read();
    const read = await this.#loading;
    if (!read.ok) this.#loading = undefined;
    return read.ok;
  }

  hold(held: Held): EpochMs {
    const { agent, entry, callerTags: tags } = held;
    const { partition, generation, until } = entry;
    const { digest } = entry.admission;
    const now = this.#parts.clock.now();
    this.#sweep(now);
    const before = this.#holders.get(partition);
    const since = before?.since ?? now;
    if (before !== undefined && before.digest !== digest) this.leave(agent.name, partition);
    this.#holders.delete(partition);
    this.#holders.set(partition, { agent: agent.name, digest, since, until, tags, generation });
    const [oldest] = this.#holders.keys();
    if (this.#holders.size > MOST_HOLDERS && oldest !== undefined) this.#drop(oldest);
    const known = this.#known(held, now);
    known?.holders.add(partition);
    if (known?.shown === null && this.#hasRoom(entry.body)) known.shown = shownOf(held);
    return since;
  }

  leave(agent: AgentName, partition: PartitionKey): void {
    const holder = this.#holders.get(partition);
    if (holder === undefined) return;
    this.#drop(partition);
    // Its origin gives nobody this card any more.
    if (this.#agents.get(agent)?.get(holder.digest)?.holders.size === 0) this.end(agent, holder.digest);
  }

  end(agent: AgentName, digest: CardDigest): void {
    for (const [partition, holder] of this.#holders)
      if (holder.agent === agent && holder.digest === digest) this.#holders.delete(partition);
    if (this.#agents.get(agent)?.delete(digest) !== true) return;
    void this.#tell(agent, this.#parts.ledger.releaseExtended(agent, digest));
  }

  isKnown(agent: AgentName, digest: CardDigest): boolean {
    return this.#agents.get(agent)?.has(digest) ?? false;
  }

  waits(partition: PartitionKey): boolean {
    return this.#holders.has(partition);
  }

  of(agent: AgentName): readonly WaitingExtended[] {
    this.#sweep(this.#parts.clock.now());
    return [...(this.#agents.get(agent) ?? [])].flatMap(([digest, { at, classes, shown, holders }]) => {
      if (shown === null) return [];
      const times = [...holders].flatMap((partition) => this.#holders.get(partition)?.since ?? []);
      const since = times.reduce((first, each) => (each < first ? each : first), at);
      return [{ digest, at, since, classes, ...shown }];
    });
  }

  #drop(partition: PartitionKey): void {
    const holder = this.#holders.get(partition);
    this.#holders.delete(partition);
    if (holder === undefined) return;
    const known = this.#agents.get(holder.agent)?.get(holder.digest);
    known?.holders.delete(partition);
    if (known?.holders.size === 0) known.shown = null;
  }

  /** The record of a card that waits; a new one is written down, where the agent has room for one. */
  #known({ agent, entry, changes }: Held, now: EpochMs): Known | undefined {
    const ofAgent = this.#agents.get(agent.name) ?? new Map<CardDigest, Known>();
    this.#agents.set(agent.name, ofAgent);
    const { digest } = entry.admission;
    const before = ofAgent.get(digest);
    if (before !== undefined) return before;
    const idle = [...ofAgent].find(([, { holders }]) => holders.size === 0);
    if (ofAgent.size >= MOST_OF_AGENT && idle !== undefined) this.end(agent.name, idle[0]);
    if (ofAgent.size >= MOST_OF_AGENT) return undefined;
    const known: Known = { at: now, classes: classesOf(changes), shown: null, holders: new Set() };
    ofAgent.set(digest, known);
    const { at, classes } = known;
    this.#parts.observer.record({
      kind: 'notice',
      level: 'warn',
      msg: 'an extended card waits for review',
      about: { agent: agent.name, digest, classes, receipt: entry.admission.receipt },
    });
    void this.#tell(agent.name, this.#parts.ledger.holdExtended({ agent: agent.name, digest, classes, at }));
    return known;
  }

  /** Texts go with the sessions of those who have them. */
  #sweep(now: EpochMs): void {
    for (const [partition, holder] of this.#holders)
      if (now >= holder.until || this.#parts.extended.isEnded(holder)) this.#drop(partition);
  }

  #hasRoom(body: Uint8Array): boolean {
    const all = [...this.#agents.values()].flatMap((ofAgent) => [...ofAgent.values()]);
    return all.reduce((sum, { shown }) => sum + (shown?.body.length ?? 0), body.length) <= MOST_BYTES;
  }

  async #read(): Promise<Outcome<null>> {
    const held = await this.#parts.ledger.heldExtended();
    if (!held.ok) return held;
    for (const { agent, digest, classes, at } of held.value) {
      const ofAgent = this.#agents.get(agent) ?? new Map<CardDigest, Known>();
      this.#agents.set(agent, ofAgent);
      if (!ofAgent.has(digest)) ofAgent.set(digest, { at, classes, shown: null, holders: new Set() });
    }
    return accepted(null);
  }

  async #tell(agent: AgentName, writing: Promise<Outcome<unknown>>): Promise<void> {
    const written = await writing;
    if (!written.ok) this.#parts.observer.record(unwritten(agent, written.refusal));
  }
}

const shownOf = ({ why, changes, inForce, entry }: Held): Known['shown'] => ({
  why,
  changes,
  inForce,
  body: entry.body,
  contentType: fieldValue(entry.fields, 'content-type'),
});
