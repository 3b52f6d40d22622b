import { RefusalError, refuse } from '../kernel/refusal.ts';
import { type EpochMs, between, ms } from '../kernel/units.ts';
import type { Clock, FetchLimits } from '../ports.ts';

/** Ends one exchange: when its caller does, when its time is over, or when nothing has moved for too long. */
export interface Watch {
  /** Aborts with a RefusalError (or the caller's own reason). */
  readonly signal: AbortSignal;
  /** Starts to watch for silence. */
  body(): void;
  /** Something moved. */
  touch(): void;
  stop(): void;
}

/** Starts the clock of an exchange. `what` names it in messages: the URL. */
export function startWatch(
  clock: Clock,
  limits: FetchLimits,
  order: { readonly url: string; readonly signal: AbortSignal },
): Watch {
  const controller = new AbortController();
  const end = (what: string): void => {
    // What a caller asks for by a query is in no message.
    const name = order.url.replace(/\?.*$/, '');
    controller.abort(new RefusalError(refuse('origin-timeout', `${name}${what}`)));
  };
  const onCaller = (): void => controller.abort(order.signal.reason);

  let last: EpochMs = clock.now();
  let cancelSilence = (): void => {};
  // One timer looks back at the last movement, instead of a timer made and dropped for each chunk.
  const lookForSilence = (): void => {
    const silent = between(last, clock.now());
    if (silent >= limits.idle) end(`: nothing moved for ${limits.idle} ms.`);
    else cancelSilence = clock.after(ms(limits.idle - silent), lookForSilence);
  };

  const late = (): void => end(` did not answer completely within ${limits.total} ms.`);
  const cancelTotal = limits.total > 0 ? clock.after(limits.total, late) : undefined;
  if (order.signal.aborted) onCaller();
  else order.signal.addEventListener('abort', onCaller, { once: true });
  return {
    signal: controller.signal,
    body: () => {
      last = clock.now();
      cancelSilence();
      if (limits.idle > 0) cancelSilence = clock.after(limits.idle, lookForSilence);
    },
    touch: () => {
      last = clock.now();
    },
    stop: () => {
      order.signal.removeEventListener('abort', onCaller);
      cancelTotal?.();
      cancelSilence();
    },
  };
}
