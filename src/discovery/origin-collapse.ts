import type { EntryKey } from '../kernel/ids.ts';
import { type EpochMs, type Ms, later, ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';
import type { OriginRequest } from './origin-request.ts';

/** A fetch that others wait for. */
export interface Leader {
  /** Resolves when it is over, one way or the other, or the patience is. */
  over(patience: Ms): Promise<void>;
}

/** Request collapsing for streamed responses: one fetch per key, the others wait until it is stored or known not to be. */
export interface Collapse {
  /** Who fetches the same thing now; undefined where nobody does or the request cannot share. */
  leader(request: OriginRequest): Leader | undefined;
  /** True while somebody fetches the same thing. */
  isUnderway(request: OriginRequest): boolean;
  /** Leads, where nobody does yet; the result is called once, with whether the response is stored. */
  lead(request: OriginRequest): (stored: boolean) => void;
}

/** How long a key that turned out not to be stored is remembered: there, waiting only makes a queue. */
const NOT_SHARED = ms(60_000);
const MOST_REMEMBERED = 10_000;

/** Requests with these want something of their own (RFC 9111 §4: only a whole, unconditional response serves everybody). */
const OF_ONE_CALLER = [
  'range',
  'if-none-match',
  'if-modified-since',
  'if-match',
  'if-unmodified-since',
  'authorization',
];

export function createCollapse(clock: Clock): Collapse {
  const underway = new Map<EntryKey, Promise<void>>();
  const notShared = new Map<EntryKey, EpochMs>();

  const remember = (key: EntryKey): void => {
    notShared.delete(key);
    notShared.set(key, later(clock.now(), NOT_SHARED));
    const [oldest] = notShared.keys();
    if (notShared.size > MOST_REMEMBERED && oldest !== undefined) notShared.delete(oldest);
  };
  const mayShare = (request: OriginRequest): boolean =>
    request.method === 'GET' &&
    !request.directives.noCache &&
    !request.directives.noStore &&
    (notShared.get(request.key) ?? 0) <= clock.now() &&
    OF_ONE_CALLER.every((name) => request.read(name) === undefined);

  return {
    isUnderway: (request) => underway.has(request.key),
    leader(request) {
      const flight = mayShare(request) ? underway.get(request.key) : undefined;
      return flight && { over: (patience) => within(flight, patience, clock) };
    },
    lead(request) {
      if (!mayShare(request) || underway.has(request.key)) return () => undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      underway.set(request.key, promise);
      return (stored) => {
        if (underway.get(request.key) === promise) underway.delete(request.key);
        if (!stored) remember(request.key);
        resolve();
      };
    },
  };
}

async function within(flight: Promise<void>, patience: Ms, clock: Clock): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = clock.after(patience, late.resolve);
  await Promise.race([flight, late.promise]);
  cancel();
}
