import { CHANGE_CLASSES, type ChangeClass } from '../kernel/change.ts';
import type { CardDigest } from '../kernel/ids.ts';
import type { ReviewAction, ReviewRule } from '../kernel/review.ts';
import type { PinFiles } from './pins.ts';
import { CLASS_KEYS } from './review-table.ts';
import type { AgentSettings } from './schema.ts';

/** Whose cards a rule is about. */
export interface Reviewed {
  /** As the pins name it. */
  readonly name: string;
  /** True under a rule that covers origins which nobody has written down one by one. */
  readonly isWildcard: boolean;
}

/** Turns what is written about reviews into the rule that the gate goes by. */
export function reviewRule(
  settings: AgentSettings['review'],
  { name, isWildcard }: Reviewed,
  pins: PinFiles,
): ReviewRule {
  const pinned = settings.pins === null ? [] : (pins.get(settings.pins)?.get(name) ?? []);
  return {
    firstUse: settings.firstUse ?? (isWildcard ? 'hold' : 'allow'),
    maxHold: settings.maxHold,
    pins: new Set(pinned),
    actions: new Map(CHANGE_CLASSES.flatMap((of) => actionOf(settings, of))),
  };
}

function actionOf(settings: AgentSettings['review'], of: ChangeClass): readonly [ChangeClass, ReviewAction][] {
  const action = settings[CLASS_KEYS[of]];
  return action === null ? [] : [[of, action]];
}

/** The rule as values, for the digest that a verdict is reached under. */
export const reviewText = ({
  firstUse,
  maxHold,
  pins,
  actions,
}: ReviewRule): {
  readonly firstUse: string;
  readonly maxHold: number;
  readonly pins: readonly CardDigest[];
  readonly actions: readonly (readonly [ChangeClass, ReviewAction])[];
} => ({ firstUse, maxHold, pins: [...pins].toSorted(), actions: [...actions] });
