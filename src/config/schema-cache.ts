import { optional, section, setting } from './table.ts';
import { duration, size } from './types/quantities.ts';
import { boolean } from './types/words.ts';

/** The rows of the table that are about freshness: for everything, and for one agent or rule. */

export const cache = section({
  defaultTtl: setting(
    duration(),
    '5m',
    'Freshness where the origin says nothing. `0s` = none: heuristics on `content: any`, a revalidation each time on cards.',
  ),
  minTtl: setting(duration(), '0s', 'Floor for the freshness that the origin gives.'),
  maxTtl: setting(duration(), '24h', 'Ceiling for the freshness that the origin gives.'),
  staleWhileRevalidate: setting(
    duration(),
    '30s',
    'How long a stale card is served while it is refreshed, where the origin says nothing (RFC 5861).',
  ),
  staleIfError: setting(
    duration(),
    '1h',
    'How long a stale answer is served because the origin fails, where the origin says nothing (RFC 5861).',
  ),
  maxStale: setting(duration(), '24h', 'Ceiling for serving stale, whatever the origin says. `0s` = never stale.'),
  negativeTtl: setting(
    duration('0s', '1h'),
    '10s',
    'How long a failure is remembered before the origin is asked again.',
  ),
  clientMaxAge: setting(duration(), '30s', 'The longest that a local client is told to keep a card.'),
  keysMaxStale: setting(duration(), '24h', 'The oldest that fetched keys may be; older ones verify nothing.'),
  maxBytes: setting(size('64KiB', '64GiB'), '64MiB', 'Memory for stored answers.'),
  prefetch: setting(boolean, 'true', 'Fetches the card of every agent at start.'),
  prefetchTimeout: setting(duration('0s', '1h'), '10s', 'How long readiness waits for the first prefetch.'),
});

/** What may be written for one agent or rule in place of the same setting of `cache`. */
export const ownCache = section({
  defaultTtl: optional(duration(), 'Freshness where the origin says nothing.'),
  minTtl: optional(duration(), 'Floor for the freshness that the origin gives.'),
  maxTtl: optional(duration(), 'Ceiling for the freshness that the origin gives.'),
  staleWhileRevalidate: optional(
    duration(),
    'How long it is served stale while it is refreshed, where the origin says nothing; under `content: any` only if written here.',
  ),
  staleIfError: optional(
    duration(),
    'How long it is served stale because the origin fails, where the origin says nothing.',
  ),
  negativeTtl: optional(duration('0s', '1h'), 'How long a failure is remembered.'),
  clientMaxAge: optional(duration(), 'The longest that a local client is told to keep a card.'),
});
