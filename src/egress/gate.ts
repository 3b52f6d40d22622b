import type { Origin } from '../kernel/ids.ts';
import { type Refusal, RefusalError, refuse } from '../kernel/refusal.ts';
import { seconds } from '../kernel/units.ts';

/** Bounds of one gate; asked each time, since a reload may change them. */
export interface GateBounds {
  /** Exchanges at one time. */
  readonly width: () => number;
  /** How many of them may be with one origin. */
  readonly each: () => number;
  /** How many more may wait. */
  readonly queue: () => number;
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

type Entry = Awaited<ReturnType<Gate['enter']>>;

/** The exchanges of one origin. */
interface Line {
  readonly origin: Origin;
  inside: number;
  /** First come, first served. */
  readonly waiting: Set<() => void>;
}

export const createGate = (bounds: GateBounds): Gate => new FairGate(bounds);

// One origin may fill three quarters of the queue.
const SHARE_OF_QUEUE = 0.75;

class FairGate implements Gate {
  readonly #bounds: GateBounds;
  /** Every origin that has an exchange here, those that have waited longest for their turn first. */
  readonly #lines = new Map<Origin, Line>();
  #inside = 0;
  #waiting = 0;

  constructor(bounds: GateBounds) {
    this.#bounds = bounds;
  }

  async enter(origin: Origin, signal: AbortSignal): Promise<Entry> {
    signal.throwIfAborted();
    const line = this.#lineOf(origin);
    if (this.#hasRoom(line)) return this.#admit(line);
    const queue = this.#bounds.queue();
    if (this.#waiting < queue && line.waiting.size < Math.ceil(queue * SHARE_OF_QUEUE)) return this.#wait(line, signal);
    this.#tidy(line);
    return { refusal: overloaded(this.#bounds, this.#waiting) };
  }

  #wait(line: Line, signal: AbortSignal): Promise<Entry> {
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        line.waiting.delete(enter);
        this.#waiting -= 1;
        signal.removeEventListener('abort', abort);
      };
      const enter = (): void => {
        stopWaiting();
        resolve(this.#admit(line));
      };
      const abort = (): void => {
        stopWaiting();
        this.#tidy(line);
        // The time for the whole exchange ran out in the queue: that is our business, not the origin's.
        if (signal.reason instanceof RefusalError) resolve({ refusal: overloaded(this.#bounds, this.#waiting) });
        else reject(signal.reason);
      };
      line.waiting.add(enter);
      this.#waiting += 1;
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  #admit(line: Line): Entry {
    this.#inside += 1;
    line.inside += 1;
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      this.#inside -= 1;
      line.inside -= 1;
      this.#tidy(line);
      this.#callNext();
    };
    return { leave };
  }

  #hasRoom(line: Line): boolean {
    return this.#inside < this.#bounds.width() && line.inside < this.#bounds.each();
  }

  #callNext(): void {
    // What is put at the end is met again in the same round: a gate that has become wider lets several in at once.
    for (const line of this.#lines.values()) {
      const [next] = line.waiting;
      if (next === undefined || !this.#hasRoom(line)) continue;
      // To the end: its next exchange comes after one of every other origin that waits.
      this.#lines.delete(line.origin);
      this.#lines.set(line.origin, line);
      next();
    }
  }

  #lineOf(origin: Origin): Line {
    const known = this.#lines.get(origin);
    if (known !== undefined) return known;
    const line: Line = { origin, inside: 0, waiting: new Set() };
    this.#lines.set(origin, line);
    return line;
  }

  #tidy(line: Line): void {
    if (line.inside === 0 && line.waiting.size === 0) this.#lines.delete(line.origin);
  }
}

const overloaded = ({ setting, ...bounds }: GateBounds, waiting: number): Refusal => {
  const [width, each] = [bounds.width(), bounds.each()];
  const share = each < width ? ` (at most ${each} with one origin)` : '';
  return refuse(
    'overloaded',
    `${setting} is ${width}${share}, all of them run and ${waiting} more wait; raise it, or ask less.`,
    {
      retryAfter: seconds(1),
    },
  );
};
