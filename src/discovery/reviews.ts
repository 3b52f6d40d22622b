import { type Ruling, type WithheldWhy, classesOf, ruleOnCard } from '../card/gate.ts';
import type { AgentName, CardDigest, PolicyDigest, ReceiptId } from '../kernel/ids.ts';
import { accepted, type Outcome, type Refusal, refuse } from '../kernel/refusal.ts';
import type { CardVariant } from '../kernel/review.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { CardInForce, Decision, Evidence, HeldCard, Observer } from '../ports.ts';
import type { Offer } from './offer.ts';
import { createPageBounds, isUnnamed } from './review-bounds.ts';
import { notTaken, reported, unwritten } from './review-notices.ts';
import {
  type Done,
  EMPTY,
  MOST_KEPT,
  type Page,
  afterDecision,
  changesFor,
  heldCard,
  isGrave,
  isSameStanding,
  isWaiting,
  newest,
  replaced,
  takenCard,
  valid,
  whyOf,
  without,
} from './review-page.ts';

/** A card that its origin offers and that is not taken. */
export interface Pending {
  readonly card: HeldCard;
  readonly why: WithheldWhy;
}

/** What became of an offered card. */
export type Decided =
  | {
      readonly taken: true;
      readonly inForce: CardInForce;
      readonly ruling: Extract<Ruling, { taken: true }>;
      readonly wasBack: boolean;
    }
  | {
      readonly taken: false;
      readonly ruling: Extract<Ruling, { taken: false }>;
      /** What is served meanwhile; undefined where nothing was ever taken for these callers, or it may not be kept to be served. */
      readonly inForce: CardInForce | undefined;
      /** True where nothing was ever taken for these callers. */
      readonly isFirst: boolean;
      readonly pending: Pending;
    };

/** What the record of a decision needs besides the card. */
export interface Occasion {
  readonly receipt: ReceiptId;
  readonly policy: PolicyDigest;
  readonly at: EpochMs;
}

/** What was taken, what waits and what people decided, of every agent: in memory as the ledger has it. */
export interface Reviews {
  /**
   * Reads what the ledger knows of these agents, and of all cards without a name; false where it cannot be read, and then nothing new
   * may be taken.
   */
  load(agents: readonly AgentRule[]): Promise<boolean>;
  /** Decides on an offered card and writes the outcome down. Refused where it is not known what was decided before. */
  offer(offer: Offer, occasion: Occasion): Promise<Outcome<Decided>>;
  /** What is in force for these callers; undefined where nothing is, or what was approved is not any more. */
  inForce(agent: AgentRule, variant: CardVariant): CardInForce | undefined;
  /** Cards that wait or are blocked, of one agent. */
  pending(agent: AgentRule): readonly Pending[];
  /** A card with this digest that the origin offers now, rejected ones included. */
  offered(agent: AgentRule, digest: CardDigest): readonly Pending[];
  /** Every card that has been in force, oldest first, as far back as they are kept. */
  history(agent: AgentRule): readonly CardInForce[];
  decisions(agent: AgentRule): readonly Decision[];
  /** Cards without a name of which something waits or is blocked, by their URLs. */
  unnamed(): readonly AgentName[];
  /** Why operations and extended cards of this agent are refused, where a change of its security or endpoints waits. */
  suspended(agent: AgentRule): Refusal | undefined;
  /** Writes a person's decision; what it lets in is in force when this resolves. */
  decide(decision: Decision, letsIn: readonly CardInForce[]): Promise<Outcome<Decision>>;
}

interface Parts {
  readonly ledger: Evidence;
  readonly observer: Observer;
}

export const createReviews = (parts: Parts): Reviews => new Book(parts);

