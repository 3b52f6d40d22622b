import { type Seconds, seconds } from '../kernel/units.ts';
import type { FieldReader } from './fields.ts';
import { cutList } from './lists.ts';

/** What a Cache-Control field says, as one record; null where a directive with a value is absent. */
export interface Directives {
  readonly noStore: boolean;
  /** Also the qualified form: "many caches" treat it so, and it never lengthens (RFC 9111 §5.2.2.4). */
  readonly noCache: boolean;
  /** Also the qualified form (RFC 9111 §5.2.2.7). */
  readonly private: boolean;
  readonly public: boolean;
  readonly mustRevalidate: boolean;
  readonly proxyRevalidate: boolean;
  readonly mustUnderstand: boolean;
  /** RFC 8246. */
  readonly immutable: boolean;
  readonly onlyIfCached: boolean;
  readonly maxAge: Seconds | null;
  readonly sMaxage: Seconds | null;
  readonly minFresh: Seconds | null;
  /** Without a value: as long as can be said. */
  readonly maxStale: Seconds | null;
  /** RFC 5861. */
  readonly staleWhileRevalidate: Seconds | null;
  readonly staleIfError: Seconds | null;
}

/** Says nothing at all. */
export const NO_DIRECTIVES: Directives = {
  noStore: false,
  noCache: false,
  private: false,
  public: false,
  mustRevalidate: false,
  proxyRevalidate: false,
  mustUnderstand: false,
  immutable: false,
  onlyIfCached: false,
  maxAge: null,
  sMaxage: null,
  minFresh: null,
  maxStale: null,
  staleWhileRevalidate: null,
  staleIfError: null,
};

/** "MUST consider the value to be 2147483648 (2^31)" where it is greater than can be represented — RFC 9111 §1.2.2. */
export const MOST_SECONDS = seconds(2 ** 31);

type Named<Kind> = {
  readonly [Name in keyof Directives]: Directives[Name] extends Kind ? Name : never;
}[keyof Directives];
export type Flag = Named<boolean>;
export type Delta = Exclude<keyof Directives, Flag>;

/** Directives that only ever restrict: they are obeyed in whatever form they come. */
export const RESTRICTIONS: ReadonlyMap<string, Flag> = new Map([
  ['no-store', 'noStore'],
  ['no-cache', 'noCache'],
  ['private', 'private'],
  ['must-revalidate', 'mustRevalidate'],
  ['proxy-revalidate', 'proxyRevalidate'],
  ['only-if-cached', 'onlyIfCached'],
]);

/** Directives that allow more than silence would: they count only in the exact form. */
export const PERMISSIONS: ReadonlyMap<string, Flag> = new Map([
  ['public', 'public'],
  ['must-understand', 'mustUnderstand'],
  ['immutable', 'immutable'],
]);

/** Directives with delta-seconds. */
export const DELTAS: ReadonlyMap<string, Delta> = new Map([
  ['max-age', 'maxAge'],
  ['s-maxage', 'sMaxage'],
  ['min-fresh', 'minFresh'],
  ['max-stale', 'maxStale'],
  ['stale-while-revalidate', 'staleWhileRevalidate'],
  ['stale-if-error', 'staleIfError'],
]);

/** One directive as found in the text. */
interface Found {
  readonly name: string;
  /** Null where there is no `=`. */
  readonly value: string | null;
  /** False for anything but `token` or `token=value`; such a thing may restrict, never permit. */
  readonly exact: boolean;
}

/**
 * Parses the lines of a Cache-Control field of a response (RFC 9111 §5.2). Names in any case, values as token or quoted-string; of a
 * directive that stands twice the most restrictive counts; a known directive with a malformed value is as if it were 0, because
 * "caches are encouraged to consider responses that have invalid freshness information to be stale" (§4.2.1); what is not known
 * is ignored (§5.2.3). Never throws.
 */
export const parseCacheControl = (lines: readonly string[]): Directives => combine(lines, seconds(0));

/**
 * Parses a caller's Cache-Control, else its `Pragma: no-cache`, which then says the same (RFC 9111 §5.4). A malformed value is
 * ignored: the caller's nonsense harms nobody but costs the origin nothing either.
 */
export function requestDirectives(reader: FieldReader): Directives {
  const text = reader('cache-control');
  if (text !== undefined) return combine([text], null);
  return pragmaNoCache(reader('pragma')) ? { ...NO_DIRECTIVES, noCache: true } : NO_DIRECTIVES;
}

/** Says whether a Pragma field holds `no-cache`. */
export const pragmaNoCache = (pragma: string | undefined): boolean =>
  pragma !== undefined && pragma.split(',').some((member) => member.trim().toLowerCase() === 'no-cache');

type Writable = { -readonly [Name in keyof Directives]: Directives[Name] };

function combine(lines: readonly string[], malformed: Seconds | null): Directives {
  const said: Writable = { ...NO_DIRECTIVES };
  for (const line of lines) for (const found of findDirectives(line)) apply(said, found, malformed);
  return said;
}

function apply(said: Writable, found: Found, malformed: Seconds | null): void {
  const flag =
    RESTRICTIONS.get(found.name) ?? (found.exact && found.value === null ? PERMISSIONS.get(found.name) : undefined);
  if (flag !== undefined) said[flag] = true;
  const delta = DELTAS.get(found.name);
  if (delta === undefined) return;
  const value = (found.exact ? deltaSeconds(found, delta) : null) ?? malformed;
  if (value !== null) said[delta] = tighter(delta, said[delta], value);
}

function deltaSeconds(found: Found, delta: Delta): Seconds | null {
  if (found.value === null) return delta === 'maxStale' ? MOST_SECONDS : null;
  return /^\d+$/.test(found.value) ? clampSeconds(Number(found.value)) : null;
}

/** Brings a number of seconds into the range that can be represented. */
export const clampSeconds = (value: number): Seconds => seconds(Math.min(Math.max(value, 0), MOST_SECONDS));

/** Keeps the more restrictive of two values: for `min-fresh` that is the larger one. */
export function tighter(delta: Delta, before: Seconds | null, value: Seconds): Seconds {
  if (before === null) return value;
  return seconds(delta === 'minFresh' ? Math.max(before, value) : Math.min(before, value));
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const QUOTED = /^"(?:[^"\\]|\\[^])*"$/;

/** Cuts a line into directives. From a quote that is never closed on, nothing is exact: it may hide a restriction, not grant anything. */
function findDirectives(line: string): readonly Found[] {
  const { members, unclosed } = cutList(line);
  return [...members.flatMap(readDirectives), ...(unclosed === null ? [] : wordsOf(unclosed))];
}

/**
 * A member is one directive, `token` or `token=value` with a token or quoted-string. In one that is malformed (`no-store; max-age=60`,
 * `x="a, no-store="b`) every word may be meant as one.
 */
function readDirectives(member: string): readonly Found[] {
  const equals = member.indexOf('=');
  const name = equals === -1 ? member : member.slice(0, equals);
  const value = equals === -1 ? null : member.slice(equals + 1);
  if (!TOKEN.test(name) || (value !== null && !TOKEN.test(value) && !QUOTED.test(value))) return wordsOf(member);
  return [{ name: name.toLowerCase(), value: value === null ? null : unquote(value), exact: true }];
}

const wordsOf = (text: string): readonly Found[] =>
  text.split(/[\s,;="]+/).map((word) => ({ name: word.toLowerCase(), value: null, exact: false }));

const unquote = (value: string): string => (QUOTED.test(value) ? value.slice(1, -1).replace(/\\([^])/g, '$1') : value);
