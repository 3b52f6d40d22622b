import type { ChangeClass, Cue } from '../../kernel/change.ts';
import type { Json } from '../json.ts';

/** One thing that a card says otherwise than the one before it, in the 1.0 view. */
export interface CardChange {
  readonly class: ChangeClass;
  /** JSON Pointers to where it stands in the card before and in the card after; `-` for the place in a list where it is not. */
  readonly oldPointer: string;
  readonly pointer: string;
  /** Left out where it is not there. */
  readonly before?: Json;
  readonly after?: Json;
  /** Whether more is open, offered or asked for than before, or less; null where that has no meaning. */
  readonly effect: Effect | null;
  /** Cues for a model that the text has now and had not before. */
  readonly cues: readonly Cue[];
  /** True for an extension that clients must honour, before or after. */
  readonly required?: true;
  /** The skill that an added or a removed one may be taken for. */
  readonly resembles?: Resemblance;
  /** What the change is of, where it is not the card itself: the URL that the configuration names, or who signed. */
  readonly of?: 'card-url' | 'signatures';
}

export type Effect = 'widens' | 'narrows';

export interface Resemblance {
  readonly id: string;
  readonly why:
    | 'renamed' // the same skill under another id
    | 'near-id'; // an id that reads like it
}

/** Two values of one member, and where each stands. */
export interface Pair {
  readonly oldPointer: string;
  readonly pointer: string;
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/** A change of a whole value. */
export const changeOf = (
  { oldPointer, pointer, before, after }: Pair,
  change: ChangeClass,
  more: Partial<Omit<CardChange, keyof Pair | 'class'>> = {},
): CardChange => ({
  class: change,
  oldPointer,
  pointer,
  ...(before === undefined ? {} : { before }),
  ...(after === undefined ? {} : { after }),
  effect: null,
  cues: [],
  ...more,
});
