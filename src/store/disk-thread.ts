import { Worker } from 'node:worker_threads';
import type { CallMessage, Failure, ReplyMessage, ThreadOptions } from './disk-calls.ts';

/** One life of the thread that waits for the disk. */
export interface DiskThread {
  post(message: CallMessage): void;
  /** Keeps the process alive until it ends. */
  hold(): void;
}

export interface ThreadEvents {
  readonly replied: (reply: ReplyMessage) => void;
  /** After its last reply; with what it died of, if it did not end by itself. */
  readonly ended: (failure: Failure | null) => void;
}

/** Starts a thread; throws where the system gives none at once. */
export type StartThread = (options: ThreadOptions, events: ThreadEvents) => DiskThread;

/** Beside this file lies the thread's: as source in a checkout, compiled in what is published. */
const WORKER = new URL(import.meta.url.endsWith('.ts') ? './ledger-worker.ts' : './ledger-worker.js', import.meta.url);

export const startThread: StartThread = (options, { replied, ended }) => {
  let failure: Failure | null = null;
  const worker = new Worker(WORKER, { workerData: options, name: 'cardea-ledger' });
  worker.unref();
  worker.on('message', replied);
  worker.once('error', (error) => (failure = threadFailure(error)));
  worker.once('exit', () => ended(failure));
  return {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin, a window has
    post: (message) => worker.postMessage(message),
    hold: () => worker.ref(),
  };
};

/** Tells a thread that was never there, which may be had later, from one that died of an error in it. */
export const threadFailure = (error: unknown): Failure => ({
  fault: error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_INIT_FAILED' ? 'thread' : 'bug',
  message: String(error),
});
