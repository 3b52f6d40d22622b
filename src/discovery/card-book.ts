import { lifetimeOf } from '../http/freshness.ts';
import { selectVariant, variantKey } from '../http/vary.ts';
import type { CallerVersion } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import type { AgentName, EntryKey, PolicyDigest } from '../kernel/ids.ts';
import { type EpochMs, epochMs, ms } from '../kernel/units.ts';
import { isSame } from '../policy/keep-unchanged.ts';
import { type ActiveStop, type Stopped, killed } from '../policy/kills.ts';
import { refuseUnplaced } from '../policy/registered.ts';
import type { AgentRule, Limits } from '../policy/rules.ts';
import type { Clock, Observer, Store } from '../ports.ts';
import { CARD_REQUESTS, type CardRequest } from './card-request.ts';
import type { JudgeAgain } from './judge-again.ts';
import type { ExtendedReviews } from './extended-reviews.ts';
import { type IsInForce, outdated } from './in-force.ts';
import { agentCardKey } from './key.ts';
import { type RefreshCard, type Refreshed, unsent } from './refresh.ts';
import type { Registries } from './registries.ts';
import type { Pending, Reviews } from './reviews.ts';
import { createSelect } from './select.ts';
import { type Setback, type Setbacks, createSetbacks } from './setbacks.ts';
import { stopOfAgent } from './stopped.ts';
import type { Trust } from './trust.ts';
import { brokenUpdate } from './update-ends.ts';
import { type Flight, type SingleFlight, createSingleFlight } from './single-flight.ts';

/** How one wait for an up-to-date card ended, and whether somebody else's fetch brought it. */
export interface Update {
  readonly refreshed: Refreshed;
  readonly collapsed: boolean;
}

/** What is known of every agent's public card, and the only way to bring one up to date. */
export interface CardBook {
  /** The stored entry that the request selects, if it was admitted under today's policy. */
  current(agent: AgentRule, request: CardRequest): Entry | undefined;
  /** The same, after deeper tiers were asked and an entry of another policy was judged again. */
  restore(agent: AgentRule, request: CardRequest): Promise<Entry | undefined>;
  /** Judges every stored variant again, whatever it was judged under. */
  judgeStored(agent: AgentRule): Promise<void>;
  /** All variants of the agent's card that are stored. */
  variants(agent: AgentRule): readonly Entry[];
  /** Those of them that were admitted under today's policy and keys. */
  admitted(agent: AgentRule): readonly Entry[];
  /** The last failure for this request, while it is remembered. */
  setback(agent: AgentRule, request: CardRequest): Setback | undefined;
  /** Asks the origin; callers of one card at one time share one exchange. */
  update(agent: AgentRule, request: CardRequest): Promise<Update>;
  /** The same with no answer waiting for it: never rejects, the observer is told if it breaks. */
  updateBehind(agent: AgentRule, request: CardRequest): Promise<void>;
  /** What stops the agent, where something does. */
  stopped(agent: AgentRule): ActiveStop | undefined;
  /** Cards of this agent that wait for a person or are blocked. */
  pending(agent: AgentRule): readonly Pending[];
  /** Extended cards of this agent that wait or are blocked. */
  readonly pendingExtended: ExtendedReviews['pending'];
  /** Forgets every remembered failure. */
  forgive(): void;
  /** Forgets what is known of an agent whose rule is gone, or whose card is another one now. */
  forget(agent: AgentRule): void;
  /** Gives the stored cards the lifetimes that today's cache settings give them, at once; what has ended stays ended. */
  relive(agent: AgentRule): Promise<void>;
  /** When the origin last gave or validated a card of this agent; 0 for never. */
  lastSuccess(agent: AgentName): EpochMs;
  /** Resolves when nothing is on its way. */
  settled(): Promise<void>;
}

interface Parts {
  readonly clock: Clock;
  readonly store: Store;
  readonly observer: Observer;
  readonly trust: Trust;
  readonly kills: Stopped;
  readonly refresh: RefreshCard;
  readonly judgeAgain: JudgeAgain;
  readonly reviews: Pick<Reviews, 'pending'>;
  readonly extendedReviews: Pick<ExtendedReviews, 'pending'>;
  readonly limits: () => Limits;
  readonly registries: Pick<Registries, 'firstHeard'>;
  readonly isInForce: IsInForce;
}

const VERSIONS: readonly CallerVersion[] = ['1.0', '0.3', 'absent'];

/** Failures of cards without a name that are remembered: at 2 KiB for a URL, in the key and in what is said of it, some megabytes. */
const MOST_UNNAMED = 1_000;

export const createCardBook = (parts: Parts): CardBook => new Book(parts);

