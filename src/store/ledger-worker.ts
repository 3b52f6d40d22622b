import { statSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { CardsFile } from './cards-sqlite.ts';
import type { CallMessage, DiskCalls, DiskOptions, Failure, ReplyMessage } from './disk-calls.ts';
import { LedgerFile } from './ledger-file.ts';
import { DiskError, type DiskFault, diskFault } from './sqlite.ts';

/** The thread that waits for the disk, so that the one that serves never does. It answers every call, in order, and never throws. */

/** A file that is opened when it is first needed, and again after a fault that may pass. */
class Held<File extends { close(): void }> {
  readonly #path: string;
  readonly #open: () => File;
  #file: File | undefined;
  #inode: number | undefined;
  /** A fault that only a person mends, so that nothing is tried again. */
  #lasting: DiskError | undefined;

  constructor(path: string, open: () => File) {
    this.#path = path;
    this.#open = open;
  }

  get(): File {
    if (this.#lasting !== undefined) throw this.#lasting;
    if (this.#file === undefined) {
      try {
        this.#file = this.#open();
        this.#inode = statSync(this.#path).ino;
      } catch (error) {
        const fault = diskFault(error);
        if (LASTING.has(fault)) this.#lasting = new DiskError(fault, messageOf(error), error);
        throw error;
      }
    } else this.#checkPresence();
    return this.#file;
  }

  failure(): Failure | null {
    try {
      this.get();
      return null;
    } catch (error) {
      return failureOf(error);
    }
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#lasting = new DiskError('closed', 'the ledger has ended');
  }

  /** SQLite writes on into a file that was deleted and calls it a success: nothing of it would be there after a restart. */
  #checkPresence(): void {
    if (statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode) return;
    this.#lasting = new DiskError('io', `${this.#path} was taken away while it was in use`);
    throw this.#lasting;
  }
}

/** Faults that are the same at the next try. */
const LASTING: ReadonlySet<DiskFault> = new Set(['corrupt', 'future', 'bug']);

/** Everything that the thread can be asked to do. */
function callsOn({ ledgerFile, cardsFile, chainKey }: DiskOptions): DiskCalls {
  let cardsAside: DiskFault | null = null;
  const ledger = new Held(ledgerFile, () => new LedgerFile(ledgerFile, chainKey));
  const cards = new Held(cardsFile, () => {
    const { cards: file, aside } = CardsFile.open(cardsFile);
    cardsAside = aside;
    return file;
  });
  return {
    open: () => ({ ledger: ledger.failure(), cards: cards.failure(), cardsAside }),
    append: (receipts) => ledger.get().append(receipts),
    prune: (bounds, now) => ledger.get().prune(bounds, now),
    query: (query) => ledger.get().query(query),
    verify: () => ledger.get().verify(),
    decide: (decision, letsIn) => ledger.get().decide(decision, letsIn),
    decisions: (agent) => ledger.get().decisions(agent),
    hold: (card) => ledger.get().hold(card),
    held: (agent) => ledger.get().held(agent),
    release: (agent, variant) => ledger.get().release(agent, variant),
    enforce: (card) => ledger.get().enforce(card),
    inForce: (agent) => ledger.get().inForce(agent),
    holdExtended: (card) => ledger.get().holdExtended(card),
    heldExtended: () => ledger.get().heldExtended(),
    releaseExtended: (agent, digest) => ledger.get().releaseExtended(agent, digest),
    unnamed: () => ledger.get().unnamed(),
    forget: (agent) => ledger.get().forget(agent),
    saveCard: (card) => cards.get().save(card),
    dropCard: (key, variant) => cards.get().drop(key, variant),
    purgeCards: (tags) => cards.get().purge(tags),
    softenCards: (tags, now) => cards.get().soften(tags, now),
    loadCards: () => cards.get().load(),
    saveKeySet: (keys) => cards.get().saveKeySet(keys),
    loadKeySets: () => cards.get().loadKeySets(),
    close() {
      ledger.close();
      cards.close();
    },
  };
}

function answer(calls: DiskCalls, { ticket, name, args }: CallMessage): ReplyMessage {
  try {
    const call = calls[name] as (...args: readonly unknown[]) => unknown;
    return { ticket, ok: true, value: call(...args) };
  } catch (error) {
    return { ticket, ok: false, ...failureOf(error) };
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const failureOf = (error: unknown): Failure => ({ fault: diskFault(error), message: messageOf(error) });

function serve(port: MessagePort, options: DiskOptions): void {
  const calls = callsOn(options);
  port.on('message', (message: CallMessage) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin, a window has
    port.postMessage(answer(calls, message));
    if (message.name === 'close') port.close();
  });
}

// Without a port this file is only looked at.
if (parentPort !== null) serve(parentPort, workerData as DiskOptions);
