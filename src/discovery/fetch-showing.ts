import type { Url } from '../kernel/ids.ts';
import type { Trail } from '../kernel/receipt.ts';
import { type Ms, ms } from '../kernel/units.ts';
import type { Limits, OwnCredential } from '../policy/rules.ts';
import type { Fetcher, FetchOrder, FetchResult, WholeResponse } from '../ports.ts';
import type { OwnCredentials } from './own-credentials.ts';

interface Doors {
  readonly fetcher: Pick<Fetcher, 'fetch'>;
  readonly own: OwnCredentials;
}

/**
 * Fetches with what Cardea itself shows the origin, where its rule says so. It is nobody else's identity, so that what comes back is as
 * public as without it.
 */
export async function fetchShowing(
  { fetcher, own }: Doors,
  order: FetchOrder,
  credential: 'none' | OwnCredential,
): Promise<FetchResult<WholeResponse>> {
  if (credential === 'none') return fetcher.fetch(order);
  const shown = await own.authorization(credential);
  if (!shown.ok) return { ok: false, refusal: shown.refusal, trail: notSent(order.url), sent: false };
  const result = await fetcher.fetch({ ...order, fields: [...order.fields, 'Authorization', shown.value] });
  if (result.ok && result.response.status === 401) own.forget(credential);
  return result;
}

/** The bounds of an exchange for a card, of whose time some has passed. */
export const cardLimits = ({ connect, response, cardBytes, redirects }: Limits, passed: Ms): FetchOrder['limits'] => ({
  connect,
  redirects,
  idle: response,
  bytes: cardBytes,
  total: ms(Math.max(1, response - passed)),
});

/** What there is to say of an exchange that did not begin. */
export const notSent = (url: Url): Trail => ({
  requestedUrl: url,
  finalUrl: url,
  redirects: [],
  addresses: [],
  reused: false,
});
