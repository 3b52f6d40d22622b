import type { KeySet } from '../card/keys.ts';
import { type EpochMs, epochMs, isDuring, later, type Ms, ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';
import type { FetchedKeys, FetchKeys, RemoteRule } from './fetch-keys.ts';

interface Parts {
  readonly clock: Clock;
  readonly fetchKeys: FetchKeys;
  readonly maxStale: () => Ms;
  /** Told after every attempt, since it may have changed what the set says. */
  readonly changed: () => void;
}

/** A card with a key that nobody knows makes one request in this time: a thousand made-up names must not become a thousand requests. */
const COOL_DOWN = ms(30_000);
/** First back-off after a failure; doubles to the ceiling. */
const FIRST_RETRY = 2_000;
const LAST_RETRY = 5 * 60_000;

/** One key set at a URL: fetched when it is first wanted, kept fresh from then on, used while it is not too old. */
export class RemoteKeys {
  #rule: RemoteRule;
  readonly #parts: Parts;
  #held: FetchedKeys | null = null;
  #triedAt: EpochMs | null = null;
  #failures = 0;
  #flight: Promise<void> | null = null;
  #cancel: () => void = () => undefined;
  readonly #stopping = new AbortController();

  constructor(rule: RemoteRule, parts: Parts) {
    this.#rule = rule;
    this.#parts = parts;
  }

  /** Takes over another reading of the configuration: the same URL under the same permission, other revocations. */
  follow(rule: RemoteRule): void {
    this.#rule = rule;
  }

  /** Goes on with the keys of an earlier process, and asks for newer ones at once. */
  restore(held: FetchedKeys): void {
    this.#held = held;
    this.#plan();
  }

  read(now: EpochMs): KeySet {
    const { name, jku, revoked } = this.#rule;
    const own = { name, ...(jku === null ? {} : { jku }), revoked };
    if (this.#held === null) return { ...own, keys: [], fetchedAt: null, usable: false };
    return { ...this.#held.set, ...own, usable: now < this.usableUntil() };
  }

  /** "A key set older than `keysMaxStale` verifies nothing", save that fresh keys are never too old. */
  usableUntil(): EpochMs {
    if (this.#held === null) return epochMs(Number.POSITIVE_INFINITY);
    const { fetchedAt } = this.#held;
    return later(fetchedAt, ms(Math.max(this.#parts.maxStale(), this.#freshFor(this.#held)) + 1));
  }

  lastSuccess(): EpochMs {
    return this.#held?.fetchedAt ?? epochMs(0);
  }

  /** Asks for the keys, or waits for whoever is asking; nothing is asked within the cool-down of the last attempt. */
  async renew(): Promise<void> {
    const now = this.#parts.clock.now();
    const tried = this.#triedAt;
    const isCooling = tried !== null && isDuring(now, tried, later(tried, COOL_DOWN));
    if (this.#flight !== null || !isCooling) await this.#fetch();
  }

  async settled(): Promise<void> {
    await this.#flight;
  }

  /** Ends what is on its way: nothing that comes after this is kept. */
  stop(): void {
    this.#stopping.abort();
    this.#cancel();
  }

  #fetch(): Promise<void> {
    return (this.#flight ??= this.#attempt().finally(() => (this.#flight = null)));
  }

  async #attempt(): Promise<void> {
    const { clock, fetchKeys, changed } = this.#parts;
    this.#triedAt = clock.now();
    const fetched = await fetchKeys(this.#rule, this.#stopping.signal, this.#held);
    if (fetched === null) this.#failures += 1;
    else {
      this.#held = fetched;
      this.#failures = 0;
    }
    changed();
    this.#plan();
  }

  #plan(): void {
    if (this.#stopping.signal.aborted) return;
    this.#cancel();
    this.#cancel = this.#parts.clock.after(this.#delay(), () => void this.#fetch());
  }

  #delay(): Ms {
    const chance = this.#parts.clock.random();
    if (this.#failures === 0 && this.#held !== null) return ms(this.#freshFor(this.#held) * (0.9 + 0.1 * chance));
    const backoff = Math.min(FIRST_RETRY * 2 ** Math.min(this.#failures - 1, 20), LAST_RETRY);
    return ms(backoff * (0.5 + 0.5 * chance));
  }

  /** Keys that may be used for a short time only are asked for within it. */
  #freshFor({ freshFor }: FetchedKeys): Ms {
    const maxStale = this.#parts.maxStale();
    return maxStale > 0 ? ms(Math.min(freshFor, maxStale)) : freshFor;
  }
}
