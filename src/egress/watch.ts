import { RefusalError, refuse } from '../kernel/refusal.ts';
import { type EpochMs, type Ms, between, ms } from '../kernel/units.ts';
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
  // What a caller asks for by a query is in no message.
  const name = order.url.replace(/\?.*$/, '');
  const cancels = new Set<() => void>();
  const end = (detail: string): void => controller.abort(new RefusalError(refuse('origin-timeout', detail)));
  const onCaller = (): void => controller.abort(order.signal.reason);

  let last: EpochMs = clock.now();
  const arm = (wait: Ms, run: () => void): void => {
    const cancel = clock.after(wait, () => {
      cancels.delete(cancel);
      run();
    });
    cancels.add(cancel);
  };
  // One timer looks back at the last movement, instead of a timer made and dropped for each chunk.
  const lookForSilence = (): void => {
    const silent = between(last, clock.now());
    if (silent >= limits.idle) end(`${name}: nothing moved for ${limits.idle} ms.`);
    else arm(ms(limits.idle - silent), lookForSilence);
  };

  if (limits.total > 0) arm(limits.total, () => end(`${name} did not answer completely within ${limits.total} ms.`));
  if (order.signal.aborted) onCaller();
  else order.signal.addEventListener('abort', onCaller, { once: true });
  return {
    signal: controller.signal,
    body: () => {
      last = clock.now();
      if (limits.idle > 0) arm(limits.idle, lookForSilence);
    },
    touch: () => {
      last = clock.now();
    },
    stop: () => {
      order.signal.removeEventListener('abort', onCaller);
      for (const cancel of cancels) cancel();
      cancels.clear();
    },
  };
}
