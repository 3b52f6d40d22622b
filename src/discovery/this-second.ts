import type { EpochMs } from '../kernel/units.ts';

/** What is kept for the current second: the cards of a busy sidecar many times over. */
const MOST_BYTES = 4 * 1024 * 1024;
/** An answer's objects and fields, and those of its form on the wire. */
const PER_ANSWER = 4 * 1024;
/** What is remembered about one thing: clients are of a few kinds. */
const MOST_EACH = 16;

/** Remembers a few answers about each of many things; none of them longer than the second that it was made in. */
export class ThisSecond<About, Known> {
  readonly #known = new Map<About, readonly Known[]>();
  #second = 0;
  #bytes = 0;

  /** Forgets everything where another second has begun. */
  follow(now: EpochMs): void {
    const second = Math.floor(now / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#forget();
  }

  /** The latest first. */
  of(about: About): readonly Known[] | undefined {
    return this.#known.get(about);
  }

  /** @param bytes of the answer's body and of what else is as long as somebody likes. */
  keep(about: About, known: Known, bytes: number): void {
    this.#bytes += bytes + PER_ANSWER;
    if (this.#bytes > MOST_BYTES) this.#forget();
    const others = this.#known.get(about) ?? [];
    this.#known.set(about, [known, ...others.slice(0, MOST_EACH - 1)]);
  }

  #forget(): void {
    this.#known.clear();
    this.#bytes = 0;
  }
}
