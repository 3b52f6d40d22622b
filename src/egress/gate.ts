import type { Origin } from '../kernel/ids.ts';
import { type Refusal, RefusalError, refuse } from '../kernel/refusal.ts';
import { seconds } from '../kernel/units.ts';

/** Bounds of one gate. */
export interface GateBounds {
  /** Exchanges at one time. */
  readonly width: number;
  /** How many of them may be with one origin. */
  readonly each: number;
  /** How many more may wait. */
  readonly queue: number;
  /** The setting that widens it, for messages. */
  readonly setting: string;
}

/**
 * Lets a bounded number of exchanges through, a bounded number wait, and says no to the rest. Origins take turns: one that hangs fills
 * neither the room nor the queue, so that the others go on.
 */
export interface Gate {
  /** Resolves to the way out, or to a refusal; rejects with the signal's reason. */
  enter(origin: Origin, signal: AbortSignal): Promise<{ readonly leave: () => void } | { readonly refusal: Refusal }>;
}

/** The exchanges of one origin. */
interface Line {
  inside: number;
  /** First come, first served. */
  readonly waiting: Set<() => void>;
}

export function createGate(bounds: GateBounds): Gate {
  let inside = 0;
  let waiting = 0;
  /** Every origin that has an exchange here, those that have waited longest for their turn first. */
  const lines = new Map<Origin, Line>();
  // One origin may fill three quarters of the queue.
  const longest = Math.max(1, Math.ceil(bounds.queue * 0.75));

  const lineOf = (origin: Origin): Line => {
    const known = lines.get(origin);
    if (known !== undefined) return known;
    const line: Line = { inside: 0, waiting: new Set() };
    lines.set(origin, line);
    return line;
  };
  const tidy = (origin: Origin, line: Line): void => {
    if (line.inside === 0 && line.waiting.size === 0) lines.delete(origin);
  };
  const callNext = (): void => {
    if (inside >= bounds.width) return;
    for (const [origin, line] of lines) {
      const [next] = line.waiting;
      if (next === undefined || line.inside >= bounds.each) continue;
      // To the end: its next exchange comes after one of every other origin that waits.
      lines.delete(origin);
      lines.set(origin, line);
      return next();
    }
  };
  const admit = (origin: Origin, line: Line): { readonly leave: () => void } => {
    inside += 1;
    line.inside += 1;
    let left = false;
    return {
      leave: () => {
        if (left) return;
        left = true;
        inside -= 1;
        line.inside -= 1;
        tidy(origin, line);
        callNext();
      },
    };
  };
  return {
    enter: async (origin, signal) => {
      signal.throwIfAborted();
      const line = lineOf(origin);
      if (inside < bounds.width && line.inside < bounds.each) return admit(origin, line);
      if (waiting >= bounds.queue || line.waiting.size >= longest) {
        tidy(origin, line);
        return { refusal: overloaded(bounds, waiting) };
      }
      return new Promise((resolve, reject) => {
        const stopWaiting = (): void => {
          line.waiting.delete(enter);
          waiting -= 1;
          signal.removeEventListener('abort', abort);
        };
        const enter = (): void => {
          stopWaiting();
          resolve(admit(origin, line));
        };
        const abort = (): void => {
          stopWaiting();
          tidy(origin, line);
          // The time for the whole exchange ran out in the queue: that is our business, not the origin's.
          if (signal.reason instanceof RefusalError) resolve({ refusal: overloaded(bounds, waiting) });
          else reject(signal.reason);
        };
        line.waiting.add(enter);
        waiting += 1;
        signal.addEventListener('abort', abort, { once: true });
      });
    },
  };
}

const overloaded = ({ width, each, setting }: GateBounds, waiting: number): Refusal => {
  const share = each < width ? ` (at most ${each} with one origin)` : '';
  return refuse(
    'overloaded',
    `${setting} is ${width}${share}, all of them run and ${waiting} more wait; raise it, or ask less.`,
    {
      retryAfter: seconds(1),
    },
  );
};
