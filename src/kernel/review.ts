import type { CallerVersion } from './ask.ts';
import type { ChangeClass } from './change.ts';
import type { AgentName, CardDigest } from './ids.ts';
import type { EpochMs, Ms } from './units.ts';

/** What becomes of a changed card, by the class of the change; the strictest of a card's changes counts. */
export const REVIEW_ACTIONS = [
  'allow', // taken
  'signed-additive', // taken where a key of the agent signed the card and it only adds, else held
  'report', // taken, and told
  'hold', // waits for a person; the card before it is served
  'block', // never taken; the card before it is served
] as const;
export type ReviewAction = (typeof REVIEW_ACTIONS)[number];

/** What becomes of the first card that is ever seen of an agent. */
export const FIRST_USES = [
  'allow', // taken
  'hold', // waits for a person
  'pinned', // taken where its digest is pinned, and only then
] as const;
export type FirstUse = (typeof FIRST_USES)[number];

/** How changes of one agent's card are decided. */
export interface ReviewRule {
  readonly firstUse: FirstUse;
  /** How long the approved card is served while a newer one waits. */
  readonly maxHold: Ms;
  /** Approved wherever the configuration is. */
  readonly pins: ReadonlySet<CardDigest>;
  /** Classes whose action is written; the others have their default. */
  readonly actions: ReadonlyMap<ChangeClass, ReviewAction>;
}

/** Which callers a card is for: those of one A2A version where its origin varies on it, else all of them. */
export type CardVariant = 'any' | CallerVersion;

/** What the ledger knows of an extended card that waits: whose it is and what it says is in memory alone. */
export interface HeldExtended {
  readonly agent: AgentName;
  readonly digest: CardDigest;
  readonly classes: readonly ChangeClass[];
  /** When it was first seen. */
  readonly at: EpochMs;
}
