import { type Refusal, refuse } from '../kernel/refusal.ts';

/** `received-protocol received-by`: Cardea signs as `1.1 cardea`, and every other name is another proxy's (RFC 9110 §7.6.3). */
const OWN_HOP = /(?:^|,)\s*(?:[^\s,/]+\/)?[^\s,]+\s+cardea(?=[\s,(]|$)/i;

/**
 * Refuses a request that has come through Cardea before: what points back at Cardea would be asked for round and round, each lap holding
 * a connection. Undefined where nothing is wrong.
 * @param via the Via field, lines joined.
 */
export function refuseLoop(via: string | undefined): Refusal | undefined {
  if (via === undefined || !OWN_HOP.test(via)) return undefined;
  return refuse(
    'loop-detected',
    'The request has come through Cardea before; an origin or a proxy setting points back at it.',
  );
}
