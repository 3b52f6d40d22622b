import type { Entry } from '../kernel/entry.ts';
import type { Event } from '../kernel/event.ts';
import type { Tag } from '../kernel/ids.ts';
import { ms } from '../kernel/units.ts';
import type { ArchivedKeySet, CardArchive, Clock, Observer } from '../ports.ts';
import { decodeEntry, encodeEntry } from './card-codec.ts';
import type { Failure } from './disk-calls.ts';
import type { Disk, DiskResult } from './disk.ts';
import { DISK_MENDS } from './sqlite.ts';

/** Keeps the last accepted public cards and key sets on the disk. It is a cache: a failure is told once and costs a cold start. */
export const createCardArchive = (parts: ArchiveParts): CardArchive => new Archive(parts);

export interface ArchiveParts {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly disk: Disk;
}

/** Far longer than a purge takes on a disk that works. */
const LONGEST_PURGE = ms(1_000);

class Archive implements CardArchive {
  readonly #clock: Clock;
  readonly #disk: Disk;
  readonly #observer: Observer;
  #failing = false;

  constructor({ clock, observer, disk }: ArchiveParts) {
    this.#clock = clock;
    this.#disk = disk;
    this.#observer = observer;
  }

  save(entry: Entry): void {
    const { key, variant, tags } = entry;
    void this.#noted(this.#disk.call('saveCard', { key, variant, tags, ...encodeEntry(entry) }));
  }

  drop({ key, variant }: Entry): void {
    void this.#noted(this.#disk.call('dropCard', key, variant));
  }

  async purge(tags: readonly Tag[], soft: boolean): Promise<void> {
    const call = soft ? this.#disk.call('softenCards', tags, this.#clock.now()) : this.#disk.call('purgeCards', tags);
    const done = this.#noted(call).then(() => undefined);
    // A kill waits for its purge, and no disk may hold up a kill: what it has not done by then is barred at the next start.
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(LONGEST_PURGE, resolve);
      void done.finally(cancel).then(resolve);
    });
  }

  async load(): Promise<readonly Entry[]> {
    const result = await this.#noted(this.#disk.call('loadCards'));
    if (!result.ok) return [];
    const entries = result.value.map(decodeEntry).filter((entry) => entry !== undefined);
    const unread = result.value.length - entries.length;
    if (unread > 0)
      this.#observer.record(notice('warn', 'stored cards of another format are fetched anew', { unread }));
    return entries;
  }

  saveKeySet(keys: ArchivedKeySet): void {
    void this.#noted(this.#disk.call('saveKeySet', keys));
  }

  async loadKeySets(): Promise<readonly ArchivedKeySet[]> {
    const result = await this.#noted(this.#disk.call('loadKeySets'));
    return result.ok ? result.value : [];
  }

  /** The disk is closed by whoever opened it, after every call that was made. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #noted<T>(call: Promise<DiskResult<T>>): Promise<DiskResult<T>> {
    const result = await call;
    if (!result.ok && !this.#failing && result.fault !== 'closed') this.#observer.record(archiveFails(result));
    this.#failing = !result.ok;
    return result;
  }
}

const archiveFails = ({ fault, message }: Failure): Event =>
  notice('error', 'cards are not kept for the next start', { fault, error: message, mend: DISK_MENDS[fault] });

const notice = (
  level: 'warn' | 'error',
  msg: string,
  about: Readonly<Record<string, string | number>>,
): Extract<Event, { kind: 'notice' }> => ({ kind: 'notice', level, msg, about });
