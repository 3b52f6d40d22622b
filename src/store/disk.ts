import { type Ms, ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';
import type { CallMessage, CallName, DiskCalls, DiskOptions, Failure, Known, ReplyMessage } from './disk-calls.ts';
import { type DiskThread, type StartThread, startThread, threadFailure } from './disk-thread.ts';

/** What became of one call to the disk. */
export type DiskResult<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & Failure);

/** The disk as the serving thread sees it: every call resolves, none waits for anything but its own answer. */
export interface Disk {
  call<Name extends CallName>(
    name: Name,
    ...args: Parameters<DiskCalls[Name]>
  ): Promise<DiskResult<ReturnType<DiskCalls[Name]>>>;
  /** Has the thread start, where it is at rest, for a call that is about to be made. */
  wake(): void;
  /** Ends the thread after the calls that were made before. */
  close(): Promise<void>;
}

/** Callers who wait at once: beyond it the disk is slower than what is asked of it, and asking more helps nobody. */
const MOST_WAITING = 10_000;

/** A thread is a tenth of a sidecar's memory, and a start of one is some tens of ms of CPU. */
export const REST_AFTER = ms(5_000);

type Settle = (result: DiskResult<unknown>) => void;

/** A thread, and the end of it. `leaving`: it was told to rest, and what is called now is for the next one; `left`: it has said what it knew. */
interface Life {
  readonly thread: DiskThread;
  readonly gone: PromiseWithResolvers<void>;
  phase: 'working' | 'leaving' | 'left';
}

/** Makes the disk, whose thread is there while it is asked for something, and ends when nothing was for some seconds. */
export const createDisk = (options: DiskOptions, clock: Clock, start: StartThread = startThread): Disk =>
  new RestingDisk(options, clock, start);

class RestingDisk implements Disk {
  readonly #options: DiskOptions;
  readonly #clock: Clock;
  readonly #start: StartThread;
  /** By ticket, in the order of the calls. */
  readonly #waiting = new Map<number, Settle>();
  /** What no thread has been told yet. */
  #unsent: CallMessage[] = [];
  #life: Life | undefined;
  #known: Known = NOTHING_KNOWN;
  #ended: Failure | undefined;
  #isClosing = false;
  /** Somebody is about to call while the thread leaves. */
  #isWanted = false;
  #tickets = 0;
  #usedAt = 0;
  #cancelRest: () => void = () => undefined;

  constructor(options: DiskOptions, clock: Clock, start: StartThread) {
    this.#options = options;
    this.#clock = clock;
    this.#start = start;
  }

  call<Name extends CallName>(name: Name, ...args: Parameters<DiskCalls[Name]>) {
    return new Promise<DiskResult<unknown>>((resolve) => {
      if (this.#ended !== undefined) resolve({ ok: false, ...this.#ended });
      else if (this.#isClosing) resolve({ ok: false, ...CLOSED });
      else if (this.#waiting.size >= MOST_WAITING)
        resolve({ ok: false, fault: 'busy', message: 'the disk is too slow' });
      else this.#send(name, args, resolve);
    }) as Promise<DiskResult<ReturnType<DiskCalls[Name]>>>;
  }

  wake(): void {
    this.#usedAt = this.#clock.now();
    if (this.#life?.phase === 'working' || this.#isWanted || this.#isClosing || this.#ended !== undefined) return;
    this.#isWanted = true;
    // A start takes the serving thread some 2 ms: after what it is at.
    if (this.#life === undefined) void this.#clock.turn().then(() => this.#work());
  }

  async close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#isWanted = false;
      this.#cancelRest();
      this.#life?.thread.hold();
      if (this.#ended === undefined && (this.#life?.phase === 'working' || this.#unsent.length > 0))
        this.#send('close', [], () => undefined);
    }
    while (this.#life !== undefined) await this.#life.gone.promise;
    this.#end(CLOSED);
  }

  #send(name: CallName, args: readonly unknown[], settle: Settle): void {
    const ticket = (this.#tickets += 1);
    this.#waiting.set(ticket, settle);
    this.#unsent.push({ ticket, name, args });
    this.#usedAt = this.#clock.now();
    this.#work();
  }

  /** Hands what is unsent to a thread, which is started where none is; while one leaves it waits for the next. */
  #work(): void {
    if (this.#ended !== undefined || (this.#unsent.length === 0 && !this.#isWanted)) return;
    this.#life ??= this.#begin();
    if (this.#life?.phase !== 'working') return;
    this.#isWanted = false;
    const messages = this.#unsent;
    this.#unsent = [];
    for (const message of messages) this.#life.thread.post(message);
  }

  #begin(): Life | undefined {
    try {
      const thread = this.#start(
        { ...this.#options, known: this.#known },
        { replied: (reply) => this.#settle(reply), ended: (failure) => this.#gone(failure) },
      );
      if (this.#isClosing) thread.hold();
      this.#planRest(REST_AFTER);
      return { thread, gone: Promise.withResolvers(), phase: 'working' };
    } catch (error) {
      this.#fail(threadFailure(error));
      return undefined;
    }
  }

  #settle({ ticket, ...result }: ReplyMessage): void {
    const settle = this.#waiting.get(ticket);
    this.#waiting.delete(ticket);
    settle?.(result);
  }

  #planRest(delay: Ms): void {
    this.#cancelRest();
    this.#cancelRest = this.#clock.after(delay, () => {
      const left = this.#usedAt + REST_AFTER - this.#clock.now();
      if (this.#waiting.size > 0 || left > 0) this.#planRest(ms(left > 0 ? Math.min(left, REST_AFTER) : REST_AFTER));
      else this.#rest();
    });
  }

  /** Has the thread write down nothing more and say what it knows. Nobody waits for it: all that it was asked is answered. */
  #rest(): void {
    const life = this.#life;
    if (life === undefined) return;
    this.#send('rest', [], (result) => {
      if (!result.ok) return this.#end(result);
      life.phase = 'left';
      // The thread's answer to `rest`, which is told apart by its ticket.
      this.#known = result.value as Known;
    });
    life.phase = 'leaving';
  }

  #gone(failure: Failure | null): void {
    const life = this.#life;
    this.#life = undefined;
    this.#cancelRest();
    if (life?.phase === 'left') this.#work();
    else if (failure?.fault === 'thread') this.#fail(failure);
    else this.#end(failure ?? { fault: 'closed', message: 'the thread of the ledger has ended' });
    life?.gone.resolve();
  }

  #end(failure: Failure): void {
    this.#ended ??= failure;
    this.#fail(this.#ended);
  }

  /** Answers everybody who waits; whether anything can be asked later is another matter. */
  #fail({ fault, message }: Failure): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#unsent = [];
    this.#isWanted = false;
    for (const settle of waiting) settle({ ok: false, fault, message });
  }
}

const CLOSED: Failure = { fault: 'closed', message: 'the ledger has ended' };
const NOTHING_KNOWN: Known = {
  ledger: { left: null, lasting: null },
  cards: { left: null, lasting: null },
  cardsAside: null,
};
