import type { Bytes } from '../kernel/units.ts';

/** What stands in an order of use. It says itself who is next to it: a map beside it would take 170 bytes for each. */
export interface InUse<T> {
  /** What it is charged for. */
  readonly size: Bytes;
  /** Who was used last before it, and first after it: nobody at the ends, and where it stands in no order. */
  older: T | null;
  newer: T | null;
}

/** Things in the order of their last use, and what they are charged for together. */
export class UseOrder<T extends InUse<T>> {
  #oldest: T | null = null;
  #newest: T | null = null;
  #bytes = 0;

  /** Whose last use is longest ago. */
  get oldest(): T | null {
    return this.#oldest;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Puts in what stands in no order, as used just now. */
  add(one: T): void {
    this.#append(one);
    this.#bytes += one.size;
  }

  /** Nothing happens to what is not in it. */
  use(one: T): void {
    if (one === this.#newest || !this.#has(one)) return;
    this.#takeOut(one);
    this.#append(one);
  }

  /** Nothing happens to what is not in it. */
  remove(one: T): void {
    if (!this.#has(one)) return;
    this.#takeOut(one);
    this.#bytes -= one.size;
  }

  /** All of them, the oldest first. */
  members(): readonly T[] {
    const all: T[] = [];
    for (let one = this.#oldest; one !== null; one = one.newer) all.push(one);
    return all;
  }

  #has(one: T): boolean {
    return one.older !== null || one === this.#oldest;
  }

  #append(one: T): void {
    one.older = this.#newest;
    if (this.#newest === null) this.#oldest = one;
    else this.#newest.newer = one;
    this.#newest = one;
  }

  #takeOut(one: T): void {
    const { older, newer } = one;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    one.older = null;
    one.newer = null;
  }
}
