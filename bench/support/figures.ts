/** What is done with measured values: medians, ratios in pairs, percentiles. */

/** The middle one; of an even number the mean of the two in the middle. NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2;
}

/** The median of the ratios round by round: what slows a whole round down falls out. */
export function medianRatio(values: readonly number[], floors: readonly number[]): number {
  return median(values.map((value, round) => value / (floors[round] ?? Number.NaN)));
}

/** The smallest value that at least this share (0 to 1) does not exceed. NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** To so many digits after the point, as a number. */
export const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));

/** CPU seconds per 100,000 requests. */
export const per100k = (cpuSeconds: number, requests: number): number => (cpuSeconds / requests) * 100_000;
