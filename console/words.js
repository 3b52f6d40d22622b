/** Which words two texts differ by, and how long stretches without a difference are folded away. */

/** @typedef {{ readonly text: string, readonly marked: boolean }} Run neighbouring words that are marked, or are not */

/** Comparing all words with all words costs their product: beyond this the middle is marked whole. */
const LARGEST_TABLE = 1_000_000;

/**
 * Marks the words by which two texts differ: those that only the first has, and those that only the second has.
 * @param {string} before
 * @param {string} after
 * @returns {readonly [readonly Run[], readonly Run[]]}
 */
export function markWords(before, after) {
  const [old, now] = [split(before), split(after)];
  const head = commonLength(old, now, 0);
  const tail = commonLength(old.toReversed(), now.toReversed(), head);
  const [oldMiddle, nowMiddle] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)];
  const [oldKept, nowKept] = longestCommon(oldMiddle, nowMiddle);
  return [runsOf(old, head, oldKept, tail), runsOf(now, head, nowKept, tail)];
}

/** Words, and runs of spaces by themselves; every line break is its own. @param {string} text @returns {readonly string[]} */
const split = (text) => text.match(/\n|[^\S\n]+|\S+/gu) ?? [];

/**
 * How many words two texts begin alike by, of those behind the first `taken` of the other end.
 * @param {readonly string[]} one
 * @param {readonly string[]} other
 * @param {number} taken
 */
function commonLength(one, other, taken) {
  const most = Math.min(one.length, other.length) - taken;
  let at = 0;
  while (at < most && one[at] === other[at]) at += 1;
  return at;
}

/**
 * The places, in each, of the longest sequence of words that both have.
 * @param {readonly string[]} one
 * @param {readonly string[]} other
 * @returns {readonly [ReadonlySet<number>, ReadonlySet<number>]}
 */
function longestCommon(one, other) {
  /** @type {readonly [Set<number>, Set<number>]} */
  const kept = [new Set(), new Set()];
  const width = other.length + 1;
  if ((one.length + 1) * width > LARGEST_TABLE) return kept;
  const lengths = new Uint32Array((one.length + 1) * width);
  /** @param {number} i @param {number} j */
  const at = (i, j) => lengths[i * width + j] ?? 0;
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

/**
 * @param {readonly string[]} words
 * @param {number} head
 * @param {ReadonlySet<number>} kept places in the middle that both have
 * @param {number} tail
 * @returns {readonly Run[]}
 */
function runsOf(words, head, kept, tail) {
  /** @type {{ text: string[], marked: boolean }[]} */
  const runs = [];
  words.forEach((text, at) => {
    const marked = at >= head && at < words.length - tail && !kept.has(at - head);
    const last = runs.at(-1);
    if (last?.marked === marked) last.text.push(text);
    else runs.push({ text: [text], marked });
  });
  return runs.map(({ text, marked }) => ({ text: text.join(''), marked }));
}

/** What is left to read on both sides of a stretch that is folded. */
const AROUND = 160;

/**
 * Folds the middle of long stretches in which nothing differs, so that no difference is far down.
 * @param {readonly Run[]} runs
 * @returns {readonly (Run & { readonly folded?: true })[]}
 */
export const foldRuns = (runs) =>
  runs.flatMap((run, at) => {
    const [from, to] = [at === 0 ? 0 : AROUND, at === runs.length - 1 ? 0 : AROUND];
    if (run.marked || runs.length === 1 || run.text.length <= from + to + AROUND) return [run];
    const middle = run.text.slice(from, run.text.length - to);
    const parts = [
      { text: run.text.slice(0, from), marked: false },
      { text: middle, marked: false, folded: /** @type {const} */ (true) },
      { text: run.text.slice(run.text.length - to), marked: false },
    ];
    return parts.filter(({ text }) => text !== '');
  });
