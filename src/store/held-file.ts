import { type BigIntStats, statSync } from 'node:fs';
import type { Failure, KnownFile, LeftFile } from './disk-calls.ts';
import { DiskError, type DiskFault, diskFault } from './sqlite.ts';

/** Faults that are the same at the next try. */
const LASTING: ReadonlySet<DiskFault> = new Set(['corrupt', 'future', 'bug']);

const WITH_NANOSECONDS = { bigint: true, throwIfNoEntry: false } as const;

/** A file that is opened when it is first needed, and again after a fault that may pass. What is known of it can go on to the next thread. */
export class HeldFile<File extends { close(): void }> {
  readonly #path: string;
  readonly #open: (isAsLeft: boolean) => File;
  #file: File | undefined;
  #inode: bigint | undefined;
  #left: LeftFile | null;
  /** A fault that only a person mends, so that nothing is tried again. */
  #lasting: DiskError | undefined;

  /** @param open opens the file; what is as this process left it needs no check. */
  constructor(path: string, open: (isAsLeft: boolean) => File, { left, lasting }: KnownFile) {
    this.#path = path;
    this.#open = open;
    this.#left = left;
    if (lasting !== null) this.#lasting = new DiskError(lasting.fault, lasting.message);
  }

  get(): File {
    if (this.#lasting !== undefined) throw this.#lasting;
    if (this.#file !== undefined) {
      this.#checkPresence(this.#look());
      return this.#file;
    }
    try {
      return (this.#file = this.#opened());
    } catch (error) {
      const fault = diskFault(error);
      if (LASTING.has(fault)) this.#lasting = new DiskError(fault, messageOf(error), error);
      throw error;
    }
  }

  failure(): Failure | null {
    try {
      this.get();
      return null;
    } catch (error) {
      return failureOf(error);
    }
  }

  /** Closes it for as long as nobody asks, and says what whoever opens it again has to know. */
  rest(): KnownFile {
    if (this.#file !== undefined && this.#lasting === undefined) {
      this.#file.close();
      this.#file = undefined;
      const found = this.#look();
      if (found !== undefined && found.ino === this.#inode) this.#left = leftOf(found);
      else this.#lasting = this.#takenAway();
    }
    return { left: this.#left, lasting: this.#lasting === undefined ? null : failureOf(this.#lasting) };
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#lasting = new DiskError('closed', 'the ledger has ended');
  }

  #opened(): File {
    const left = this.#left;
    const before = this.#look();
    // A number of an inode is given anew once nobody holds the file: its birth says whether it is the same one.
    if (left !== null && (before?.ino !== left.inode || before.birthtimeNs !== left.born))
      throw (this.#lasting = this.#takenAway());
    const file = this.#open(left !== null && before !== undefined && printOf(before) === left.print);
    const found = this.#look();
    this.#inode = left?.inode ?? found?.ino;
    try {
      this.#checkPresence(found);
      return file;
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** SQLite writes on into a file that was deleted and calls it a success: nothing of it would be there after a restart. */
  #checkPresence(found: BigIntStats | undefined): void {
    if (found !== undefined && found.ino === this.#inode) return;
    throw (this.#lasting = this.#takenAway());
  }

  #takenAway(): DiskError {
    return new DiskError('io', `${this.#path} was taken away while it was in use`);
  }

  #look(): BigIntStats | undefined {
    return statSync(this.#path, WITH_NANOSECONDS);
  }
}

const leftOf = (found: BigIntStats): LeftFile => ({
  inode: found.ino,
  born: found.birthtimeNs,
  print: printOf(found),
});

const printOf = ({ size, mtimeNs, ctimeNs }: BigIntStats): string => [size, mtimeNs, ctimeNs].join(':');

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
export const failureOf = (error: unknown): Failure => ({ fault: diskFault(error), message: messageOf(error) });