class Book implements CardBook {
  readonly #parts: Parts;
  /** Apart, so that whoever asks for one unnamed card after the other makes no failure of an agent forgotten. */
  readonly #setbacks = { named: createSetbacks(), unnamed: createSetbacks(MOST_UNNAMED) };
  readonly #flights: SingleFlight<Refreshed>;
  readonly #successes = new Map<AgentName, EpochMs>();
  readonly #lanes = new WeakMap<AgentRule, Lanes>();
  readonly #select = createSelect();
  #rulesSeen = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#flights = createSingleFlight<Refreshed>(parts.clock);
  }

  current(agent: AgentRule, request: CardRequest): Entry | undefined {
    const entry = this.#select(this.variants(agent), request);
    return entry?.admission?.policy === this.#policy(agent) ? entry : undefined;
  }

  async restore(agent: AgentRule, request: CardRequest): Promise<Entry | undefined> {
    const entry = selectVariant(await this.#parts.store.find(this.#lanesOf(agent).key), request.read);
    if (entry === undefined || entry.admission?.policy === this.#policy(agent)) return entry;
    // While it was judged another one may have come.
    return (await this.#parts.judgeAgain(entry, agent)) ?? this.current(agent, request);
  }

  async judgeStored(agent: AgentRule): Promise<void> {
    for (const entry of this.variants(agent)) await this.#parts.judgeAgain(entry, agent);
  }

  variants(agent: AgentRule): readonly Entry[] {
    return this.#parts.store.peek(this.#lanesOf(agent).key);
  }

  admitted(agent: AgentRule): readonly Entry[] {
    const policy = this.#policy(agent);
    return this.variants(agent).filter((entry) => entry.admission?.policy === policy);
  }

  setback(agent: AgentRule, request: CardRequest): Setback | undefined {
    const setback = this.#setbacksOf(agent).get(this.#lane(agent, request.version));
    // A card that was refused under other keys has not been judged yet.
    const isOutdated = setback !== undefined && setback.policy !== null && setback.policy !== this.#policy(agent);
    return isOutdated ? undefined : setback;
  }

  async update(agent: AgentRule, request: CardRequest): Promise<Update> {
    return (await this.#followOther(agent, request)) ?? this.#updateOwn(agent, request);
  }

  async updateBehind(agent: AgentRule, request: CardRequest): Promise<void> {
    if (this.#flights.underway(this.#lane(agent, request.version)) || this.stopped(agent) !== undefined) return;
    // Its registry will send for it.
    if (agent.cards.length === 0) return;
    try {
      await this.#updateOwn(agent, request);
    } catch (error) {
      this.#parts.observer.record(brokenUpdate(agent, error));
    }
  }

  stopped(agent: AgentRule): ActiveStop | undefined {
    return stopOfAgent(this.#parts.kills, agent);
  }

  pending(agent: AgentRule): readonly Pending[] {
    return this.#parts.reviews.pending(agent);
  }

  pendingExtended(agent: AgentRule): ReturnType<ExtendedReviews['pending']> {
    return this.#parts.extendedReviews.pending(agent);
  }

  forgive(): void {
    this.#setbacks.named.clearAll();
    this.#setbacks.unnamed.clearAll();
  }

  forget(agent: AgentRule): void {
    this.#successes.delete(agent.name);
    for (const version of VERSIONS) this.#setbacksOf(agent).clear(this.#lane(agent, version));
  }

  async relive(agent: AgentRule): Promise<void> {
    // What is served while another card waits has its lifetime from that, and from the rule at the next look.
    const own = this.variants(agent).filter(({ admission }) => admission?.review !== 'held');
    const outlived = own.flatMap((entry) => {
      const { fresh, ...today } = lifetimeOf(entry, agent.cache);
      const lifetime = { ...today, fresh: ms(Math.min(fresh, entry.lifetime.fresh)) };
      return isSame(lifetime, entry.lifetime) ? [] : [{ ...entry, lifetime }];
    });
    await Promise.all(outlived.map((entry) => this.#parts.store.put(entry)));
  }

  lastSuccess(agent: AgentName): EpochMs {
    return this.#successes.get(agent) ?? epochMs(0);
  }

  settled(): Promise<void> {
    return this.#flights.settled();
  }

  #setbacksOf({ by }: AgentRule): Setbacks {
    return by === null ? this.#setbacks.named : this.#setbacks.unnamed;
  }

  #policy(agent: AgentRule): PolicyDigest {
    return this.#parts.trust.basis(agent).policy;
  }

  #lanesOf(agent: AgentRule): Lanes {
    let lanes = this.#lanes.get(agent);
    if (lanes === undefined) {
      this.#rulesSeen += 1;
      this.#lanes.set(agent, (lanes = { key: agentCardKey(agent), rule: this.#rulesSeen }));
    }
    return lanes;
  }

  /**
   * What the origin varies on is unknown until it has answered, so each version flies and fails by itself; and nobody waits for
   * what flies, or is held to what failed, under a rule that is not in force any more.
   */
  #lane(agent: AgentRule, version: CallerVersion): EntryKey {
    const { key, rule } = this.#lanesOf(agent);
    return `${key}\0${rule}\0${version}` as EntryKey;
  }

  async #fetch(agent: AgentRule, request: CardRequest): Promise<Refreshed> {
    const stop = this.stopped(agent);
    if (stop !== undefined) return unsent(killed(stop, agent.name));
    const unplaced = refuseUnplaced(agent);
    // Its registry may be about to say where it is: then this rule is outdated when that is known, and the caller is served by the next.
    if (unplaced !== undefined) await this.#parts.registries.firstHeard(agent);
    if (!this.#parts.isInForce(agent)) return unsent(outdated(agent));
    if (unplaced !== undefined) return unsent(unplaced);
    const stored = this.current(agent, request);
    const target = { agent, key: this.#lanesOf(agent).key, request, stored };
    const refreshed = await this.#parts.refresh(target, this.#parts.limits());
    this.#note(agent, request, refreshed);
    return refreshed;
  }

  #note(agent: AgentRule, request: CardRequest, refreshed: Refreshed): void {
    const lane = this.#lane(agent, request.version);
    const { clock } = this.#parts;
    if (refreshed.ok) {
      // Of cards without a name nobody counts when they were last had, and there may be any number of them.
      if (agent.by === null) this.#successes.set(agent.name, refreshed.entry.receivedAt);
      this.#setbacksOf(agent).clear(lane);
    } else if (refreshed.outcome !== 'superseded') {
      const { refusal, status, retryAfter } = refreshed;
      const { negativeTtl } = agent.cache;
      const isCards = refreshed.outcome === 'rejected' || refreshed.outcome === 'held';
      const policy = isCards ? this.#policy(agent) : null;
      const [now, chance] = [clock.now(), clock.random()];
      this.#setbacksOf(agent).note(lane, { refusal, status, retryAfter, negativeTtl, policy, now, chance });
    }
  }

  /** On a cold start another version's fetch may bring the one answer that serves every version. */
  async #followOther(agent: AgentRule, request: CardRequest): Promise<Update | undefined> {
    if (this.variants(agent).length > 0) return undefined;
    const flying = (version: CallerVersion): boolean => this.#flights.underway(this.#lane(agent, version));
    const other = VERSIONS.find((version) => version !== request.version && flying(version));
    if (other === undefined) return undefined;
    const flight = await this.#join(agent, CARD_REQUESTS[other]);
    if (flight.as === 'alone') return undefined;
    return servesToo(flight.value, request) ? { refreshed: flight.value, collapsed: true } : undefined;
  }

  async #updateOwn(agent: AgentRule, request: CardRequest): Promise<Update> {
    const flight = await this.#join(agent, request);
    if (flight.as === 'follower' && mayShare(flight.value)) return { refreshed: flight.value, collapsed: true };
    if (flight.as === 'leader' && !isSuperseded(flight.value)) return { refreshed: flight.value, collapsed: false };
    return { refreshed: await this.#fetch(agent, request), collapsed: false };
  }

  #join(agent: AgentRule, request: CardRequest): Promise<Flight<Refreshed>> {
    const work = (): Promise<Refreshed> => this.#fetch(agent, request);
    return this.#flights.join(this.#lane(agent, request.version), work, this.#parts.limits().response);
  }
}

/** The key of an agent's card, and a number that is its rule's own. */
interface Lanes {
  readonly key: EntryKey;
  readonly rule: number;
}

/** RFC 9111 §4: only what may be stored may answer a request that it was not made for; what was taken away answers nobody. */
const mayShare = (refreshed: Refreshed): boolean =>
  refreshed.ok ? refreshed.outcome !== 'uncacheable' : !isSuperseded(refreshed);

const isSuperseded = (refreshed: Refreshed): boolean => !refreshed.ok && refreshed.outcome === 'superseded';

/** True where another version's outcome is this request's outcome as well. */
function servesToo(refreshed: Refreshed, request: CardRequest): boolean {
  if (!refreshed.ok) return refreshed.outcome === 'failed' || refreshed.outcome === 'denied';
  const { entry } = refreshed;
  return mayShare(refreshed) && variantKey(entry.vary, request.read) === entry.variant;
}
