import type { Fields } from '../kernel/fields.ts';
import { type Url, urlId } from '../kernel/ids.ts';
import { fieldLines } from './fields.ts';

/** RFC 9110 §9.2.1 and IANA's registry; "a cache MUST invalidate … any method that is not known to be safe" — RFC 9111 §4.4. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PROPFIND', 'QUERY', 'REPORT', 'SEARCH', 'TRACE']);

/** Says whether a method asks only to look. */
export const isSafe = (method: string): boolean => SAFE.has(method);

/** A response to a request that may have changed something. */
export interface UnsafeExchange {
  readonly method: string;
  readonly url: Url;
  readonly status: number;
  readonly fields: Fields;
}

/**
 * Lists the URIs that a response makes stale (RFC 9111 §4.4): after a non-error answer to an unsafe method the target, and what
 * Location and Content-Location name on the same origin. "A cache MUST NOT … if the origin differs": no one may empty another's cache.
 */
export function invalidatedUrls({ method, url, status, fields }: UnsafeExchange): readonly Url[] {
  if (isSafe(method) || status < 200 || status > 399) return [];
  const target = new URL(url);
  const named = [...fieldLines(fields, 'location'), ...fieldLines(fields, 'content-location')];
  const urls = named.flatMap((reference) => sameOrigin(reference, target));
  return [...new Set([url, ...urls])];
}

function sameOrigin(reference: string, target: URL): readonly Url[] {
  if (!URL.canParse(reference, target.href)) return [];
  const named = new URL(reference, target.href);
  named.hash = '';
  return named.origin === target.origin && named.username === '' && named.password === '' ? [urlId(named.href)] : [];
}
