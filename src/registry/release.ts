/** What orders the versions of one artifact in a catalog. */
export interface Release {
  readonly version: string | undefined;
  /** RFC 3339. */
  readonly updatedAt: string | undefined;
}

/**
 * Compares two releases: by semantic version where both have one, else by when the entries changed. Above 0 where the first is later,
 * 0 where nothing orders them.
 */
export function compareReleases(one: Release, other: Release): number {
  const [mine, its] = [semanticVersion(one.version), semanticVersion(other.version)];
  if (mine !== undefined && its !== undefined) return comparePrecedence(mine, its);
  const [at, before] = [timeOf(one.updatedAt), timeOf(other.updatedAt)];
  return at === undefined || before === undefined ? 0 : at - before;
}

interface SemanticVersion {
  readonly core: readonly number[];
  readonly pre: readonly string[];
}

const SEMVER = /^v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:-([0-9a-z.-]+))?(?:\+[0-9a-z.-]*)?$/i;

function semanticVersion(version: string | undefined): SemanticVersion | undefined {
  const found = version === undefined ? null : SEMVER.exec(version);
  if (found === null) return undefined;
  const [, major, minor, patch, pre] = found;
  return { core: [major, minor, patch].map((part) => Number(part ?? 0)), pre: pre?.split('.') ?? [] };
}

/** SemVer 2.0.0 §11. */
function comparePrecedence(one: SemanticVersion, other: SemanticVersion): number {
  for (const [at, part] of one.core.entries()) {
    const difference = part - (other.core[at] ?? 0);
    if (difference !== 0) return difference;
  }
  // A pre-release comes before its release.
  if (one.pre.length === 0 || other.pre.length === 0) return other.pre.length - one.pre.length;
  for (const [at, part] of one.pre.entries()) {
    const its = other.pre[at];
    if (its === undefined) return 1;
    const difference = compareIdentifiers(part, its);
    if (difference !== 0) return difference;
  }
  return one.pre.length - other.pre.length;
}

function compareIdentifiers(one: string, other: string): number {
  const [mine, its] = [/^\d{1,15}$/.test(one), /^\d{1,15}$/.test(other)];
  if (mine && its) return Number(one) - Number(other);
  // "Numeric identifiers always have lower precedence than non-numeric identifiers."
  if (mine !== its) return mine ? -1 : 1;
  return one < other ? -1 : one > other ? 1 : 0;
}

function timeOf(updatedAt: string | undefined): number | undefined {
  const time = updatedAt === undefined ? Number.NaN : Date.parse(updatedAt);
  return Number.isNaN(time) ? undefined : time;
}
