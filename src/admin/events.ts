import type { ByteStream } from '../kernel/fields.ts';
import type { Event } from '../kernel/event.ts';
import { ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** What happens, for whoever watches: the observer's events as server-sent events. */
export interface EventFeed {
  /** Hears an event; never waits for a watcher. */
  record(event: Event): void;
  /** What happens from now on, until a signal aborts or the feed closes; undefined when too many watch. */
  watch(until: readonly AbortSignal[]): ByteStream | undefined;
  /** Ends every stream: a drain would wait for them. */
  close(): void;
}

/** Consoles and terminals of a few people. */
const MOST_WATCHERS = 16;
/** A watcher that is further behind loses the oldest, and is told. */
const MOST_WAITING = 256;
/** Proxies and browsers give up silent streams after 30 s and more. */
const HEARTBEAT = ms(15_000);

export function createEventFeed(clock: Clock): EventFeed {
  const watchers = new Set<Watcher>();
  let closed = false;
  return {
    record(event) {
      if (watchers.size === 0) return;
      const block = eventBlock(event);
      if (block !== undefined) for (const watcher of watchers) watcher.push(block);
    },
    watch(until) {
      if (closed || watchers.size >= MOST_WATCHERS) return undefined;
      const end = (): void => watcher.end();
      const watcher: Watcher = new Watcher(clock, () => {
        watchers.delete(watcher);
        for (const signal of until) signal.removeEventListener('abort', end);
      });
      watchers.add(watcher);
      for (const signal of until) signal.addEventListener('abort', end);
      if (until.some(({ aborted }) => aborted)) watcher.end();
      return watcher;
    },
    close() {
      closed = true;
      for (const watcher of watchers) watcher.end();
    },
  };
}

/** Only what is worth a line in the log is worth a watcher's attention; plain hits are not. */
function eventBlock(event: Event): string | undefined {
  switch (event.kind) {
    case 'receipt':
      return block('receipt', event.receipt);
    case 'receipts-lost':
      return block('receipts-lost', { count: event.count });
    case 'notice':
      return event.level === 'debug'
        ? undefined
        : block('notice', { level: event.level, msg: event.msg, ...event.about });
    case 'request': {
      const { result } = event.trace;
      if (result === 'hit' || result === 'not_modified') return undefined;
      return block('request', { listener: event.listener, status: event.status, ...event.trace });
    }
    case 'evicted':
    case 'lookup':
    case 'forward':
      return undefined;
  }
}

/** JSON has no raw line break, so one data line holds it. */
const block = (name: string, value: unknown): string => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;

/** One stream. An iterator by hand: a generator that waits cannot be ended by whoever reads it. */
class Watcher implements AsyncIterableIterator<Uint8Array> {
  readonly #queue: string[] = [': cardea\n\n'];
  readonly #forget: () => void;
  readonly #clock: Clock;
  #lost = 0;
  #ended = false;
  #wake: (() => void) | undefined;
  #cancelBeat: () => void = () => undefined;

  constructor(clock: Clock, forget: () => void) {
    this.#clock = clock;
    this.#forget = forget;
    this.#beat();
  }

  push(text: string): void {
    if (this.#queue.length >= MOST_WAITING) {
      this.#queue.shift();
      this.#lost += 1;
    }
    this.#queue.push(text);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#cancelBeat();
    this.#forget();
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    while (this.#queue.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    if (this.#ended) return { done: true, value: undefined };
    const lost = this.#lost === 0 ? '' : block('lost', { count: this.#lost });
    this.#lost = 0;
    return { done: false, value: new TextEncoder().encode(lost + this.#queue.splice(0).join('')) };
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #beat(): void {
    this.#cancelBeat = this.#clock.after(HEARTBEAT, () => {
      this.push(': still here\n\n');
      this.#beat();
    });
  }
}
