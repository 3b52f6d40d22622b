import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type EpochMs, between, epochMs, isDuring, later, ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** People who have signed in at the console. Nothing of it is written down: a restart ends every session. */
export interface Sessions {
  open(): Opened;
  /** The session that a cookie and its key name; undefined where there is none, or no longer. */
  find(cookie: string, key: string): Session | undefined;
  /** Ends all: what they were opened with is not good any more. */
  endAll(): void;
}

export interface Session {
  /** When it ends, however much it is used. */
  readonly expires: EpochMs;
  /** When it ends if nobody uses it. */
  idleUntil(): EpochMs;
  /** Aborts when it ends. */
  readonly ended: AbortSignal;
  /** Says that a person has done something. */
  use(): void;
  end(): void;
}

/** A new session, and what whoever opened it has to show from now on: it can be read this once. */
export interface Opened {
  readonly session: Session;
  readonly cookie: string;
  /**
   * A browser sends a cookie to every port of a host, so that any program that it visits on this machine gets to know it: the cookie
   * alone opens nothing. The key stays with the page, which no other port can read.
   */
  readonly key: string;
}

/** A working day. */
const LONGEST = ms(8 * 60 * 60_000);
const LONGEST_IDLE = ms(30 * 60_000);
/** Browsers of a few people; one more ends the one that nobody has used for the longest time. */
const MOST = 32;

export const SESSION_SECONDS = LONGEST / 1_000;

/** 256 bits that nobody guesses. */
const newSecret = (): string => randomBytes(32).toString('base64url');
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares digests: they have one length, so neither time nor an exception tells how much of a guess was right. */
export const isSame = (one: string, other: string): boolean => timingSafeEqual(sha256(one), sha256(other));

export function createSessions(clock: Clock): Sessions {
  /** By the digest of the cookie: what is in memory opens nothing. */
  const open = new Map<string, OpenSession>();
  return {
    open() {
      if (open.size >= MOST) leastUsed(open.values())?.end();
      const [cookie, key] = [newSecret(), newSecret()];
      const name = nameOf(cookie);
      const session = new OpenSession(clock, sha256(key), () => void open.delete(name));
      open.set(name, session);
      return { session, cookie, key };
    },
    find(cookie, key) {
      const session = open.get(nameOf(cookie));
      return session?.isOpenedBy(key) === true ? session : undefined;
    },
    endAll() {
      for (const session of open.values()) session.end();
    },
  };
}

const nameOf = (cookie: string): string => sha256(cookie).toString('hex');

const leastUsed = (sessions: Iterable<OpenSession>): OpenSession | undefined =>
  [...sessions].toSorted((one, other) => one.idleUntil() - other.idleUntil())[0];

class OpenSession implements Session {
  readonly expires: EpochMs;
  readonly #clock: Clock;
  readonly #key: Buffer;
  readonly #forget: () => void;
  readonly #openedAt: EpochMs;
  readonly #ending = new AbortController();
  #usedAt: EpochMs;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, key: Buffer, forget: () => void) {
    this.#clock = clock;
    this.#key = key;
    this.#forget = forget;
    this.#openedAt = clock.now();
    this.#usedAt = this.#openedAt;
    this.expires = later(this.#openedAt, LONGEST);
    this.#endInTime();
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  idleUntil(): EpochMs {
    return epochMs(Math.min(later(this.#usedAt, LONGEST_IDLE), this.expires));
  }

  isOpenedBy(key: string): boolean {
    // A timer may be late, after a machine slept.
    if (this.#isOver()) this.end();
    return !this.ended.aborted && timingSafeEqual(this.#key, sha256(key));
  }

  use(): void {
    this.#usedAt = this.#clock.now();
  }

  end(): void {
    this.#cancel();
    this.#forget();
    this.#ending.abort(new Error('the session has ended'));
  }

  #isOver(): boolean {
    const now = this.#clock.now();
    // A clock that is set back makes no session longer: it ends.
    return !isDuring(now, this.#openedAt, this.expires) || !isDuring(now, this.#usedAt, this.idleUntil());
  }

  #endInTime(): void {
    this.#cancel = this.#clock.after(between(this.#clock.now(), this.idleUntil()), () => {
      if (this.#isOver()) this.end();
      else this.#endInTime();
    });
  }
}
