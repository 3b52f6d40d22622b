import type { Url } from '../kernel/ids.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { Listing, RegistryStatus } from '../kernel/registry.ts';
import { type EpochMs, type Ms, between, epochMs, isDuring, later, ms } from '../kernel/units.ts';
import type { Said } from '../policy/registered.ts';
import type { Registration, RegistryRule } from '../policy/rules.ts';
import type { Clock, Observer } from '../ports.ts';
import type { HeardRegistry, RegistryFiles, RegistryRecord } from '../ports/registries.ts';
import type { Answers, LookUp, Looked } from './registry-lookup.ts';

/** What a registry said when it was last read. */
interface Heard {
  readonly at: EpochMs;
  /** What was looked for: of the rest nothing is known. */
  readonly identifiers: ReadonlySet<string>;
  readonly listings: ReadonlyMap<string, Listing>;
}

interface Parts {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly lookUp: LookUp;
  readonly registryFiles: Pick<RegistryFiles, 'watch'>;
  readonly registryRecord: RegistryRecord;
  /** What it says is another than before: puts that in force; resolves when it is felt everywhere. */
  readonly changed: () => Promise<void>;
}

/** Where in the time that a status may be old the registry is read again: spread, so that replicas do not ask in one instant. */
const EARLIEST = 0.8;
const SPREAD = 0.15;
/** First back-off after a failure; doubles up to the pace of a registry that answers, and to this. */
const FIRST_RETRY = 1_000;
const LAST_RETRY = 5 * 60_000;

/** One registry: read at its pace, when its file changes and when somebody asks; what it said last holds while it cannot be had. */
export class FollowedRegistry {
  readonly #parts: Parts;
  #rule: RegistryRule;
  #identifiers: ReadonlySet<string>;
  #heard: Heard | null = null;
  /** Why nothing that was said before this start can be believed. */
  #distrust: string | null;
  #answers: Answers = new Map();
  readonly #places = new Map<string, Url>();
  #running: Promise<Outcome<null>> | undefined;
  #next: Promise<Outcome<null>> | undefined;
  #failures = 0;
  #retryAfter: Ms | null = null;
  #cancel: () => void = () => undefined;
  #cancelEnd: () => void = () => undefined;
  #unwatch: (() => void) | undefined;
  readonly #first = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();

  constructor(rule: RegistryRule, identifiers: ReadonlySet<string>, parts: Parts) {
    this.#rule = rule;
    this.#identifiers = identifiers;
    this.#parts = parts;
    this.#distrust = parts.registryRecord.doubt(rule.name);
    const earlier = parts.registryRecord.last(rule.name, sourceOf(rule));
    if (earlier !== undefined) this.#restore(earlier);
  }

  /** Resolves when it has been asked once, whatever came of it. */
  get firstHeard(): Promise<void> {
    return this.#first.promise;
  }

  get lastSuccess(): EpochMs {
    return this.#heard?.at ?? epochMs(0);
  }

