import type { Place } from './place.ts';

/** What was written, with where: the one form in which file, flags and environment reach the table. */
export type Given = GivenScalar | GivenMapping | GivenList | GivenBroken;

/** What could not be read; it has been reported already. */
interface GivenBroken {
  readonly kind: 'broken';
  readonly at: Place;
}

export interface GivenScalar {
  readonly kind: 'scalar';
  /** As written, unquoted: `1.0` stays `1.0` and is no number. */
  readonly text: string;
  /** True where it stands without quotes, so that `true`, `3` and `null` may mean more than text. */
  readonly plain: boolean;
  readonly at: Place;
}

export interface GivenMapping {
  readonly kind: 'mapping';
  /** In the order written, each key once. */
  readonly members: ReadonlyMap<string, GivenMember>;
  readonly at: Place;
}

export interface GivenMember {
  readonly keyAt: Place;
  readonly value: Given;
}

export interface GivenList {
  readonly kind: 'list';
  readonly items: readonly Given[];
  readonly at: Place;
}

const NULLS: readonly string[] = ['', '~', 'null', 'Null', 'NULL'];

/** True for a key without a value: `agents:` with every line below it commented out. */
export const isNothing = (given: Given): boolean =>
  given.kind === 'scalar' && given.plain && NULLS.includes(given.text);
