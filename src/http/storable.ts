import type { CachePolicy } from '../kernel/cache-policy.ts';
import type { Fields } from '../kernel/fields.ts';
import type { Url } from '../kernel/ids.ts';
import { type Directives, requestDirectives } from './cache-control.ts';
import { type FieldReader, fieldLines, fieldValue } from './fields.ts';
import { hasExplicitLifetime, statesLifetime } from './freshness.ts';
import { contentRange } from './parts.ts';
import { isFinal, isHeuristicallyCacheable, isUnderstood } from './statuses.ts';
import { type Applied, responseDirectives } from './targeted.ts';
import { varyNames } from './vary.ts';

/** Why a response is not stored (RFC 9111 §3). */
export type NotStored =
  | 'interim' // 1xx is no answer
  | 'method' // only GET, and POST that says it is what GET would get
  | 'not-modified' // a 304 updates what is stored, and is nothing by itself
  | 'partial' // a 206 without one readable Content-Range
  | 'request-no-store' // the caller forbids
  | 'no-store' // the origin forbids
  | 'not-understood' // must-understand, and the status is not known here
  | 'private' // for one user; this cache is shared
  | 'authorization' // the request had credentials, and the origin does not say that others may see the answer
  | 'vary-star' // no request could ever select it
  | 'set-cookie' // nobody stated a lifetime for what looks personal
  | 'no-lifetime'; // nothing says how long it lives

export type Storable = { readonly store: true } | { readonly store: false; readonly why: NotStored };

/** An exchange that is over, as far as storing it depends on it. */
export interface Exchange {
  readonly method: string;
  readonly requestFields: FieldReader;
  readonly status: number;
  readonly fields: Fields;
  readonly policy: CachePolicy;
  /** The request's target; without it no POST is stored. */
  readonly url?: Url;
}

/** Decides whether a response may be stored (RFC 9111 §3), and says the first reason why not. */
export function storable(exchange: Exchange): Storable {
  const applied = responseDirectives(exchange.fields);
  const { directives } = applied;
  const why =
    messageForbids(exchange) ??
    directivesForbid(exchange, directives) ??
    strangersForbidden(exchange, directives) ??
    unlived(exchange, applied);
  return why === undefined ? { store: true } : { store: false, why };
}

function messageForbids(exchange: Exchange): NotStored | undefined {
  const { method, status, fields } = exchange;
  if (!isFinal(status)) return 'interim';
  if (method !== 'GET' && !(method === 'POST' && answersGet(exchange))) return 'method';
  if (status === 304) return 'not-modified';
  if (status === 206 && contentRange(fields) === undefined) return 'partial';
  return varyNames(fields)[0] === '*' ? 'vary-star' : undefined;
}

/** "Responses to POST requests are only cacheable when they include explicit freshness information and a Content-Location header field
 *  that has the same value as the POST's target URI" — RFC 9110 §9.3.3. */
function answersGet({ url, status, fields }: Exchange): boolean {
  const location = fieldLines(fields, 'content-location')[0];
  if (url === undefined || location === undefined || status >= 300 || !hasExplicitLifetime(fields)) return false;
  return URL.canParse(location, url) && new URL(location, url).href === new URL(url).href;
}

function directivesForbid({ requestFields, status }: Exchange, said: Directives): NotStored | undefined {
  if (requestDirectives(requestFields).noStore) return 'request-no-store';
  // "cache stores a response that contains [must-understand] … ignoring the no-store directive if it understands the status" — §5.2.2.3
  if (said.mustUnderstand && !isUnderstood(status)) return 'not-understood';
  if (said.noStore && !said.mustUnderstand) return 'no-store';
  return said.private ? 'private' : undefined;
}

/** RFC 9111 §3.5: with Authorization in the request, only what says that a shared cache may. */
function strangersForbidden({ requestFields }: Exchange, said: Directives): NotStored | undefined {
  if (requestFields('authorization') === undefined) return undefined;
  return said.public || said.mustRevalidate || said.sMaxage !== null ? undefined : 'authorization';
}

function unlived({ status, fields }: Exchange, applied: Applied): NotStored | undefined {
  if (statesLifetime(applied, fields)) return undefined;
  const said = applied.directives;
  if (!isHeuristicallyCacheable(status) && !said.public) return 'no-lifetime';
  // Set-Cookie "does not inhibit caching" (RFC 9111 §7.3) where the origin states a lifetime; a guess must not hand one user's cookie to all.
  return fieldValue(fields, 'set-cookie') !== undefined && !said.public ? 'set-cookie' : undefined;
}
