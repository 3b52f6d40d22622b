import type { LoadedConfig } from '../config/load.ts';
import { formatProblem } from '../config/place.ts';
import type { Event } from '../kernel/event.ts';
import { accepted, type Outcome, refuse, refused } from '../kernel/refusal.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { Clock, FileWatch, Observer } from '../ports.ts';

/** A configuration that holds. */
export type ValidConfig = Extract<LoadedConfig, { ok: true }>;

/** Reads the configuration as it is written now, by the order that the process was started with. */
export type Load = () => Promise<LoadedConfig>;

/** Why the configuration is read again: a person asks, a file has changed, or the daemon has just started. */
export type ReloadCause = 'SIGHUP' | 'admin' | 'file' | 'start';

/** What adopting a configuration came to. */
export interface Adopted {
  /** Settings that differ from those in force and only count from the next start. */
  readonly atNextStart: readonly string[];
  /** True where a listener was opened or closed. */
  readonly moved: boolean;
}

export interface Reload {
  /**
   * Reads the configuration and adopts it whole, or keeps the old one whole and says why. Whatever the cause, this is the one way.
   * One at a time; who asks while one is running shares the next one, which sees everything that was written before they asked.
   */
  run(cause: ReloadCause): Promise<Outcome<{ readonly digest: string }>>;
  /** Begins to look at the files that the configuration in force was read from, and whether they changed while the daemon started. */
  begin(files: readonly string[]): void;
  /** How the last attempt ended, for metrics. */
  last(): { readonly adoptedAt: EpochMs; readonly lastSuccessful: boolean };
  /** Reads nothing any more; resolves when what is running has ended. */
  stop(): Promise<void>;
}

export interface ReloadParts {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly files: FileWatch;
  readonly load: Load;
  /** Throws an Error that says what cannot be adopted; then everything is as it was. */
  readonly adopt: (next: ValidConfig) => Promise<Adopted>;
  /** Those of the files that are mounted one by one. */
  readonly mountedAlone: (files: readonly string[]) => Promise<readonly string[]>;
  /** The digest of the configuration in force. */
  readonly digest: () => string;
}

type Reloaded = Outcome<{ readonly digest: string }>;

export const createReload = (parts: ReloadParts): Reload => new Reloading(parts);

class Reloading implements Reload {
  readonly #parts: ReloadParts;
  #running: Promise<Reloaded> | undefined;
  #next: Promise<Reloaded> | undefined;
  #watched: ReadonlySet<string> = new Set();
  #unwatch: () => void = () => undefined;
  #adoptedAt: EpochMs;
  #lastSuccessful = true;
  #stopped = false;

  constructor(parts: ReloadParts) {
    this.#parts = parts;
    this.#adoptedAt = parts.clock.now();
  }

  run(cause: ReloadCause): Promise<Reloaded> {
    if (this.#running === undefined && this.#next === undefined) return this.#begin(cause);
    this.#next ??= Promise.resolve(this.#running).then(() => {
      this.#next = undefined;
      return this.#begin(cause);
    });
    return this.#next;
  }

  begin(files: readonly string[]): void {
    this.#watch(files);
    void this.#warnOfMounts(files);
    void this.run('start');
  }

  last(): ReturnType<Reload['last']> {
    return { adoptedAt: this.#adoptedAt, lastSuccessful: this.#lastSuccessful };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unwatch();
    await this.#next;
    await this.#running;
  }

  async #warnOfMounts(files: readonly string[]): Promise<void> {
    for (const file of await this.#parts.mountedAlone(files)) {
      const msg = `${file} is mounted by itself (a subPath?), so its changes do not arrive: mount its folder instead`;
      this.#parts.observer.record({ kind: 'notice', level: 'warn', msg, about: { file } });
    }
  }

  #begin(cause: ReloadCause): Promise<Reloaded> {
    this.#running = this.#attempt(cause).finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #attempt(cause: ReloadCause): Promise<Reloaded> {
    if (this.#stopped) return refused(refuse('conflict', 'The daemon is draining; nothing is reloaded any more.'));
    const before = this.#parts.digest();
    try {
      const loaded = await this.#load();
      if (!loaded.ok) return this.#keep(cause, loaded.problems.map(formatProblem));
      if (cause === 'start' && loaded.rules.digest === before) return accepted({ digest: before });
      if (loaded.isBlank && loaded.rules.digest !== before) return this.#keep(cause, [blank(loaded.file)]);
      const adopted = await this.#parts.adopt(loaded);
      this.#adoptedAt = this.#parts.clock.now();
      this.#lastSuccessful = true;
      this.#tell(cause, before, loaded, adopted);
      return accepted({ digest: loaded.rules.digest });
    } catch (error) {
      return this.#keep(cause, [error instanceof Error ? error.message : String(error)]);
    }
  }

  /** Reads it, and once more where it names files that nobody looked at so far: they may have changed since they were read. */
  async #load(): Promise<LoadedConfig> {
    const loaded = await this.#parts.load();
    return this.#watch(loaded.files) ? this.#parts.load() : loaded;
  }

  /** True where there is a file among them that was not watched yet. */
  #watch(files: readonly string[]): boolean {
    const wanted = new Set(files);
    const added = [...wanted].some((file) => !this.#watched.has(file));
    if ((!added && wanted.size === this.#watched.size) || this.#stopped) return false;
    // The new watch begins before the old one ends, so that what both look at is never lost sight of.
    const unwatch = this.#unwatch;
    this.#unwatch = this.#parts.files.watch([...wanted], () => void this.run('file'));
    unwatch();
    this.#watched = wanted;
    return added;
  }

  #keep(cause: ReloadCause, problems: readonly string[]): Reloaded {
    this.#lastSuccessful = false;
    const msg = 'the configuration was not adopted: the old one stays in force';
    this.#parts.observer.record({ kind: 'notice', level: 'error', msg, about: { cause, problems } });
    const detail = `Nothing was changed. ${problems.join(' | ')}`;
    return refused(refuse('conflict', detail.length > LONGEST ? `${detail.slice(0, LONGEST)}…` : detail));
  }

  #tell(cause: ReloadCause, before: string, { rules, warnings }: ValidConfig, adopted: Adopted): void {
    const { moved, atNextStart } = adopted;
    const isNews = rules.digest !== before || moved;
    // A touched file and a renewed certificate are everyday things.
    const level = isNews || cause === 'SIGHUP' || cause === 'admin' ? 'info' : 'debug';
    const msg = isNews ? 'configuration adopted' : 'configuration read again, nothing in it has changed';
    const record = (event: Omit<Extract<Event, { kind: 'notice' }>, 'kind'>): void =>
      this.#parts.observer.record({ kind: 'notice', ...event });
    record({ level, msg, about: { cause, digest: rules.digest } });
    if (!isNews) return;
    for (const warning of warnings) record({ level: 'warn', msg: formatProblem(warning) });
    for (const setting of atNextStart)
      record({ level: 'warn', msg: `${setting}: the new value counts from the next start`, about: { setting } });
  }
}

/** Whoever writes a file in place empties it first, and reading it then would take every agent away. */
const blank = (file: string): string =>
  `${file}: is empty, as a file is before it is written; where nothing is meant, a comment in it says so`;

/** A problem document that is longer helps nobody; the log has every problem. */
const LONGEST = 4_000;
