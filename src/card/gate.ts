import type { ChangeClass } from '../kernel/change.ts';
import type { Verdict } from '../kernel/entry.ts';
import type { CardDigest } from '../kernel/ids.ts';
import type { Review } from '../kernel/outcome.ts';
import type { ReviewAction, ReviewRule } from '../kernel/review.ts';
import type { CardChange } from './diff/change.ts';
import { isArray } from './json.ts';
import { textOf } from './diff/meaning.ts';

/** A change with what the agent's rule says about it. */
export interface GatedChange extends CardChange {
  readonly action: Exclude<ReviewAction, 'signed-additive'>;
}

/** All that the decision on one offered card depends on. */
export interface GateContext {
  readonly rule: ReviewRule;
  readonly digest: CardDigest;
  /** The digest of the card in force; null where none is. */
  readonly inForce: CardDigest | null;
  readonly verdict: Verdict;
  /** What it says otherwise than the card in force, signers and URL included; null where none is in force. */
  readonly changes: readonly CardChange[] | null;
  /** What a person decided about this digest, where one did; the last word counts. */
  readonly decision: 'approve' | 'reject' | null;
}

/** What becomes of an offered card, and why. */
export type Ruling =
  | {
      readonly taken: true;
      readonly review: Exclude<Review, 'held'>;
      readonly why: TakenWhy;
      readonly changes: readonly GatedChange[];
    }
  | { readonly taken: false; readonly why: WithheldWhy; readonly changes: readonly GatedChange[] };

export type TakenWhy =
  | 'same' // it says what the card in force says
  | 'pinned' // the pins name it
  | 'approved' // a person approved it
  | 'policy' // every change in it is allowed or reported
  | 'first-use'; // nothing was known, and the rule takes what comes first

export type WithheldWhy =
  | 'held' // a change waits for a person
  | 'blocked' // the rule takes no such change
  | 'rejected' // a person rejected it
  | 'first-use'; // nothing was approved yet

/** Decides on an offered card. A person's no stands before everything but the card that is in force. */
export function ruleOnCard(context: GateContext): Ruling {
  const { rule, digest, decision, changes } = context;
  const gated = (changes ?? []).map((change) => ({ ...change, action: actionOn(change, context) }));
  const isSame = changes?.length === 0;
  if (decision === 'reject' && !(isSame && digest === context.inForce))
    return { taken: false, why: 'rejected', changes: gated };
  if (isSame) return { taken: true, review: 'allowed', why: 'same', changes: [] };
  if (rule.pins.has(digest)) return { taken: true, review: 'approved', why: 'pinned', changes: gated };
  if (changes === null) return ruleOnFirst(rule, decision);
  if (decision !== 'approve') return ruleOnChanges(gated, 'allowed');
  // What was approved is the content: that it comes from elsewhere, or with another signature, was not.
  const around = gated.filter(({ of }) => of !== undefined);
  return around.length === 0
    ? { taken: true, review: 'approved', why: 'approved', changes: gated }
    : ruleOnChanges(around, 'approved');
}

function ruleOnFirst({ firstUse }: ReviewRule, decision: GateContext['decision']): Ruling {
  const isApproved = decision === 'approve' && firstUse !== 'pinned';
  if (isApproved) return { taken: true, review: 'approved', why: 'approved', changes: [] };
  switch (firstUse) {
    case 'allow':
      return { taken: true, review: 'first-use', why: 'first-use', changes: [] };
    case 'hold':
    case 'pinned':
      return { taken: false, why: 'first-use', changes: [] };
  }
}

function ruleOnChanges(changes: readonly GatedChange[], review: 'allowed' | 'approved'): Ruling {
  if (changes.some(({ action }) => action === 'block')) return { taken: false, why: 'blocked', changes };
  if (changes.some(({ action }) => action === 'hold')) return { taken: false, why: 'held', changes };
  return { taken: true, review, why: review === 'approved' ? 'approved' : 'policy', changes };
}

function actionOn(change: CardChange, { rule, verdict, changes }: GateContext): GatedChange['action'] {
  const action = rule.actions.get(change.class) ?? usualAction(change);
  if (action !== 'signed-additive') return action;
  const ofClass = (changes ?? []).filter((other) => other.class === change.class);
  return verdict.signature === 'verified' && ofClass.every(onlyAdds) ? 'allow' : 'hold';
}

/** What holds where the rule says nothing about a class. */
export function usualAction(
  change: Pick<CardChange, 'class' | 'cues' | 'required'>,
): Exclude<ReviewAction, 'signed-additive'> {
  switch (change.class) {
    case 'identity':
    case 'endpoint':
    case 'protocol':
    case 'security':
    case 'signature':
    case 'capability':
    case 'skill-added':
    case 'skill-io':
      return 'hold';
    case 'extension':
      return change.required === true || change.cues.length > 0 ? 'hold' : 'report';
    case 'skill-text':
      return change.cues.length > 0 ? 'hold' : 'report';
    case 'modes':
      return 'report';
    case 'skill-removed':
    case 'cosmetic':
      return 'allow';
  }
}

/** Something new, or a list that has kept all that was in it. */
function onlyAdds({ before, after }: CardChange): boolean {
  if (before === undefined) return true;
  if (!isArray(before) || !isArray(after)) return false;
  const now = new Set(after.map(textOf));
  return before.every((item) => now.has(textOf(item)));
}

/** Classes, each once, in the order of the changes. */
export const classesOf = (changes: readonly Pick<CardChange, 'class'>[]): readonly ChangeClass[] => [
  ...new Set(changes.map((change) => change.class)),
];
