import type { Fields } from '../kernel/fields.ts';
import { entityTagOf, strongMatch } from './etag.ts';
import { type FieldReader, fieldValue } from './fields.ts';
import { isStrongDate } from './freshness.ts';
import { type Held, heldBytes, isWhole, type Span, type StoredBytes } from './parts.ts';

/** One range as asked for; `first` null is a suffix of `last` bytes, `last` null goes to the end. */
export interface RangeSpec {
  readonly first: number | null;
  readonly last: number | null;
}

/** What a Range makes of an answer. */
export type RangeAnswer =
  /** Serve everything, as if there were no Range. */
  | { readonly serve: 'whole' }
  /** 206 with `Content-Range` and these bytes. */
  | { readonly serve: 'part'; readonly contentRange: string; readonly body: Uint8Array }
  /** 416 with `Content-Range`: there are no such bytes. */
  | { readonly serve: 'unsatisfiable'; readonly contentRange: string }
  /** The bytes are not at hand: ask the origin. */
  | { readonly serve: 'missing' };

/** Larger positions are beyond any body, and beyond exact arithmetic. */
const MOST_DIGITS = 15;
/** "A server that supports range requests MAY ignore … many small ranges", which are an attack — RFC 9110 §14.2. */
const MOST_RANGES = 16;

/** Parses `Range: bytes=…`; undefined for another unit or anything malformed, which means: ignore it (RFC 9110 §14.2). */
export function parseRange(text: string): readonly RangeSpec[] | undefined {
  const set = /^bytes=(.*)$/i.exec(text.trim())?.[1] ?? '';
  const members = set.split(',').map((member) => member.trim());
  const specs = members.filter((member) => member !== '').map(parseSpec);
  if (specs.length === 0 || specs.length > MOST_RANGES) return undefined;
  return specs.every((spec) => spec !== undefined) ? specs : undefined;
}

function parseSpec(member: string): RangeSpec | undefined {
  const found = /^(\d*)-(\d*)$/.exec(member);
  const [from, to] = [found?.[1] ?? '', found?.[2] ?? ''];
  if (from.length + to.length === 0 || from.length > MOST_DIGITS || to.length > MOST_DIGITS) return undefined;
  const spec = { first: from === '' ? null : Number(from), last: to === '' ? null : Number(to) };
  return spec.first !== null && spec.last !== null && spec.last < spec.first ? undefined : spec;
}

/**
 * Answers a GET from the bytes at hand. One range, or several that touch, is served as one part; where ranges do not touch everything
 * is served: a multipart answer costs every client a parser, and a cache may ignore Range (RFC 9110 §14.2).
 */
export function answerRange(reader: FieldReader, stored: StoredBytes): RangeAnswer {
  const held = heldBytes(stored);
  if (held === undefined) return { serve: 'missing' };
  const whole: RangeAnswer = { serve: isWhole(held) ? 'whole' : 'missing' };
  const range = reader('range');
  const specs = range !== undefined && rangeApplies(reader('if-range'), stored.fields) ? parseRange(range) : undefined;
  if (specs === undefined) return whole;
  const spans = specs.map((spec) => spanOf(spec, held)).filter((span) => span !== undefined);
  if (spans.length === 0) return nothingThere(held);
  const joined = joinSpans(spans);
  return joined === undefined ? whole : slice(held, joined);
}

/** If-Range: the Range counts only while the representation is the one that the client has part of (RFC 9110 §13.1.5). */
export function rangeApplies(ifRange: string | undefined, fields: Fields): boolean {
  if (ifRange === undefined) return true;
  const condition = ifRange.trim();
  const tag = entityTagOf(fields);
  if (condition.includes('"')) return tag !== undefined && strongMatch(condition, tag);
  return condition === fieldValue(fields, 'last-modified')?.trim() && isStrongDate(fields);
}

/** Where the length is not known, the origin may have what is not held. */
const nothingThere = ({ complete }: Held): RangeAnswer =>
  complete === null ? { serve: 'missing' } : { serve: 'unsatisfiable', contentRange: `bytes */${complete}` };

/** The positions that a range means in this representation; undefined where it lies beyond its end. An unknown end is beyond all. */
function spanOf({ first, last }: RangeSpec, { complete }: Held): Span | undefined {
  const end = (complete ?? Number.MAX_SAFE_INTEGER) - 1;
  if (first !== null) return first > end ? undefined : { first, last: Math.min(last ?? end, end) };
  const suffix = last ?? 0;
  return suffix === 0 || end < 0 ? undefined : { first: Math.max(0, end - suffix + 1), last: end };
}

/** One span that covers them all, where they touch or overlap. */
function joinSpans(spans: readonly Span[]): Span | undefined {
  const [start, ...others] = spans.toSorted((one, other) => one.first - other.first);
  let joined = start;
  for (const span of others) {
    if (joined === undefined || span.first > joined.last + 1) return undefined;
    joined = { first: joined.first, last: Math.max(joined.last, span.last) };
  }
  return joined;
}

function slice({ span, complete, body }: Held, { first, last }: Span): RangeAnswer {
  if (first < span.first || last > span.last) return { serve: 'missing' };
  const bytes = body.subarray(first - span.first, last - span.first + 1);
  return { serve: 'part', contentRange: `bytes ${first}-${last}/${complete ?? '*'}`, body: bytes };
}
