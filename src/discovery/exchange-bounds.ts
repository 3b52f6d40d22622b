import type { Url } from '../kernel/ids.ts';
import type { Trail } from '../kernel/receipt.ts';
import { type Ms, ms } from '../kernel/units.ts';
import type { Limits } from '../policy/rules.ts';
import type { FetchOrder } from '../ports.ts';

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
