import { type Generation, type Tag, generation, tag } from '../kernel/ids.ts';

/** How an entry may come in that was fetched at some generation: `stale` where what it shows was called outdated since. */
export type Passage = 'free' | 'stale' | 'barred';

/** Remembers what was purged when, so that a fetch that began before cannot put it back. */
export interface Fence {
  now(): Generation;
  /** Moves the generation and marks the tags: earlier fetches of them are barred, or after a `soft` purge come in stale. */
  raise(tags: readonly Tag[], by: 'hard' | 'soft'): void;
  passage(tags: readonly Tag[], since: Generation): Passage;
}

/** Distinct tags remembered for each way of purging, about 1 MB; of what is older, every fetch counts as purged: safe, and bounded. */
export const MOST_MARKS = 10_000;

export function createFence(): Fence {
  const hard = new Marks();
  const soft = new Marks();
  let current = 0;
  return {
    now: () => generation(current),
    raise(tags, by) {
      current += 1;
      const marks = by === 'hard' ? hard : soft;
      for (const each of tags) marks.set(each, current);
    },
    passage(tags, since) {
      if (hard.covers(tags, since)) return 'barred';
      return soft.covers(tags, since) ? 'stale' : 'free';
    },
  };
}

const ALL = tag('all');

/** The generation at which each tag was last purged. */
class Marks {
  readonly #at = new Map<Tag, number>();
  /** Everything counts as purged at this generation. */
  #floor = 0;

  set(each: Tag, at: number): void {
    if (each === ALL) {
      this.#floor = at;
      this.#at.clear();
      return;
    }
    this.#at.delete(each); // so that the order is that of the last purge
    this.#at.set(each, at);
    if (this.#at.size > MOST_MARKS) this.#forgetOldest();
  }

  covers(tags: readonly Tag[], since: Generation): boolean {
    return since < this.#floor || tags.some((each) => (this.#at.get(each) ?? 0) > since);
  }

  #forgetOldest(): void {
    const [oldest] = this.#at;
    if (oldest === undefined) return;
    this.#at.delete(oldest[0]);
    this.#floor = Math.max(this.#floor, oldest[1]);
  }
}
