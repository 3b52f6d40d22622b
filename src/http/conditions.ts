import type { EpochMs } from '../kernel/units.ts';
import { epochMs } from '../kernel/units.ts';
import { parseEntityTags, weakMatch } from './etag.ts';
import type { FieldReader } from './fields.ts';
import { parseHttpDate } from './http-date.ts';

/** The validators of the response that a conditional request is evaluated against, as its fields have them. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | undefined;
  /** Stands in for Last-Modified where there is none (RFC 9111 §4.3.2). */
  readonly date?: string | undefined;
}

/**
 * Evaluates a caller's conditions in the order of RFC 9110 §13.2.2, as far as they concern a cache: If-None-Match, else
 * If-Modified-Since. "The If-Match and If-Unmodified-Since conditional header fields are not applicable to a cache" — RFC 9111 §4.3.2.
 * A malformed condition is ignored, except that a malformed If-None-Match still silences If-Modified-Since.
 */
export function evaluateConditions(
  reader: FieldReader,
  method: string,
  validators: Validators,
): 'proceed' | 'not-modified' | 'failed' {
  const reads = method === 'GET' || method === 'HEAD';
  const noneMatch = reader('if-none-match');
  if (noneMatch !== undefined) {
    if (!matchesAny(noneMatch, validators.etag)) return 'proceed';
    return reads ? 'not-modified' : 'failed';
  }
  const since = reader('if-modified-since');
  return reads && since !== undefined && unmodifiedSince(since, validators) ? 'not-modified' : 'proceed';
}

/** `*` matches whatever is there; tags match by weak comparison (RFC 9110 §13.1.2). */
const matchesAny = (noneMatch: string, etag: string | null): boolean =>
  noneMatch.trim() === '*' || (etag !== null && parseEntityTags(noneMatch).some((tag) => weakMatch(tag, etag)));

function unmodifiedSince(since: string, { lastModified, date }: Validators): boolean {
  const modified = parseHttpDate(lastModified ?? date ?? '', EPOCH);
  // The century of a two-digit year is that of the date it is held against, so that no clock is needed.
  const asked = modified === undefined ? undefined : parseHttpDate(since, modified);
  return modified !== undefined && asked !== undefined && !isLater(modified, asked);
}

const EPOCH = epochMs(0);
const isLater = (one: EpochMs, other: EpochMs): boolean => one > other;
