import type { Entry, Lifetime } from '../kernel/entry.ts';
import type { PolicyDigest } from '../kernel/ids.ts';

/** What many entries say alike, since they have it from the same rule and the same kind of origin. */
export interface Alike extends Pick<Entry, 'variant' | 'vary' | 'status' | 'lifetime'> {
  /** The names of its fields. */
  readonly names: readonly string[];
  /** What its verdict was reached under. */
  readonly policy: PolicyDigest | null;
}

/** Holds what is alike once for all that say it. */
export interface AlikeBook {
  /** The one for this entry, which uses it from now on. */
  use(entry: Entry): Alike;
  /** Ends one use of it. */
  release(alike: Alike): void;
}

export function createAlikeBook(): AlikeBook {
  const known = new Map<string, { readonly alike: Alike; users: number }>();
  return {
    use(entry) {
      const said = alikeOf(entry);
      const text = textOf(said);
      const found = known.get(text);
      if (found === undefined) {
        // Of texts of their own: one that was cut out of another keeps all of that.
        const alike = structuredClone(said);
        known.set(text, { alike, users: 1 });
        return alike;
      }
      found.users += 1;
      return found.alike;
    },
    release(alike) {
      const text = textOf(alike);
      const found = known.get(text);
      if (found !== undefined) found.users -= 1;
      if (found?.users === 0) known.delete(text);
    },
  };
}

function alikeOf({ variant, vary, status, lifetime, fields, admission }: Entry): Alike {
  const names = fields.filter((_, at) => at % 2 === 0);
  return { variant, vary, status, lifetime, names, policy: admission?.policy ?? null };
}

const textOf = ({ variant, vary, status, lifetime, names, policy }: Alike): string =>
  JSON.stringify([variant, vary, status, names, policy, lifetimeText(lifetime)]);

function lifetimeText({ fresh, staleWhileRevalidate, staleIfError, ...flags }: Lifetime): string {
  const { validateAlways, mustRevalidate, immutable, ...more } = flags;
  more satisfies Record<string, never>;
  return [fresh, staleWhileRevalidate, staleIfError, validateAlways, mustRevalidate, immutable].join(' ');
}
