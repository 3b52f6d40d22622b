import type { GatedChange, Ruling, WithheldWhy } from '../card/gate.ts';
import type { CardDigest } from '../kernel/ids.ts';
import type { CardVariant } from '../kernel/review.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { CardInForce, Decision, HeldCard } from '../ports.ts';
import { type Offer, cardUrl, changesAcross, changesSince } from './offer.ts';
import type { Occasion, Pending } from './reviews.ts';

/** What the book of reviews says of one agent, as values: nothing here writes. */

/** All that is known of one agent. */
export interface Page {
  /** Oldest first. */
  readonly inForce: readonly CardInForce[];
  readonly decisions: readonly Decision[];
  readonly pending: ReadonlyMap<CardVariant, Pending>;
}

/** The ruling on an offer, and what it was held against. */
export interface Done<Taken extends boolean> {
  readonly ruling: Extract<Ruling, { taken: Taken }>;
  readonly own: CardInForce | undefined;
  readonly occasion: Occasion;
}

export const EMPTY: Page = { inForce: [], decisions: [], pending: new Map() };

/** Four variants, as far back as the ledger keeps each. */
export const MOST_KEPT = 64;

/** Cards in force that still may be: a pin that was taken away takes its approval with it, unless a person gave one too. */
export function valid({ inForce, decisions }: Page, { review }: AgentRule): readonly CardInForce[] {
  const isApproved = (digest: CardDigest): boolean =>
    decisions.findLast((each) => each.digest === digest)?.action === 'approve';
  return inForce.filter(({ by, digest }) => by !== 'pin' || review.pins.has(digest) || isApproved(digest));
}

export const newest = (cards: readonly CardInForce[], variants: readonly CardVariant[]): CardInForce | undefined =>
  cards.findLast(({ variant }) => variants.includes(variant));

/** A variant that was never seen is a first use where first uses are decided on, else it is held against the card of another variant. */
export function changesFor(own: CardInForce | undefined, other: CardInForce | undefined, offer: Offer) {
  if (own !== undefined) return changesSince(own, offer);
  return other === undefined || offer.agent.review.firstUse !== 'allow' ? null : changesAcross(other, offer);
}

/** An answer for all callers takes the place of every variant's, one for some the place of theirs and of the one for all. */
export const replaced = ({ pending }: Page, variant: CardVariant): readonly CardVariant[] =>
  [...pending.keys()].filter((each) => variant === 'any' || each === variant || each === 'any');

export const without = <Key, Value>(map: ReadonlyMap<Key, Value>, keys: readonly Key[]): ReadonlyMap<Key, Value> =>
  new Map([...map].filter(([key]) => !keys.includes(key)));

export function takenCard(offer: Offer, { ruling, own, occasion }: Done<true>): CardInForce {
  const { agent, variant, card, contentType, servable } = offer;
  const isStanding =
    ruling.why === 'same' && own !== undefined && own.digest === card.digest && own.review === 'approved';
  return {
    agent: agent.name,
    variant,
    digest: card.digest,
    url: cardUrl(agent),
    body: card.body,
    contentType,
    verdict: card.verdict,
    review: isStanding ? 'approved' : ruling.review,
    by: isStanding ? own.by : ruling.why === 'pinned' ? 'pin' : ruling.review === 'approved' ? 'person' : 'policy',
    receipt: occasion.receipt,
    at: occasion.at,
    servable,
  };
}

/** A new copy of what is in force is no news: only who vouches for it, where it is, whom it is for and who let it in are. */
export const isSameStanding = (one: CardInForce, other: CardInForce): boolean =>
  one.digest === other.digest &&
  one.url === other.url &&
  one.variant === other.variant &&
  one.by === other.by &&
  one.servable === other.servable &&
  one.verdict.signature === other.verdict.signature &&
  one.verdict.keys === other.verdict.keys;

export function heldCard(
  { agent, variant, card, contentType, servable }: Offer,
  changes: readonly GatedChange[],
  { occasion, before }: { readonly occasion: Occasion; readonly before: readonly Pending[] },
): HeldCard {
  const known = before.find(({ card: held }) => held.digest === card.digest && held.variant === variant);
  const kept = changes.map((change) => ({ ...change }));
  const isKnown = known !== undefined && JSON.stringify(known.card.changes) === JSON.stringify(kept);
  if (isKnown) return known.card;
  const waited = before.filter(({ why }) => why !== 'rejected').map(({ card: held }) => held.since);
  return {
    agent: agent.name,
    variant,
    digest: card.digest,
    url: cardUrl(agent),
    body: card.body,
    contentType,
    at: known?.card.at ?? occasion.at,
    policy: occasion.policy,
    since: waited.reduce((first, since) => (since < first ? since : first), occasion.at),
    servable,
    changes: kept,
  };
}

/** True where something of it waits for a person or is blocked; what was rejected waits for nobody. */
export const isWaiting = ({ pending }: Page): boolean => [...pending.values()].some(({ why }) => why !== 'rejected');

/** Why a card waits that was read from the ledger: rejected ones are not kept there. */
export const whyOf = ({ changes }: HeldCard): WithheldWhy =>
  changes.length === 0 ? 'first-use' : changes.some(({ action }) => action === 'block') ? 'blocked' : 'held';

export const isGrave = ({ class: of, action }: HeldCard['changes'][number]): boolean =>
  (of === 'security' || of === 'endpoint') && (action === 'hold' || action === 'block');

/** What was approved does not wait any more; what was rejected is known as long as it is offered. */
export function afterDecision(
  [variant, pending]: readonly [CardVariant, Pending],
  { digest, action }: Decision,
): readonly [CardVariant, Pending][] {
  if (pending.card.digest !== digest) return [[variant, pending]];
  return action === 'approve' ? [] : [[variant, { ...pending, why: 'rejected' }]];
}
