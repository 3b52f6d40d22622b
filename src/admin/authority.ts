import type { Ask } from '../kernel/ask.ts';
import type { Authority } from '../kernel/receipt.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import { seconds } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';
import { createBucket } from './bucket.ts';
import { cookiesOf } from './cookie.ts';
import { type Link, createLinks } from './links.ts';
import { type Opened, type Session, createSessions, isSame } from './sessions.ts';

/** Whoever has authority. */
export interface Administrator {
  readonly by: Authority;
  /** The console's session that speaks; null for whoever shows the token or opened the socket. */
  readonly session: Session | null;
}

/** Says who asks, or why they may not. */
export type CheckAuthority = (ask: Ask) => Outcome<Administrator>;

/** Who may open the socket has authority: its mode says who. */
export const bySocketMode: CheckAuthority = (ask) => {
  const foreign = foreignPage(ask);
  return foreign === undefined ? accepted({ by: 'socket', session: null }) : refused(foreign);
};

/** The doors that the admin token opens. */
export interface TokenDoor {
  /** Takes the token, or a session of the console with its key. */
  readonly check: CheckAuthority;
  /** Opens a session for whoever shows the token or an unused code. */
  signIn(by: 'token' | 'code', shown: string): Outcome<Opened>;
  /** Makes a code that signs in once. */
  makeLink(): Link;
  /** Ends what was opened with a token that is none any more. */
  shut(): void;
}

/**
 * Asks for the admin token. Wrong ones are answered at a pace, and the right one always: whoever guesses cannot lock out whoever
 * knows. A token has at least 128 bits, so that the pace is for the log's sake and no guess succeeds at any.
 * @param token reads today's: it may be replaced while the daemon runs. Null where none is wanted any more: then nobody has it.
 */
export function createTokenDoor(token: () => string | null, clock: Clock): TokenDoor {
  const guesses = createBucket({ burst: 10, perSecond: 1 });
  const sessions = createSessions(clock);
  const links = createLinks(clock);
  const isToken = (shown: string): boolean => {
    const today = token();
    return today !== null && isSame(shown, today);
  };
  const wrong = (refusal: Refusal) => refused(guesses.take(clock.now()) ? refusal : TOO_OFTEN);
  const byBearer = (credential: string): Outcome<Administrator> => {
    const shown = /^bearer +([\x21-\x7e]+) *$/i.exec(credential)?.[1];
    return shown !== undefined && isToken(shown) ? accepted({ by: 'admin', session: null }) : wrong(WRONG_TOKEN);
  };
  const bySession = (ask: Ask): Outcome<Administrator> => {
    const key = ask.field(KEY_FIELD);
    if (key === undefined) return refused(NEEDED);
    // Another port of this host may have set a cookie of the same name beside ours.
    const session = cookiesOf(ask)
      .map((cookie) => sessions.find(cookie, key))
      .find((found) => found !== undefined);
    if (session === undefined) return refused(ENDED);
    const strange = strangeChange(ask);
    return strange === undefined ? accepted({ by: 'console', session }) : refused(strange);
  };
  return {
    check(ask) {
      const foreign = foreignPage(ask);
      if (foreign !== undefined) return refused(foreign);
      // Never both: what a browser adds by itself must not mend what somebody shows.
      const credential = ask.field('authorization');
      return credential === undefined ? bySession(ask) : byBearer(credential);
    },
    signIn(by, shown) {
      if (by === 'token') return isToken(shown) ? accepted(sessions.open()) : wrong(WRONG_TOKEN);
      return links.take(shown) ? accepted(sessions.open()) : wrong(WRONG_CODE);
    },
    makeLink: () => links.make(),
    shut() {
      links.drop();
      sessions.endAll();
    },
  };
}

const KEY_FIELD = 'cardea-console-key';

const NEEDED = refuse('unauthorized', 'Send Authorization: Bearer and the admin token.');
const INVALID = { challenge: 'Bearer error="invalid_token"' } as const;
const WRONG_TOKEN = refuse('unauthorized', 'This is not the admin token.', INVALID);
const WRONG_CODE = refuse(
  'unauthorized',
  'This link was used, is too old or is none: `cardea console` makes another one.',
  INVALID,
);
const ENDED = refuse(
  'unauthorized',
  'This session has ended: `cardea console` makes a link to sign in again.',
  INVALID,
);
const TOO_OFTEN = refuse('rate-limited', 'Too many wrong tokens; wait.', { retryAfter: seconds(1) });

/** No page of another site speaks here, whatever it knows: browsers say where a request comes from. */
export function foreignPage(ask: Ask): Refusal | undefined {
  const origin = ask.field('origin');
  const site = ask.field('sec-fetch-site');
  const isOwn = origin === undefined || origin === ask.base;
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return undefined;
  return refuse('misdirected', 'A page of another site asks; the admin API answers its own pages alone.');
}

/** What a browser's cookie orders must come from our own page, and as no form can send it (CSRF). */
function strangeChange(ask: Ask): Refusal | undefined {
  if (ask.method === 'GET' || ask.method === 'HEAD') return undefined;
  if (ask.field('origin') === undefined)
    return refuse('misdirected', 'A change by the console names its Origin; nothing else changes things by cookie.');
  return /^application\/json\b/i.test(ask.field('content-type') ?? '')
    ? undefined
    : refuse('bad-request', 'A change by the console is declared as application/json.', { status: 415 });
}
