import fs from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type Ms, ms } from '../kernel/units.ts';
import type { Clock, FileWatch } from '../ports.ts';

/** A FileWatch that looks until it is told to stop. */
export interface ClosableFileWatch extends FileWatch {
  stop(): void;
}

/**
 * How often files are looked at. Notifications of the kernel make it sooner, and none come from network mounts, from some
 * containers' file systems and where their number is used up: a stat works everywhere and costs microseconds.
 */
const EVERY = ms(2_000);
/** A file that has been the same for this long is not just being written: half of a configuration can be a valid one. */
const SETTLED = ms(200);

/** Makes a watch that follows links: what counts is the file that a name leads to, so a swapped `..data` changes every file behind it. */
export const createFileWatch = (clock: Clock): ClosableFileWatch => new Looking(clock);

interface Subscriber {
  readonly files: ReadonlySet<string>;
  readonly changed: (files: readonly string[]) => void;
}

/** What a file looked like at the last look, and when its subscribers were last told. */
interface Seen {
  last: string;
  told: string;
}

class Looking implements ClosableFileWatch {
  readonly #clock: Clock;
  readonly #subscribers = new Set<Subscriber>();
  readonly #files = new Map<string, Seen>();
  /** Hints of the kernel, one per folder; null where it gives none. */
  readonly #folders = new Map<string, fs.FSWatcher | null>();
  #plan: { readonly in: Ms; readonly cancel: () => void } | undefined;
  #looking = false;
  /** A hint came while a look was being made, which may have missed what it is about. */
  #hinted = false;
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  watch(files: readonly string[], changed: Subscriber['changed']): () => void {
    const subscriber = { files: new Set(files), changed };
    this.#subscribers.add(subscriber);
    for (const file of subscriber.files) this.#begin(file);
    if (!this.#looking) this.#lookIn(EVERY);
    return () => {
      this.#subscribers.delete(subscriber);
      this.#forget();
    };
  }

  stop(): void {
    this.#stopped = true;
    this.#plan?.cancel();
    this.#subscribers.clear();
    this.#forget();
  }

  #begin(file: string): void {
    if (this.#files.has(file)) return;
    const now = printNow(file);
    this.#files.set(file, { last: now, told: now });
    const folder = path.dirname(file);
    if (!this.#folders.has(folder)) this.#folders.set(folder, this.#hints(folder));
  }

  #forget(): void {
    const wanted = new Set([...this.#subscribers].flatMap(({ files }) => [...files]));
    for (const file of this.#files.keys()) if (!wanted.has(file)) this.#files.delete(file);
    const folders = new Set([...wanted].map((file) => path.dirname(file)));
    for (const [folder, hints] of this.#folders) {
      if (folders.has(folder)) continue;
      hints?.close();
      this.#folders.delete(folder);
    }
  }

  #hints(folder: string): fs.FSWatcher | null {
    try {
      const hints = fs.watch(folder, { persistent: false }, this.#hint);
      // The next look finds what no hint tells any more.
      return hints.on('error', () => hints.close());
    } catch {
      return null; // no such folder yet, or no more notifications to be had
    }
  }

  readonly #hint = (): void => {
    this.#hinted = true;
    if (!this.#looking) this.#lookIn(SETTLED);
  };

  /** Plans the next look, unless one is planned that is no later; a busy folder makes no more looks than that. */
  #lookIn(delay: Ms): void {
    if (this.#stopped || (this.#plan !== undefined && this.#plan.in <= delay)) return;
    this.#plan?.cancel();
    this.#plan = { in: delay, cancel: this.#clock.after(delay, () => void this.#look()) };
  }

  async #look(): Promise<void> {
    this.#plan = undefined;
    this.#looking = true;
    this.#hinted = false;
    const names = [...this.#files.keys()];
    const prints = await Promise.all(names.map(printOf));
    this.#looking = false;
    this.#tell(names.filter((file, index) => this.#isSettledChange(file, prints[index] ?? '')));
    const isUnsettled = [...this.#files.values()].some(({ last, told }) => last !== told);
    this.#lookIn(isUnsettled || this.#hinted ? SETTLED : EVERY);
  }

  #tell(changed: readonly string[]): void {
    if (changed.length === 0) return;
    for (const { files, changed: tell } of this.#subscribers) {
      const own = changed.filter((file) => files.has(file));
      if (own.length > 0) tell(own);
    }
  }

  /** True where the file is another than the one told of, and the same as at the look before. */
  #isSettledChange(file: string, print: string): boolean {
    const seen = this.#files.get(file);
    if (seen === undefined) return false;
    const isSettled = seen.last === print;
    seen.last = print;
    if (!isSettled || seen.told === print) return false;
    seen.told = print;
    return true;
  }
}

const WITH_NANOSECONDS = { bigint: true } as const;

/** Device, inode, size and times: a rename over it or a swapped link changes the inode, an edit in place the rest. */
const fingerprint = ({ dev, ino, size, mtimeNs, ctimeNs }: fs.BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');

const printOf = (file: string): Promise<string> => stat(file, WITH_NANOSECONDS).then(fingerprint, codeOf);

/** At once, so that nothing is missed between the beginning of a watch and its first look. */
function printNow(file: string): string {
  try {
    return fingerprint(fs.statSync(file, WITH_NANOSECONDS));
  } catch (error) {
    return codeOf(error);
  }
}

/** A file that cannot be looked at looks like the reason. */
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);
