import { type JsonObject, isObject, present } from '../card/json.ts';
import type { RegistryStatus } from '../kernel/registry.ts';

/** The official extension of the AI Catalog format that says where a version stands. */
const LIFECYCLE = 'https://ai-catalog.org/extensions/lifecycle';

/** Words for a status: those that the extension recommends, our own, and what is widely written for the same. */
const WORDS: ReadonlyMap<string, RegistryStatus> = new Map<string, RegistryStatus>([
  ['active', 'approved'],
  ['approved', 'approved'],
  ['ga', 'approved'],
  ['generally-available', 'approved'],
  ['stable', 'approved'],
  ['preview', 'pending'],
  ['pending', 'pending'],
  ['alpha', 'pending'],
  ['beta', 'pending'],
  ['rc', 'pending'],
  ['draft', 'pending'],
  ['deprecated', 'deprecated'],
  ['sunset', 'deprecated'],
  ['obsolete', 'deprecated'],
  ['end-of-support', 'deprecated'],
  ['retired', 'retired'],
  ['eol', 'retired'],
  ['end-of-life', 'retired'],
  ['revoked', 'revoked'],
  ['withdrawn', 'revoked'],
  ['suspended', 'revoked'],
]);

/** How an entry stands, and the registry's own word for it. */
export interface Stated {
  readonly status: RegistryStatus;
  readonly word: string;
}

/**
 * Reads how an entry stands. One without the extension is listed like any other, and being listed is what approves it. A word that
 * nobody knows is `unknown`: `sunset`-like words must not pass for `active`.
 */
export function statusOf(entry: JsonObject): Stated {
  const extensions = present(entry, 'extensions');
  const lifecycle = isObject(extensions) ? present(extensions, LIFECYCLE) : undefined;
  if (lifecycle === undefined) return { status: 'approved', word: 'listed' };
  const word = isObject(lifecycle) ? present(lifecycle, 'status') : undefined;
  if (word === undefined && isObject(lifecycle)) return { status: 'approved', word: 'listed' };
  if (typeof word !== 'string') return { status: 'unknown', word: 'a lifecycle that is no text' };
  return { status: WORDS.get(word.trim().toLowerCase()) ?? 'unknown', word };
}

/** From what lets most through to what lets least. */
const STRICTNESS: readonly RegistryStatus[] = ['approved', 'deprecated', 'pending', 'unknown', 'retired', 'revoked'];

export const isStricter = (one: Pick<Stated, 'status'>, other: Pick<Stated, 'status'>): boolean =>
  STRICTNESS.indexOf(one.status) > STRICTNESS.indexOf(other.status);

/** The stricter of two: what is inside a retired catalog is retired with it. */
export const stricter = (one: Stated, other: Stated): Stated => (isStricter(other, one) ? other : one);