class Book implements Reviews {
  readonly #parts: Parts;
  readonly #pages = new Map<AgentName, Page>();
  readonly #bounds = createPageBounds();
  #unnamed: Promise<Outcome<null>> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async load(agents: readonly AgentRule[]): Promise<boolean> {
    let known = (await this.#loadUnnamed()).ok;
    for (const { name, by } of agents) if (by === null) known = (await this.#load(name)).ok && known;
    return known;
  }

  async offer(offer: Offer, occasion: Occasion): Promise<Outcome<Decided>> {
    const { name, by } = offer.agent;
    const loaded = by === null ? await this.#load(name) : await this.#loadUnnamed();
    if (!loaded.ok) return loaded;
    // From here to the change of the page nothing is awaited: two offers of one agent are decided one after the other.
    const page = this.#pages.get(name) ?? EMPTY;
    const { ruling, own } = this.#rule(page, offer);
    return accepted(
      ruling.taken
        ? await this.#take(page, offer, { ruling, own, occasion })
        : await this.#withhold(page, offer, { ruling, own, occasion }),
    );
  }

  inForce(agent: AgentRule, variant: CardVariant): CardInForce | undefined {
    return newest(valid(this.#page(agent), agent), [variant, 'any']);
  }

  pending(agent: AgentRule): readonly Pending[] {
    return [...this.#page(agent).pending.values()].filter(({ why }) => why !== 'rejected');
  }

  offered(agent: AgentRule, digest: CardDigest): readonly Pending[] {
    return [...this.#page(agent).pending.values()].filter(({ card }) => card.digest === digest);
  }

  history(agent: AgentRule): readonly CardInForce[] {
    return this.#page(agent).inForce;
  }

  decisions(agent: AgentRule): readonly Decision[] {
    return this.#page(agent).decisions;
  }

  unnamed(): readonly AgentName[] {
    return [...this.#pages].flatMap(([name, page]) => (isUnnamed(name) && isWaiting(page) ? [name] : []));
  }

  suspended(agent: AgentRule): Refusal | undefined {
    if (this.#page(agent).pending.size === 0) return undefined;
    const waiting = this.pending(agent);
    const grave = waiting.find(({ card }) => card.changes.some(isGrave));
    if (grave === undefined) return undefined;
    const classes = classesOf(grave.card.changes.filter(isGrave)).join(' and ');
    return refuse(
      'change-held',
      `A change of ${classes} waits for review, so that nothing is sent to this agent: cardea review ${agent.name}.`,
      { agent: agent.name },
    );
  }

  async decide(decision: Decision, letsIn: readonly CardInForce[]): Promise<Outcome<Decision>> {
    const written = await this.#parts.ledger.decide(decision, letsIn);
    if (!written.ok) return written;
    const page = this.#pages.get(decision.agent) ?? EMPTY;
    const pending = new Map([...page.pending].flatMap((each) => afterDecision(each, decision)));
    await this.#keep(decision.agent, {
      inForce: [...page.inForce, ...letsIn].slice(-MOST_KEPT),
      decisions: [...page.decisions, decision],
      pending,
    });
    return written;
  }

  #page({ name }: AgentRule): Page {
    return this.#pages.get(name) ?? EMPTY;
  }

  /** Puts a page in place of the one before it. Of cards without a name too many may be known then, and some are forgotten. */
  async #keep(name: AgentName, page: Page): Promise<void> {
    this.#pages.delete(name); // what changed last comes last
    this.#set(name, page);
    const gone = isUnnamed(name) ? this.#bounds.beyond(name) : [];
    for (const each of gone) this.#pages.delete(each);
    await this.#tell(gone.map((each) => [each, this.#parts.ledger.forget(each)]));
  }

  #set(name: AgentName, page: Page): void {
    this.#pages.set(name, page);
    this.#bounds.note(name, page);
  }

  /** Reads all that is known of cards without a name, once: it is bounded, and what waits of them is listed. */
  #loadUnnamed(): Promise<Outcome<null>> {
    this.#unnamed ??= this.#readUnnamed().then((read) => {
      if (!read.ok) this.#unnamed = undefined;
      return read;
    });
    return this.#unnamed;
  }

  async #readUnnamed(): Promise<Outcome<null>> {
    const names = await this.#parts.ledger.unnamed();
    if (!names.ok) return names;
    for (const name of names.value) {
      const loaded = await this.#load(name);
      if (!loaded.ok) return loaded;
    }
    return accepted(null);
  }

  async #load(agent: AgentName): Promise<Outcome<null>> {
    if (this.#pages.has(agent)) return accepted(null);
    const { ledger } = this.#parts;
    const [inForce, decisions, held] = [
      await ledger.inForce(agent),
      await ledger.decisions(agent),
      await ledger.held(agent),
    ];
    if (!inForce.ok) return inForce;
    if (!decisions.ok) return decisions;
    if (!held.ok) return held;
    // Whoever asked at the same time may have been faster, and have changed it since.
    if (this.#pages.has(agent)) return accepted(null);
    const pending = held.value.map((card): [CardVariant, Pending] => [card.variant, { card, why: whyOf(card) }]);
    const isKnown = inForce.value.length + decisions.value.length + pending.length > 0;
    const page = { inForce: inForce.value, decisions: decisions.value, pending: new Map(pending) };
    this.#set(agent, isKnown ? page : EMPTY);
    return accepted(null);
  }

  #rule(page: Page, offer: Offer): { readonly ruling: Ruling; readonly own: CardInForce | undefined } {
    const { agent, card, variant, version } = offer;
    const cards = valid(page, agent);
    const own = newest(cards, [variant, 'any', ...(version === null ? [] : [version])]);
    const decided = page.decisions.findLast(({ digest }) => digest === card.digest);
    const ruling = ruleOnCard({
      rule: agent.review,
      digest: card.digest,
      inForce: own?.digest ?? null,
      verdict: card.verdict,
      changes: changesFor(own, cards.at(-1), offer),
      decision: decided?.action ?? null,
    });
    return { ruling, own };
  }

  async #take(page: Page, offer: Offer, done: Done<true>): Promise<Decided> {
    const { own, ruling, occasion } = done;
    const { name } = offer.agent;
    const gone = replaced(page, offer.variant);
    const inForce = takenCard(offer, done);
    const isNew = own === undefined || !isSameStanding(own, inForce);
    const { ledger } = this.#parts;
    const kept = this.#keep(name, {
      ...page,
      inForce: isNew ? [...page.inForce, inForce].slice(-MOST_KEPT) : page.inForce,
      pending: without(page.pending, gone),
    });
    // All that is to be written is ordered at once, as it is known at once: what comes in between finds both or none.
    const written = [...(isNew ? [ledger.enforce(inForce)] : []), ...gone.map((each) => ledger.release(name, each))];
    await this.#tell(written.map((each) => [name, each]));
    await kept;
    const wasBack = isNew && page.inForce.some(({ digest }) => digest === inForce.digest);
    const told = reported(offer, ruling, occasion);
    if (told !== undefined) this.#parts.observer.record(told);
    return { taken: true, inForce: isNew ? inForce : own, ruling, wasBack };
  }

  async #withhold(page: Page, offer: Offer, { ruling, own, occasion }: Done<false>): Promise<Decided> {
    const { agent, variant } = offer;
    const gone = replaced(page, variant);
    const before = gone.flatMap((each) => page.pending.get(each) ?? []);
    const card = heldCard(offer, ruling.changes, { occasion, before });
    const pending: Pending = { card, why: ruling.why };
    const { ledger } = this.#parts;
    const isKnown = before.some((each) => each.card === card && each.why === ruling.why);
    const isNews = !isKnown && ruling.why !== 'rejected';
    if (isNews) this.#parts.observer.record(notTaken(pending, occasion));
    const kept = this.#keep(agent.name, {
      ...page,
      pending: new Map([...without(page.pending, gone), [variant, pending]]),
    });
    const left = gone.filter((each) => each !== variant || ruling.why === 'rejected');
    const written = [...left.map((each) => ledger.release(agent.name, each)), ...(isNews ? [ledger.hold(card)] : [])];
    await this.#tell(written.map((each) => [agent.name, each]));
    await kept;
    const serves = own !== undefined && own.servable ? own : undefined;
    return { taken: false, ruling, inForce: serves, isFirst: own === undefined, pending };
  }

  /** What could not be written is known until the end of this process: nothing is taken on account of it. */
  async #tell(writing: readonly (readonly [AgentName, Promise<Outcome<unknown>>])[]): Promise<void> {
    for (const [agent, each] of writing) {
      const written = await each;
      if (!written.ok) this.#parts.observer.record(unwritten(agent, written.refusal));
    }
  }
}
