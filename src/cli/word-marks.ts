/** A word of a text, or the space between two, and whether the other text lacks it. */
export interface Word {
  readonly text: string;
  readonly marked: boolean;
}

/** Comparing all words with all words costs their product: beyond this the middle is marked whole. */
const LARGEST_TABLE = 4_000_000;

/** Marks the words by which two texts differ: those that only the first has, and those that only the second has. */
export function markWords(before: string, after: string): readonly [readonly Word[], readonly Word[]] {
  const [old, now] = [split(before), split(after)];
  const head = commonLength(old, now);
  const tail = commonLength(old.slice(head).toReversed(), now.slice(head).toReversed());
  const middle = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)] as const;
  const kept = longestCommon(...middle);
  const around = (words: readonly string[], side: 0 | 1): readonly Word[] => [
    ...words.slice(0, head).map(unmarked),
    ...middle[side].map((text, at) => ({ text, marked: !kept[side].has(at) && text.trim() !== '' })),
    ...words.slice(words.length - tail).map(unmarked),
  ];
  return [around(old, 0), around(now, 1)];
}

/** Texts without a counterpart have nothing to be marked against. */
export const wordsOf = (text: string): readonly Word[] => split(text).map(unmarked);

const unmarked = (text: string): Word => ({ text, marked: false });

/** Words, and runs of spaces by themselves; every line break is its own. */
const split = (text: string): readonly string[] => text.match(/\n|[^\S\n]+|\S+/gu) ?? [];

function commonLength(one: readonly string[], other: readonly string[]): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  return at;
}

/** The places, in each, of the longest sequence of words that both have. */
function longestCommon(
  one: readonly string[],
  other: readonly string[],
): readonly [ReadonlySet<number>, ReadonlySet<number>] {
  const kept: [Set<number>, Set<number>] = [new Set(), new Set()];
  const width = other.length + 1;
  if ((one.length + 1) * width > LARGEST_TABLE) return kept;
  const lengths = new Uint32Array((one.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = one.length - 1; i >= 0; i -= 1)
    for (let j = other.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] = one[i] === other[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    if (one[i] === other[j]) {
      kept[0].add(i++);
      kept[1].add(j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return kept;
}