  /** Says how an entry stands at this time. */
  says({ id, maxAge }: Pick<Registration, 'id' | 'maxAge'>, now: EpochMs): Said {
    const place = this.#places.get(id) ?? null;
    if (this.#distrust !== null) return { status: 'revoked', card: null, said: this.#distrust, place };
    const heard = this.#heard;
    const listing = heard?.listings.get(id);
    if (heard === null || listing === undefined)
      return { status: 'unknown', card: null, said: this.#silence(id), place };
    // Who takes the registry away, or keeps us from it, takes back no revocation.
    const isRecent = isDuring(now, heard.at, later(heard.at, ms(maxAge + 1)));
    if (isRecent || isEnded(listing.status)) return { ...listing, place };
    const said = `it cannot be had, and what it said last is too old: ${listing.status}`;
    return { ...listing, status: 'unknown', said, place };
  }

  /** Says why nothing is known of an entry. */
  #silence(id: string): string {
    if (this.#heard?.identifiers.has(id) === true) return 'it does not list it';
    return this.#failures === 0 ? 'it was not asked yet' : 'it cannot be had';
  }

  /** Notes from where the cards of entries are taken now. */
  placed(places: ReadonlyMap<string, Url>): void {
    const isNews = [...places].some(([id, place]) => this.#places.get(id) !== place);
    if (!isNews) return;
    for (const [id, place] of places) this.#places.set(id, place);
    if (this.#heard !== null) void this.#save(this.#heard);
  }

  /** Takes over another reading of the configuration. What is newly looked for is looked up at once. */
  follow(rule: RegistryRule, identifiers: ReadonlySet<string>): void {
    const hasBegun = this.#unwatch !== undefined;
    const isFaster = rule.refresh < this.#rule.refresh;
    this.#rule = rule;
    this.#identifiers = identifiers;
    if (!hasBegun) return;
    const known = this.#heard?.identifiers;
    if ([...identifiers].some((id) => known?.has(id) !== true)) void this.lookUp();
    else if (isFaster) this.#plan();
    this.#planEnd();
  }

  /** Reads it from now on. */
  begin(): void {
    if (this.#unwatch !== undefined) return;
    const { source } = this.#rule;
    this.#unwatch =
      source.from === 'file' ? this.#parts.registryFiles.watch(source.file, () => void this.lookUp()) : () => undefined;
    void this.lookUp();
    this.#planEnd();
  }

  /** Reads it now. Who asks while it is being read shares the next reading, which sees everything that was written before they asked. */
  lookUp(): Promise<Outcome<null>> {
    if (this.#running === undefined && this.#next === undefined) return this.#begin();
    this.#next ??= Promise.resolve(this.#running).then(() => {
      this.#next = undefined;
      return this.#begin();
    });
    return this.#next;
  }

  async settled(): Promise<void> {
    while (this.#running !== undefined || this.#next !== undefined) await (this.#next ?? this.#running);
  }

  /** Ends what is on its way: nothing that comes after this counts. */
  stop(): void {
    this.#stopping.abort();
    this.#cancel();
    this.#cancelEnd();
    this.#unwatch?.();
    this.#first.resolve();
  }

  #begin(): Promise<Outcome<null>> {
    this.#cancel();
    this.#running = this.#attempt().finally(() => {
      this.#running = undefined;
      this.#first.resolve();
      this.#plan();
    });
    return this.#running;
  }

  async #attempt(): Promise<Outcome<null>> {
    const { signal } = this.#stopping;
    const [rule, identifiers, answers] = [this.#rule, this.#identifiers, this.#answers];
    try {
      const looked = await this.#parts.lookUp({ rule, identifiers, answers, signal });
      if (signal.aborted) return refused(refuse('conflict', 'The registry is not followed any more.'));
      return looked.ok ? await this.#hear(looked, identifiers) : await this.#miss(looked.refusal, looked.retryAfter);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#parts.observer.record(broken(rule.name, why));
      return this.#miss(refuse('internal', 'Reading the registry broke; the log says how.'), null);
    }
  }

  async #hear(
    { listings, answers }: Extract<Looked, { ok: true }>,
    identifiers: ReadonlySet<string>,
  ): Promise<Outcome<null>> {
    const now = this.#parts.clock.now();
    const heard = { at: now, identifiers, listings: withEnded(shortened(listings), this.#heard) };
    this.#heard = heard;
    this.#distrust = null;
    this.#answers = answers;
    this.#failures = 0;
    for (const id of identifiers) this.#tell(heard.listings.get(id)?.status ?? 'unknown');
    this.#planEnd();
    // What is revoked ends before it is written that it is.
    await this.#parts.changed();
    await this.#save(heard);
    return accepted(null);
  }

  async #miss(refusal: Refusal, retryAfter: Ms | null): Promise<Outcome<null>> {
    this.#failures += 1;
    this.#retryAfter = retryAfter;
    this.#tell('failed');
    if (this.#failures === 1) this.#parts.observer.record(away(this.#rule.name, refusal));
    await this.#parts.changed();
    return refused(refusal);
  }

  #tell(result: RegistryStatus | 'failed'): void {
    this.#parts.observer.record({ kind: 'lookup', registry: this.#rule.name, result });
  }

  #plan(): void {
    if (this.#stopping.signal.aborted || this.#unwatch === undefined) return;
    this.#cancel();
    this.#cancel = this.#parts.clock.after(this.#delay(), () => void this.lookUp());
  }

  #delay(): Ms {
    const chance = this.#parts.clock.random();
    const pace = this.#rule.refresh * (EARLIEST + SPREAD * chance);
    if (this.#failures === 0) return ms(pace);
    const backoff = Math.min(FIRST_RETRY * 2 ** Math.min(this.#failures - 1, 20), LAST_RETRY) * (0.5 + 0.5 * chance);
    return ms(Math.min(Math.max(backoff, this.#retryAfter ?? 0), Math.max(pace, FIRST_RETRY)));
  }

  /** What is said may be too old before it is said again: that is a change too. */
  #planEnd(): void {
    this.#cancelEnd();
    if (this.#heard === null || this.#stopping.signal.aborted) return;
    const age = between(this.#heard.at, this.#parts.clock.now());
    const [next] = [this.#rule.refresh, this.#rule.maxStale]
      .filter((end) => end >= age)
      .toSorted((one, other) => one - other);
    if (next === undefined) return;
    this.#cancelEnd = this.#parts.clock.after(ms(next - age + 1), () => {
      void this.#parts.changed();
      this.#planEnd();
    });
  }

  #restore({ at, entries }: HeardRegistry): void {
    this.#heard = {
      at,
      identifiers: new Set(entries.map(({ id }) => id)),
      listings: new Map(entries.map(({ id, status, card, said }) => [id, { status, card, said }])),
    };
    for (const { id, place } of entries) if (place !== null) this.#places.set(id, place);
  }

  async #save({ at, listings }: Heard): Promise<void> {
    const { name } = this.#rule;
    const entries = [...listings].map(([id, listing]) => ({ id, ...listing, place: this.#places.get(id) ?? null }));
    const error = await this.#parts.registryRecord.save({ name, source: sourceOf(this.#rule), at, entries });
    if (error !== null) this.#parts.observer.record(unwritten(name, error));
  }
}

/** A registry's own words go into receipts, refusals and the record, for people: they need no more room. */
const LONGEST_WORDS = 256;
const shortened = (listings: ReadonlyMap<string, Listing>): ReadonlyMap<string, Listing> =>
  new Map([...listings].map(([id, listing]) => [id, { ...listing, said: listing.said.slice(0, LONGEST_WORDS) }]));

/** True for what must not be used any more. */
const isEnded = (status: RegistryStatus): boolean => status === 'retired' || status === 'revoked';

/** Who takes the entry of a revoked agent away takes no revocation back: only a listing that says otherwise does. */
function withEnded(listings: ReadonlyMap<string, Listing>, before: Heard | null): ReadonlyMap<string, Listing> {
  const ended = [...(before?.listings ?? [])].flatMap(([id, listing]): [string, Listing][] =>
    isEnded(listing.status) && !listings.has(id) ? [[id, { ...listing, said: UNLISTED }]] : [],
  );
  return new Map([...ended, ...listings]);
}

const UNLISTED = 'it was listed as such last, and is not listed any more';

/** What tells one registry of a name from another. */
export const sourceOf = ({ source }: RegistryRule): string => (source.from === 'url' ? source.url : source.file);

const away = (registry: string, { code, detail }: Refusal) =>
  ({
    kind: 'notice',
    level: 'warn',
    msg: 'a registry cannot be had: what it said last holds until it is too old',
    about: { registry, code, why: detail },
  }) as const;

const unwritten = (registry: string, error: string) =>
  ({
    kind: 'notice',
    level: 'error',
    msg: 'what a registry said is not on the disk: a restart will not know it',
    about: { registry, error },
  }) as const;

const broken = (registry: string, error: string) =>
  ({ kind: 'notice', level: 'error', msg: 'reading a registry broke', about: { registry, error } }) as const;
