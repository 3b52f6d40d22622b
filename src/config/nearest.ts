/** Finds the known word that a mistyped one was most likely meant to be; null when none is near. */
export function nearest(word: string, known: Iterable<string>): string | null {
  const folded = fold(word);
  let best: string | null = null;
  // A third of the letters wrong is another word: "key" is not a slip for "hosts".
  let bound = Math.max(1, Math.floor(folded.length / 3)) + 1;
  for (const candidate of known) {
    const away = isLonger(folded, fold(candidate)) ? 1 : distance(folded, fold(candidate), bound);
    if (away >= bound) continue;
    best = candidate;
    bound = away;
  }
  return best;
}

/** Makes `max_stale`, `max-stale` and `MaxStale` one word: the commonest slip is another convention. */
const fold = (word: string): string => word.toLowerCase().replaceAll(/[-_. ]/g, '');

/** `warning` for `warn`, `lvl` not for `level`: one word begins with the other. */
const isLonger = (one: string, other: string): boolean =>
  Math.min(one.length, other.length) >= 3 && one !== other && (one.startsWith(other) || other.startsWith(one));

/** Counts insertions, deletions, replacements and swaps of neighbours (optimal string alignment); `bound` when there are that many. */
function distance(a: string, b: string, bound: number): number {
  if (Math.abs(a.length - b.length) >= bound) return bound;
  let before: readonly number[] = [];
  let above: readonly number[] = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      line.push(
        Math.min(
          at(above, column) + 1,
          at(line, column - 1) + 1,
          at(above, column - 1) + (same ? 0 : 1),
          swapped ? at(before, column - 2) + 1 : bound,
        ),
      );
    }
    before = above;
    above = line;
  }
  return Math.min(bound, at(above, b.length));
}

const at = (line: readonly number[], index: number): number => line[index] ?? Number.POSITIVE_INFINITY;
