import { type LookupAddress, lookup } from 'node:dns';
import { Resolver as Queries } from 'node:dns/promises';
import { refuse, RefusalError } from '../kernel/refusal.ts';
import { type EpochMs, type Ms, isDuring, later, ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** Turns a name into addresses. Fails with a RefusalError: `dns-failed`, or `origin-timeout` where nobody answered in time. */
export interface Resolver {
  resolve(name: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Drops what is remembered of a name: none of its addresses could be reached. */
  forget?(name: string): void;
}

/** Addresses and how long they may be remembered. */
export interface Answers {
  readonly addresses: readonly string[];
  readonly ttl: Ms;
}

/** Asks once, without memory. */
export type Ask = (name: string) => Promise<Answers>;

// More than any real service publishes; a longer answer is refused unread, so that nobody makes us classify thousands.
export const MAX_ANSWERS = 32;
// Names held at a time: ten per agent for a hundred agents.
const MAX_NAMES = 1024;

/** The system's own resolution (getaddrinfo): hosts files, search domains and NSS count, as they do for every other process here. */
export function systemAsk(ttl: Ms, ask: typeof lookup = lookup): Ask {
  return (name) =>
    new Promise((resolve, reject) => {
      ask(name, { all: true, order: 'verbatim' }, (error, found: readonly LookupAddress[]) => {
        if (error) reject(error);
        else resolve({ addresses: found.map(({ address }) => address), ttl });
      });
    });
}

/** What queries to named servers keep to. */
export interface QueryBounds {
  readonly floor: Ms;
  readonly ceiling: Ms;
  readonly timeout: Ms;
}

export const QUERY_BOUNDS: QueryBounds = { floor: ms(1_000), ceiling: ms(300_000), timeout: ms(2_000) };

/** Queries of our own to the named servers, A and AAAA; the TTL counts, between a floor (no flood) and a ceiling (no lie lasts). */
export function queryAsk(servers: readonly string[], bounds: QueryBounds = QUERY_BOUNDS): Ask {
  const queries = new Queries({ timeout: bounds.timeout, tries: 2 });
  queries.setServers(servers);
  return async (name) => {
    const settled = await Promise.allSettled([
      queries.resolve6(name, { ttl: true }),
      queries.resolve4(name, { ttl: true }),
    ]);
    const records = settled.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failure = settled.find((answer) => answer.status === 'rejected');
    if (records.length === 0 && failure !== undefined) throw failure.reason;
    const ttl = Math.min(...records.map((record) => record.ttl * 1_000));
    return {
      addresses: records.map(({ address }) => address),
      ttl: ms(Math.min(Math.max(ttl, bounds.floor), bounds.ceiling)),
    };
  };
}

interface Held {
  readonly addresses: readonly string[];
  readonly at: EpochMs;
  readonly until: EpochMs;
}

/** A resolver with memory: one question at a time per name, answers kept for their time, failures not at all. */
export function createResolver(ask: Ask, clock: Clock): Required<Resolver> {
  const held = new Map<string, Held>();
  const asking = new Map<string, Promise<readonly string[]>>();

  const remember = (name: string, answers: Answers): readonly string[] => {
    // Oldest first: a Map keeps insertion order.
    for (const oldest of held.keys()) {
      if (held.size < MAX_NAMES) break;
      held.delete(oldest);
    }
    const at = clock.now();
    held.set(name, { addresses: answers.addresses, at, until: later(at, answers.ttl) });
    return answers.addresses;
  };
  const askOnce = (name: string): Promise<readonly string[]> => {
    const running = asking.get(name);
    if (running !== undefined) return running;
    const question = ask(name)
      .then((answers) => remember(name, bounded(name, answers)))
      .finally(() => asking.delete(name));
    asking.set(name, question);
    return question;
  };
  return {
    resolve: (name, signal) => {
      const known = held.get(name);
      if (known !== undefined && isDuring(clock.now(), known.at, known.until)) return Promise.resolve(known.addresses);
      held.delete(name);
      return unlessAborted(askOnce(name), signal).catch((error: unknown) =>
        Promise.reject(dnsFailure(name, error, signal)),
      );
    },
    forget: (name) => void held.delete(name),
  };
}

function bounded(name: string, answers: Answers): Answers {
  if (answers.addresses.length === 0) throw new RefusalError(refuse('dns-failed', `${name} has no address.`));
  if (answers.addresses.length > MAX_ANSWERS) {
    const detail = `${name} resolves to ${answers.addresses.length} addresses; more than ${MAX_ANSWERS} are not taken.`;
    throw new RefusalError(refuse('dns-failed', detail));
  }
  return answers;
}

/** Stops waiting when the signal aborts; getaddrinfo itself cannot be called back, its answer still serves the next one. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';

function dnsFailure(name: string, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof RefusalError || signal.aborted) return error;
  const code = codeOf(error);
  if (code === 'ETIMEOUT' || code === 'ECANCELLED') {
    const detail = `No name server answered for ${name} in time.`;
    return new RefusalError(refuse('origin-timeout', detail, { proxyError: 'dns_error' }), error);
  }
  const what =
    code === 'ENOTFOUND' || code === 'ENODATA' ? 'does not exist or has no address' : 'could not be resolved';
  return new RefusalError(
    refuse('dns-failed', `${name} ${what} (${code}); check the spelling and this machine's resolver.`),
    error,
  );
}
