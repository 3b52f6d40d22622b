/** Branded numbers: a duration cannot be passed where an instant is meant. Each constructor is the one place that makes its unit. */
declare const unit: unique symbol;
type Unit<Name extends string> = number & { readonly [unit]: Name };

/** An instant: milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = Unit<'EpochMs'>;
/** A duration in milliseconds. */
export type Ms = Unit<'Ms'>;
/** A duration in whole seconds, as HTTP fields write it. */
export type Seconds = Unit<'Seconds'>;
/** A size in bytes. */
export type Bytes = Unit<'Bytes'>;

export const epochMs = (value: number): EpochMs => value as EpochMs;
export const ms = (value: number): Ms => value as Ms;
export const seconds = (value: number): Seconds => value as Seconds;
export const bytes = (value: number): Bytes => value as Bytes;

/** Adds a duration to an instant. */
export const later = (at: EpochMs, by: Ms): EpochMs => (at + by) as EpochMs;
/** Says how long after `from` the instant `to` is; negative when it is earlier. */
export const between = (from: EpochMs, to: EpochMs): Ms => (to - from) as Ms;
/**
 * True from one instant until before another. What is remembered for a while ends before its first instant as well: a clock that was
 * ahead and is set back would make the while as long as it was wrong.
 */
export const isDuring = (now: EpochMs, from: EpochMs, until: EpochMs): boolean => from <= now && now < until;

/** Turns whole seconds, as a header carries them, into a duration. */
export const secondsToMs = (value: Seconds): Ms => (value * 1000) as Ms;
/** Rounds a duration down to whole seconds, as `Age` and `max-age` are written. */
export const msToSeconds = (value: Ms): Seconds => Math.floor(value / 1000) as Seconds;
