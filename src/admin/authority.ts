import { createHash, timingSafeEqual } from 'node:crypto';
import type { Ask } from '../kernel/ask.ts';
import type { Authority } from '../kernel/receipt.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { seconds } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';
import { createBucket } from './bucket.ts';

/** Says who asks, or why they may not. */
export type CheckAuthority = (ask: Ask) => Outcome<Authority>;

/** Who may open the socket has authority: its mode says who. */
export const bySocketMode: CheckAuthority = (ask) => {
  const foreign = foreignPage(ask);
  return foreign === undefined ? accepted('socket') : refused(foreign);
};

/**
 * Asks for the admin token. Wrong ones are answered at a pace, and the right one always: whoever guesses cannot lock out whoever
 * knows. A token has at least 128 bits, so that the pace is for the log's sake and no guess succeeds at any.
 * @param token reads today's: it may be replaced while the daemon runs. Null where none is wanted any more: then nobody has it.
 */
export function byToken(token: () => string | null, clock: Clock): CheckAuthority {
  const guesses = createBucket({ burst: 10, perSecond: 1 });
  return (ask) => {
    const foreign = foreignPage(ask);
    if (foreign !== undefined) return refused(foreign);
    const credential = ask.field('authorization');
    if (credential === undefined)
      return refused(refuse('unauthorized', 'Send Authorization: Bearer and the admin token.'));
    const shown = /^bearer +([\x21-\x7e]+) *$/i.exec(credential)?.[1];
    const today = token();
    if (shown !== undefined && today !== null && isSame(shown, today)) return accepted('admin');
    return refused(guesses.take(clock.now()) ? WRONG : TOO_OFTEN);
  };
}

const WRONG = refuse('unauthorized', 'This is not the admin token.', { challenge: 'Bearer error="invalid_token"' });
const TOO_OFTEN = refuse('rate-limited', 'Too many wrong tokens; wait.', { retryAfter: seconds(1) });

/** Digests are compared: they have one length, so neither time nor an exception tells how much of a guess was right. */
const isSame = (one: string, other: string): boolean => timingSafeEqual(sha256(one), sha256(other));
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** No page of another site speaks here, whatever it knows: browsers say where a request comes from. */
function foreignPage(ask: Ask): Refusal | undefined {
  const origin = ask.field('origin');
  const site = ask.field('sec-fetch-site');
  const isOwn = origin === undefined || origin === ask.base;
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return undefined;
  return refuse('misdirected', 'A page of another site asks; the admin API answers its own pages alone.');
}
