import { classesOf, ruleOnCard, type Ruling } from '../card/gate.ts';
import type { JsonObject } from '../card/json.ts';
import { diffCards } from '../card/diff/diff.ts';
import { diffSigners } from '../card/diff/signers.ts';
import { viewOfBody } from '../card/view.ts';
import type { Verdict } from '../kernel/entry.ts';
import type { ExtendedEntry, PartitionKey } from '../kernel/extended-entry.ts';
import type { AgentName, CardDigest, Generation, Tag } from '../kernel/ids.ts';
import type { Review } from '../kernel/outcome.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { Clock, Evidence, Observer } from '../ports.ts';
import type { ExtendedStore } from '../ports/callers.ts';
import { type ExtendedWaiting, createExtendedWaiting, type WaitingExtended } from './extended-waiting.ts';
import type { Reviews } from './reviews.ts';

/** An extended card that was admitted and not yet decided on, as the entry that it would be. */
export interface ExtendedOffer {
  readonly agent: AgentRule;
  readonly entry: ExtendedEntry;
  readonly view: () => JsonObject;
  /** Those of its tags that name the caller: when they are purged its session is over. */
  readonly callerTags: readonly Tag[];
  /** What is held for the same caller. */
  readonly before: ExtendedEntry | undefined;
}

/** What becomes of it. */
export type ExtendedDecided =
  | { readonly taken: true; readonly review: Exclude<Review, 'held'>; readonly ruling: Ruling }
  | { readonly taken: false; readonly ruling: Extract<Ruling, { taken: false }>; readonly since: EpochMs };

/**
 * Decides on extended cards. Each caller's is compared with the one before it of the same caller, whose text is in memory alone: what
 * outlives the session's text is a digest, and what outlives the process are the digests that wait.
 */
export interface ExtendedReviews {
  /** Reads what waited when the last process ended; false where that cannot be read, or not what people decided. */
  load(agent: AgentRule): Promise<boolean>;
  /** @param known what `load` said. Nothing is awaited in it, so that no session ends in between. */
  offer(offer: ExtendedOffer, known: boolean): Outcome<ExtendedDecided>;
  /** True while the newest card of this caller waits or is blocked. */
  waits(partition: PartitionKey): boolean;
  /** What waits of an agent, of callers whose session goes on. */
  pending(agent: AgentRule): readonly WaitingExtended[];
  /** What was decided does not wait any more. */
  decided(agent: AgentName, digest: CardDigest): void;
}

interface Parts {
  readonly clock: Clock;
  readonly ledger: Evidence;
  readonly observer: Observer;
  readonly reviews: Pick<Reviews, 'load' | 'decisions'>;
  readonly extended: Pick<ExtendedStore, 'isEnded'>;
}

/** The last card that a caller was given. */
interface Last {
  readonly digest: CardDigest;
  readonly verdict: Verdict;
  readonly review: Exclude<Review, 'held'>;
  readonly tags: readonly Tag[];
  readonly generation: Generation;
}

/** Callers whose last digest is known, at some 500 bytes each; of one that is forgotten the next card is a first one. */
const MOST_KNOWN = 16_384;

export const createExtendedReviews = (parts: Parts): ExtendedReviews => new Book(parts);

class Book implements ExtendedReviews {
  readonly #parts: Parts;
  readonly #waiting: ExtendedWaiting;
  readonly #last = new Map<PartitionKey, Last>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#waiting = createExtendedWaiting(parts);
  }

  async load(agent: AgentRule): Promise<boolean> {
    const known = await this.#waiting.load();
    return (await this.#parts.reviews.load([agent])) && known;
  }

  offer(offer: ExtendedOffer, known: boolean): Outcome<ExtendedDecided> {
    const { entry, agent } = offer;
    const last = this.#lastOf(entry.partition);
    if (!known && last?.digest !== entry.admission.digest && !(last === undefined && agent.review.firstUse === 'allow'))
      return refused(refuse('overloaded', 'The ledger cannot be read, so that no changed card is taken.'));
    const ruling = this.#rule(offer, last);
    return accepted(ruling.taken ? this.#take(offer, ruling, last) : this.#withhold(offer, ruling, last));
  }

  waits(partition: PartitionKey): boolean {
    return this.#waiting.waits(partition);
  }

  pending(agent: AgentRule): readonly WaitingExtended[] {
    return this.#waiting.of(agent.name);
  }

  decided(agent: AgentName, digest: CardDigest): void {
    this.#waiting.end(agent, digest);
  }

  /** What was known of a session that is over is not known any more. */
  #lastOf(partition: PartitionKey): Last | undefined {
    const last = this.#last.get(partition);
    if (last === undefined || !this.#parts.extended.isEnded(last)) return last;
    this.#last.delete(partition);
    return undefined;
  }

  #rule(offer: ExtendedOffer, last: Last | undefined): Ruling {
    const { agent, entry } = offer;
    const { digest, verdict } = entry.admission;
    const decision = this.#parts.reviews.decisions(agent).findLast((each) => each.digest === digest)?.action ?? null;
    const changes = last === undefined ? null : changesSince(last, offer);
    const ruling = ruleOnCard({
      rule: agent.review,
      digest,
      inForce: last?.digest ?? null,
      verdict,
      changes,
      decision,
    });
    // What waited before a restart is no first card after it, though nothing is left to compare it with.
    const isHeldOver = ruling.taken && ruling.why === 'first-use';
    return isHeldOver && this.#waiting.isKnown(agent.name, digest)
      ? { taken: false, why: 'held', changes: [] }
      : ruling;
  }

  #take({ agent, entry, callerTags }: ExtendedOffer, ruling: Extract<Ruling, { taken: true }>, last: Last | undefined) {
    const { partition, generation, admission } = entry;
    const review = ruling.why === 'same' && last?.review === 'approved' ? 'approved' : ruling.review;
    this.#last.delete(partition);
    this.#last.set(partition, {
      digest: admission.digest,
      verdict: admission.verdict,
      review,
      tags: callerTags,
      generation,
    });
    const [oldest] = this.#last.keys();
    if (this.#last.size > MOST_KNOWN && oldest !== undefined) this.#last.delete(oldest);
    this.#waiting.leave(agent.name, partition);
    return { taken: true, review, ruling } as const;
  }

  #withhold(offer: ExtendedOffer, ruling: Extract<Ruling, { taken: false }>, last: Last | undefined) {
    const { agent, entry } = offer;
    if (ruling.why === 'rejected') {
      this.#waiting.leave(agent.name, entry.partition);
      return { taken: false, ruling, since: this.#parts.clock.now() } as const;
    }
    const { why, changes } = ruling;
    const since = this.#waiting.hold({ ...offer, why, changes, inForce: last?.digest ?? null });
    return { taken: false, ruling, since } as const;
  }
}

/** Where the text of the card before is gone, everything in the new one is a change. */
function changesSince(last: Last, { entry, view, before }: ExtendedOffer) {
  const { digest, verdict } = entry.admission;
  const signers = diffSigners(last.verdict, verdict);
  if (digest === last.digest) return signers;
  const text = before?.admission.digest === last.digest ? viewOfBody(before.body) : undefined;
  return [...diffCards(text ?? {}, view()), ...signers];
}

/** The kinds of change of a card that was decided on, for its receipt. */
export const changesOf = ({ ruling }: ExtendedDecided) => classesOf(ruling.changes);
