import type { Fields } from '../kernel/fields.ts';
import type { FetchOrder } from '../ports.ts';
import { endToEnd } from '../kernel/end-to-end.ts';

/** Far above what any page sends of early hints; an origin that goes on is not listened to, and its time limit still ends it. */
const MOST_INTERIM = 16;
const MAX_INTERIM_LINES = 64;

/**
 * Hands on the interim responses of one exchange. "A proxy MUST forward 1xx responses unless the proxy itself requested the
 * generation of the 1xx response" — RFC 9110 §15.2; 100 is an answer to an Expect, which stays between neighbours, and 101 is not asked for.
 */
export function interimListener(tell: NonNullable<FetchOrder['interim']>) {
  let left = MOST_INTERIM;
  return ({ statusCode, headers }: { readonly statusCode: number; readonly headers: unknown }): void => {
    if (!Array.isArray(headers) || statusCode === 100 || statusCode === 101) return;
    const raw: Fields = headers.map(String); // a flat list, as asked for by `raw`
    if (raw.length / 2 > MAX_INTERIM_LINES) return;
    left -= 1;
    if (left >= 0) tell({ status: statusCode, fields: endToEnd(raw) });
  };
}
