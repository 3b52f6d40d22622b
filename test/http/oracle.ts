/**
 * What RFC 9111 says about one response, one caller and one moment, written from its text and from nothing in `src/`: plain numbers of
 * seconds, no parsing, no shared types. `directives.test.ts` holds the real rules to it over every combination.
 */
export interface Situation {
  readonly status: number;
  readonly maxAge: number | null;
  readonly sMaxage: number | null;
  /** Expires less Date, where the response has an Expires. */
  readonly expiresIn: number | null;
  readonly noStore: boolean;
  readonly noCache: boolean;
  readonly isPrivate: boolean;
  readonly isPublic: boolean;
  readonly mustRevalidate: boolean;
  readonly proxyRevalidate: boolean;
  readonly mustUnderstand: boolean;
  readonly staleIfError: number | null;
  readonly staleWhileRevalidate: number | null;
  /** The request had an Authorization field. */
  readonly authorization: boolean;
  /** The response's age at the moment in question. */
  readonly age: number;
}

/** What a shared cache may do. */
export interface Ruling {
  readonly stored: boolean;
  /** Without asking the origin, and not because of any stale rule. */
  readonly reusable: boolean;
  readonly whileRevalidating: boolean;
  readonly onError: boolean;
}

export function rule(situation: Situation): Ruling {
  if (!mayBeStored(situation)) return { stored: false, reusable: false, whileRevalidating: false, onError: false };
  const lifetime = freshnessLifetime(situation);
  // §4.2: "response_is_fresh = (freshness_lifetime > current_age)"
  const fresh = lifetime > situation.age;
  const staleFor = situation.age - lifetime;
  const staleAllowed = !fresh && mayEverBeStale(situation);
  return {
    stored: true,
    // §5.2.2.4: "MUST NOT be used to satisfy any other request without forwarding it for validation"
    reusable: fresh && !situation.noCache,
    // RFC 5861 §3: "after it becomes stale, up to the indicated number of seconds"; none indicated, no stale.
    whileRevalidating:
      staleAllowed && situation.staleWhileRevalidate !== null && staleFor <= situation.staleWhileRevalidate,
    onError:
      (fresh && !situation.noCache) ||
      (staleAllowed && situation.staleIfError !== null && staleFor <= situation.staleIfError),
  };
}

/** §3: "A cache MUST NOT store a response to a request unless: …" */
function mayBeStored(s: Situation): boolean {
  // "the response status code is final" is true of every situation here.
  // "if the response status code is 206 or 304, or the must-understand cache directive is present: the cache understands the status code"
  const understood = UNDERSTOOD.includes(s.status);
  if (s.mustUnderstand && !understood) return false;
  // "the no-store cache directive is not present in the response", which §5.2.2.3 lets must-understand lift
  if (s.noStore && !(s.mustUnderstand && understood)) return false;
  // "if the cache is shared: the private response directive is either not present …"
  if (s.isPrivate) return false;
  // "if the cache is shared: the Authorization header field is not present in the request or a response directive is present that
  // explicitly allows shared caching": must-revalidate, public, s-maxage (§3.5)
  if (s.authorization && !(s.mustRevalidate || s.isPublic || s.sMaxage !== null)) return false;
  // "the response contains at least one of: public; … Expires; max-age; s-maxage; … a status code that is defined as heuristically cacheable"
  const explicit = s.isPublic || s.expiresIn !== null || s.maxAge !== null || s.sMaxage !== null;
  return explicit || HEURISTIC.includes(s.status);
}

/** §4.2.1, "by evaluating the following rules and using the first match"; no Last-Modified here, so no heuristic. */
function freshnessLifetime(s: Situation): number {
  if (s.sMaxage !== null) return s.sMaxage;
  if (s.maxAge !== null) return s.maxAge;
  if (s.expiresIn !== null) return Math.max(0, s.expiresIn);
  return 0;
}

/** §4.2.4: "MUST NOT generate a stale response if it is prohibited by an explicit in-protocol directive". */
function mayEverBeStale(s: Situation): boolean {
  const prohibited = s.mustRevalidate || s.proxyRevalidate || s.noCache || s.sMaxage !== null;
  // §5.2.2.5: nothing says that stale is prohibited under no-store lifted by must-understand; a cautious cache takes it so.
  const cautious = s.noStore || s.status >= 400;
  return !prohibited && !cautious;
}

const UNDERSTOOD = [200, 206, 301, 404, 503];
const HEURISTIC = [200, 206, 301, 404];
