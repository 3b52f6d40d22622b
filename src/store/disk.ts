import { Worker } from 'node:worker_threads';
import type { CallMessage, CallName, DiskCalls, DiskOptions, Failure, ReplyMessage } from './disk-calls.ts';

/** What became of one call to the disk. */
export type DiskResult<T> = { readonly ok: true; readonly value: T } | ({ readonly ok: false } & Failure);

/** The disk as the serving thread sees it: every call resolves, none waits for anything but its own answer. */
export interface Disk {
  call<Name extends CallName>(
    name: Name,
    ...args: Parameters<DiskCalls[Name]>
  ): Promise<DiskResult<ReturnType<DiskCalls[Name]>>>;
  /** Ends the thread after the calls that were made before. */
  close(): Promise<void>;
}

/** Callers who wait at once: beyond it the disk is slower than what is asked of it, and asking more helps nobody. */
const MOST_WAITING = 10_000;

/** Beside this file lies the thread's: as source in a checkout, compiled in what is published. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './ledger-worker.ts' : './ledger-worker.js', import.meta.url);

type Settle = (result: DiskResult<unknown>) => void;

export function createDisk(options: DiskOptions): Disk {
  const waiting = new Map<number, Settle>();
  let ended: Failure | undefined;
  let tickets = 0;
  const worker = new Worker(WORKER, { workerData: options, name: 'cardea-ledger' });
  worker.unref();
  const end = (failure: Failure): void => {
    ended ??= failure;
    for (const settle of waiting.values()) settle({ ok: false, ...failure });
    waiting.clear();
  };
  worker.on('message', (reply: ReplyMessage) => {
    waiting.get(reply.ticket)?.(reply);
    waiting.delete(reply.ticket);
  });
  worker.on('error', (error) => end({ fault: 'bug', message: String(error) }));
  const gone = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      end({ fault: 'closed', message: 'the thread of the ledger has ended' });
      resolve();
    });
  });
  const send = (name: CallName, args: readonly unknown[]): Promise<DiskResult<unknown>> =>
    new Promise((resolve) => {
      if (ended !== undefined) return resolve({ ok: false, ...ended });
      if (waiting.size >= MOST_WAITING) return resolve({ ok: false, fault: 'busy', message: 'the disk is too slow' });
      const ticket = (tickets += 1);
      waiting.set(ticket, resolve);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin, a window has
      worker.postMessage({ ticket, name, args } satisfies CallMessage);
    });
  return {
    call: (name, ...args) => send(name, args) as ReturnType<Disk['call']> as never,
    async close() {
      worker.ref();
      await send('close', []);
      await gone;
    },
  };
}
