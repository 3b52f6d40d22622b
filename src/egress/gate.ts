import { type Refusal, RefusalError, refuse } from '../kernel/refusal.ts';
import { seconds } from '../kernel/units.ts';

/** Bounds of one gate. */
export interface GateBounds {
  /** Exchanges at one time. */
  readonly width: number;
  /** How many more may wait. */
  readonly queue: number;
  /** The setting that widens it, for messages. */
  readonly setting: string;
}

/** Lets a bounded number of exchanges through, a bounded number wait, and says no to the rest. */
export interface Gate {
  /** Resolves to the way out, or to a refusal; rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<{ readonly leave: () => void } | { readonly refusal: Refusal }>;
}

export function createGate(bounds: GateBounds): Gate {
  let inside = 0;
  const waiting = new Set<() => void>();

  const leave = (): void => {
    inside -= 1;
    const [next] = waiting;
    if (next === undefined) return;
    waiting.delete(next);
    next();
  };
  const admit = (): { readonly leave: () => void } => {
    inside += 1;
    let left = false;
    return {
      leave: () => {
        if (!left) leave();
        left = true;
      },
    };
  };
  return {
    enter: async (signal) => {
      signal.throwIfAborted();
      if (inside < bounds.width) return admit();
      if (waiting.size >= bounds.queue) return { refusal: overloaded(bounds) };
      return new Promise((resolve, reject) => {
        const enter = (): void => {
          signal.removeEventListener('abort', abort);
          resolve(admit());
        };
        const abort = (): void => {
          waiting.delete(enter);
          // The time for the whole exchange ran out in the queue: that is our business, not the origin's.
          if (signal.reason instanceof RefusalError) resolve({ refusal: overloaded(bounds) });
          else reject(signal.reason);
        };
        waiting.add(enter);
        signal.addEventListener('abort', abort, { once: true });
      });
    },
  };
}

const overloaded = ({ width, queue, setting }: GateBounds): Refusal =>
  refuse('overloaded', `${width} exchanges with origins run and ${queue} wait; ${setting} is the bound.`, {
    retryAfter: seconds(1),
  });
