import { CHANGE_CLASSES, type ChangeClass } from '../kernel/change.ts';
import type { AgentName, CardDigest } from '../kernel/ids.ts';
import type { FirstUse, ReviewAction, ReviewRule } from '../kernel/review.ts';
import type { PinFiles, Pins } from './pins.ts';
import { CLASS_KEYS } from './review-table.ts';
import type { AgentSettings } from './schema.ts';

/** Turns what is written about an agent's reviews into the rule that the gate goes by. */
export function agentReview(settings: AgentSettings['review'], name: AgentName, pins: PinFiles): ReviewRule {
  const pinned = settings.pins === null ? [] : (pins.get(settings.pins)?.get(name) ?? []);
  return { ...reviewRule(settings, 'allow'), pins: new Set(pinned) };
}

/**
 * The same of cards without a name: each has its own pins, which `urlPins` finds.
 * @param isWildcard true under a rule that covers origins which nobody has written down one by one.
 */
export const unnamedReview = (settings: AgentSettings['review'], isWildcard: boolean): ReviewRule =>
  reviewRule(settings, isWildcard ? 'hold' : 'allow');

/** What a file of pins approves of cards without a name, by their URLs; the names of agents are no URLs. */
export const urlPins = ({ pins }: AgentSettings['review'], files: PinFiles): Pins =>
  new Map([...((pins === null ? undefined : files.get(pins)) ?? [])].filter(([key]) => key.includes(':')));

const reviewRule = (settings: AgentSettings['review'], firstUse: FirstUse): ReviewRule => ({
  firstUse: settings.firstUse ?? firstUse,
  maxHold: settings.maxHold,
  pins: new Set(),
  actions: new Map(CHANGE_CLASSES.flatMap((of) => actionOf(settings, of))),
});

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
