import type { Ms } from './units.ts';

/** RFC 9111 settings for one agent or rule, its own values over the global ones. All ceilings are absolute. */
export interface CachePolicy {
  /** What the entry is: cards are validated where nothing says how long they live, `any` may use heuristics. */
  readonly content: 'card' | 'any';
  /** Lifetime where the origin says nothing; 0 = none: heuristics on `content: any`, validation each time on cards. */
  readonly defaultTtl: Ms;
  /** Floor for what the origin says; never against no-store, no-cache or private. */
  readonly minTtl: Ms;
  /** Ceiling for what the origin says. */
  readonly maxTtl: Ms;
  /** RFC 5861 window where the origin says nothing; 0 on `content: any` unless the origin asks. */
  readonly staleWhileRevalidate: Ms;
  /** RFC 5861 window where the origin says nothing. */
  readonly staleIfError: Ms;
  /** Ceiling for both windows, counted from the end of freshness; 0 = never stale. */
  readonly maxStale: Ms;
  /** How long a failure is remembered before the origin is asked again. */
  readonly negativeTtl: Ms;
  /** The longest that a local client is told to keep a card. */
  readonly clientMaxAge: Ms;
}
