import type { CachePolicy } from '../kernel/cache-policy.ts';
import type { Entry } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import { epochMs } from '../kernel/units.ts';
import { entityTagOf, isStrong, strongMatch, weakMatch } from './etag.ts';
import { endToEnd } from '../kernel/end-to-end.ts';
import { fieldLines, fieldPairs, fieldValue, withoutFields } from './fields.ts';
import { initialAge, lifetimeOf, mostRecent, type Received } from './freshness.ts';
import { formatHttpDate, parseHttpDate } from './http-date.ts';

export { evaluateConditions } from './conditions.ts';

/** The parts of an entry that a validation changes. */
export type Validated = Pick<Entry, 'fields' | 'requestedAt' | 'receivedAt' | 'initialAge' | 'lifetime'>;

/**
 * Makes the conditions of a validation request (RFC 9111 §4.3.1): the origin's entity tags of all stored responses that the 304 may
 * name, and Last-Modified where only one is asked about. Empty where nothing stored has a usable validator.
 */
export function conditionFields(entries: readonly Pick<Entry, 'fields'>[]): Fields {
  const tags = new Set(entries.map((entry) => entityTagOf(entry.fields)).filter((tag) => tag !== undefined));
  const conditions = tags.size === 0 ? [] : ['If-None-Match', [...tags].join(', ')];
  const [only, ...others] = entries;
  const modified = only === undefined || others.length > 0 ? undefined : lastModifiedOf(only.fields);
  return modified === undefined ? conditions : [...conditions, 'If-Modified-Since', modified];
}

/**
 * Names the stored responses that a 304 updates (RFC 9111 §4.3.4): those with its strong entity tag; else the most recent with its
 * weak validator; else, where it has none, the only one asked about. None where it speaks of something that is not stored.
 */
export function selectForUpdate(entries: readonly Entry[], notModified: Fields): readonly Entry[] {
  const tag = entityTagOf(notModified);
  if (tag !== undefined && isStrong(tag)) return entries.filter((entry) => holdsTag(entry, tag, strongMatch));
  const modified = lastModifiedOf(notModified);
  if (tag === undefined && modified === undefined) return entries.length === 1 ? entries : [];
  const candidates = entries.filter((entry) =>
    tag === undefined ? fieldValue(entry.fields, 'last-modified') === modified : holdsTag(entry, tag, weakMatch),
  );
  const selected = mostRecent(candidates);
  return selected === undefined ? [] : [selected];
}

/** Says whether a 304 to conditions of one stored response can be about it: it names its tag, or none (RFC 9111 §4.3.4). */
export function mayConfirm(stored: Fields, notModified: Fields): boolean {
  const [tag, named] = [entityTagOf(stored), entityTagOf(notModified)];
  return named === undefined || (tag !== undefined && weakMatch(tag, named));
}

/**
 * Updates a stored response by a 304 (RFC 9111 §3.2, §4.3.4): what the 304 says replaces what was stored, except for fields that
 * describe the stored bytes; times and lifetime are reckoned anew. The caller asks `storable` and `varyNames` about the result.
 */
export function mergeNotModified(entry: Entry, response: Received, policy: CachePolicy): Validated {
  const { requestedAt, receivedAt } = response;
  const update = withoutFields(withDate(endToEnd(response.fields), response), OF_THE_BYTES);
  const fields = updateFields(entry.fields, update);
  return {
    fields,
    requestedAt,
    receivedAt,
    initialAge: initialAge({ fields: update, requestedAt, receivedAt }),
    lifetime: lifetimeOf({ status: entry.status, fields, receivedAt }, policy),
  };
}

/** What a HEAD says of a stored GET response. */
export type HeadVerdict =
  | { readonly stored: 'updated'; readonly parts: Validated }
  /** The representation is another one now. */
  | { readonly stored: 'outdated' }
  /** Not a 200: it says nothing of what is stored. */
  | { readonly stored: 'unconcerned' };

/** Updates a stored response by the answer to a HEAD (RFC 9111 §4.3.5): only a 200 whose validators and length are those stored. */
export function updateFromHead(
  entry: Entry,
  response: Received & { readonly status: number },
  policy: CachePolicy,
): HeadVerdict {
  if (response.status !== 200 || entry.status !== 200) return { stored: 'unconcerned' };
  for (const name of ['etag', 'last-modified', 'content-length']) {
    const said = fieldValue(response.fields, name);
    if (said !== undefined && said !== storedValue(entry, name)) return { stored: 'outdated' };
  }
  return { stored: 'updated', parts: mergeNotModified(entry, response, policy) };
}

const storedValue = (entry: Entry, name: string): string | undefined =>
  name === 'content-length' ? String(entry.body.byteLength) : fieldValue(entry.fields, name);

/**
 * Not updated though RFC 9111 §3.2 excepts Content-Length alone: it lets a cache omit fields "necessary to ensure integrity of the
 * stored response", and all of these say something about bytes that a 304 does not bring.
 */
const OF_THE_BYTES: ReadonlySet<string> = new Set([
  'content-digest',
  'content-encoding',
  'content-length',
  'content-md5',
  'content-range',
  'etag',
  'repr-digest',
]);

/** An Age is of the response that brought it, never inherited. */
const OF_THE_EXCHANGE: readonly string[] = ['age'];

/** Puts the fields of an update in place of the stored ones of the same names (RFC 9111 §3.2). */
export function updateFields(stored: Fields, update: Fields): Fields {
  const replaced = new Set(OF_THE_EXCHANGE);
  for (const [name] of fieldPairs(update)) replaced.add(name.toLowerCase());
  return [...withoutFields(stored, replaced), ...update];
}

/** "A recipient with a clock that receives a response message without a Date header field MUST record the time it was received" — RFC 9110 §6.6.1 */
const withDate = (fields: Fields, { receivedAt }: Received): Fields =>
  fieldLines(fields, 'date').length > 0 ? fields : [...fields, 'Date', formatHttpDate(receivedAt)];

const holdsTag = (entry: Entry, tag: string, matches: (one: string, other: string) => boolean): boolean => {
  const held = entityTagOf(entry.fields);
  return held !== undefined && matches(held, tag);
};

/** The Last-Modified of a response as it stands, where it is one valid date: servers compare it as text. */
function lastModifiedOf(fields: Fields): string | undefined {
  const [line, ...others] = fieldLines(fields, 'last-modified');
  return line === undefined || others.length > 0 || parseHttpDate(line, epochMs(0)) === undefined
    ? undefined
    : line.trim();
}
