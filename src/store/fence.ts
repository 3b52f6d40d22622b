import { type Generation, type Tag, generation } from '../kernel/ids.ts';

/** Remembers what was purged when, so that a fetch that began before cannot put it back. */
export interface Fence {
  now(): Generation;
  /** Moves the generation and marks the tags. */
  raise(tags: readonly Tag[]): void;
  /** True where none of the tags was purged after `since`. */
  lets(tags: readonly Tag[], since: Generation): boolean;
}

/** More distinct tags than this in memory at once, and the oldest mark is widened to everything: safe, and bounded. */
const MOST_MARKS = 10_000;

export function createFence(): Fence {
  const marks = new Map<Tag, number>();
  let current = 0;
  let floor = 0;
  const forgetOldest = (): void => {
    for (const [tag, at] of marks) {
      marks.delete(tag);
      floor = Math.max(floor, at);
      return;
    }
  };
  return {
    now: () => generation(current),
    raise(tags) {
      current += 1;
      for (const tag of tags) {
        marks.delete(tag);
        marks.set(tag, current);
        if (marks.size > MOST_MARKS) forgetOldest();
      }
    },
    lets: (tags, since) => since >= floor && tags.every((tag) => (marks.get(tag) ?? 0) <= since),
  };
}
