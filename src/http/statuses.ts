/** RFC 9110 §15.1: "Responses with status codes that are defined as heuristically cacheable". */
const HEURISTICALLY_CACHEABLE: ReadonlySet<number> = new Set([
  200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501,
]);

/**
 * Status codes whose caching rules are followed here: those of RFC 9110 that a final response may have. Codes from elsewhere are
 * stored by their explicit freshness, but not "understood" in the sense of RFC 9111 §5.2.2.3.
 */
const UNDERSTOOD: ReadonlySet<number> = new Set(
  [
    [200, 201, 202, 203, 204, 205, 206],
    [300, 301, 302, 303, 304, 307, 308],
    [400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421, 422, 426],
    [500, 501, 502, 503, 504, 505],
  ].flat(),
);

export const isHeuristicallyCacheable = (status: number): boolean => HEURISTICALLY_CACHEABLE.has(status);
export const isUnderstood = (status: number): boolean => UNDERSTOOD.has(status);
/** True for an answer; 1xx only announce one (RFC 9110 §15.2). */
export const isFinal = (status: number): boolean => status >= 200;
