import type { Fields } from '../kernel/fields.ts';
import { entityTagOf, strongMatch } from './etag.ts';
import { type FieldReader, fieldLines, fieldValue } from './fields.ts';
import { isStrongDate } from './freshness.ts';

/** A run of bytes by first and last position, both included (RFC 9110 §14.1.2). */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** One range as asked for; `first` null is a suffix of `last` bytes, `last` null goes to the end. */
export interface RangeSpec {
  readonly first: number | null;
  readonly last: number | null;
}

/** The bytes of a representation that are at hand: where they stand in it, and its whole length where that is known. */
export interface Held {
  readonly span: Span;
  readonly complete: number | null;
  readonly body: Uint8Array;
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
/** More ranges than this are an attack, not a request ("servers ought to ignore … many small ranges" — RFC 9110 §14.2). */
const MOST_RANGES = 16;

/** Parses `Range: bytes=…`; undefined for another unit or anything malformed, which means: ignore it (RFC 9110 §14.2). */
export function parseRange(text: string): readonly RangeSpec[] | undefined {
  const set = /^bytes=(.*)$/i.exec(text.trim())?.[1];
  const members = set
    ?.split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '');
  if (members === undefined || members.length === 0 || members.length > MOST_RANGES) return undefined;
  const specs = members.map(parseSpec);
  return specs.every((spec) => spec !== undefined) ? specs : undefined;
}

function parseSpec(member: string): RangeSpec | undefined {
  const found = /^(\d*)-(\d*)$/.exec(member);
  const [from, to] = [found?.[1] ?? '', found?.[2] ?? ''];
  if (from.length + to.length === 0 || from.length > MOST_DIGITS || to.length > MOST_DIGITS) return undefined;
  const spec = { first: from === '' ? null : Number(from), last: to === '' ? null : Number(to) };
  return spec.first !== null && spec.last !== null && spec.last < spec.first ? undefined : spec;
}

/** Parses the `Content-Range` of a 206 with one part; undefined where there is none or it contradicts itself. */
export function contentRange(fields: Fields): { readonly span: Span; readonly complete: number | null } | undefined {
  const [line, ...others] = fieldLines(fields, 'content-range');
  const found = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(line?.trim() ?? '');
  if (found === null || others.length > 0) return undefined;
  const span = { first: Number(found[1]), last: Number(found[2]) };
  const complete = found[3] === '*' ? null : Number(found[3]);
  return span.last < span.first || (complete !== null && span.last >= complete) ? undefined : { span, complete };
}

/** Says which bytes a stored response holds: all of a complete one, the stated part of a 206; undefined where that is not what it has. */
export function heldBytes(stored: {
  readonly status: number;
  readonly fields: Fields;
  readonly body: Uint8Array;
}): Held | undefined {
  const { status, fields, body } = stored;
  if (status !== 206) return { span: { first: 0, last: body.byteLength - 1 }, complete: body.byteLength, body };
  const stated = contentRange(fields);
  return stated !== undefined && stated.span.last - stated.span.first + 1 === body.byteLength
    ? { ...stated, body }
    : undefined;
}

/**
 * Answers a GET from the bytes at hand. One range, or several that touch, is served as one part; ranges that do not touch are ignored
 * and everything is served, since a multipart answer is never smaller than asking twice and costs every client a parser.
 */
export function answerRange(
  reader: FieldReader,
  stored: { readonly status: number; readonly fields: Fields; readonly body: Uint8Array },
): RangeAnswer {
  const held = heldBytes(stored);
  const range = reader('range');
  const specs = range === undefined || !rangeApplies(reader('if-range'), stored.fields) ? undefined : parseRange(range);
  if (held === undefined) return { serve: 'missing' };
  const whole: RangeAnswer = isWhole(held) ? { serve: 'whole' } : { serve: 'missing' };
  if (specs === undefined) return whole;
  const spans = specs.map((spec) => spanOf(spec, held)).filter((span) => span !== undefined);
  if (spans.length === 0)
    return held.complete === null
      ? { serve: 'missing' }
      : { serve: 'unsatisfiable', contentRange: `bytes */${held.complete}` };
  const joined = joinSpans(spans);
  return joined === undefined ? whole : slice(held, joined);
}

const isWhole = ({ span, complete }: Held): boolean =>
  span.first === 0 && complete !== null && span.last + 1 === complete;

/** The positions that a range means in this representation; undefined where it lies beyond its end. Unknown ends are as far as is held. */
function spanOf({ first, last }: RangeSpec, { complete, span }: Held): Span | undefined {
  const end = complete === null ? Number.MAX_SAFE_INTEGER : complete - 1;
  if (first === null) {
    const suffix = last ?? 0;
    return suffix === 0 || end < 0 ? undefined : { first: Math.max(0, end - suffix + 1), last: end };
  }
  if (first > end) return undefined;
  const upTo = Math.min(last ?? end, end);
  return { first, last: complete === null && last === null ? Math.max(first, span.last + 1) : upTo };
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

function slice(held: Held, wanted: Span): RangeAnswer {
  if (wanted.first < held.span.first || wanted.last > held.span.last) return { serve: 'missing' };
  const body = held.body.subarray(wanted.first - held.span.first, wanted.last - held.span.first + 1);
  return { serve: 'part', contentRange: `bytes ${wanted.first}-${wanted.last}/${held.complete ?? '*'}`, body };
}

/** If-Range: the Range counts only while the representation is the one that the client has part of (RFC 9110 §13.1.5). */
export function rangeApplies(ifRange: string | undefined, fields: Fields): boolean {
  if (ifRange === undefined) return true;
  const condition = ifRange.trim();
  const tag = entityTagOf(fields);
  if (condition.includes('"')) return tag !== undefined && strongMatch(condition, tag);
  return condition === fieldValue(fields, 'last-modified')?.trim() && isStrongDate(fields);
}

/**
 * Combines two parts of one representation (RFC 9111 §3.4): "if they share the same strong validator", and touch. Undefined where
 * they do not belong together.
 */
export function combineParts(
  stored: { readonly fields: Fields; readonly held: Held },
  arrived: { readonly fields: Fields; readonly held: Held },
): Held | undefined {
  const [old, fresh] = [entityTagOf(stored.fields), entityTagOf(arrived.fields)];
  if (old === undefined || fresh === undefined || !strongMatch(old, fresh)) return undefined;
  const [left, right] =
    stored.held.span.first <= arrived.held.span.first ? [stored.held, arrived.held] : [arrived.held, stored.held];
  if (right.span.first > left.span.last + 1 || disagree(left.complete, right.complete)) return undefined;
  const tail = right.body.subarray(Math.min(right.body.byteLength, left.span.last + 1 - right.span.first));
  const body = new Uint8Array(left.body.byteLength + tail.byteLength);
  body.set(left.body);
  body.set(tail, left.body.byteLength);
  return {
    span: { first: left.span.first, last: left.span.first + body.byteLength - 1 },
    complete: left.complete ?? right.complete,
    body,
  };
}

const disagree = (one: number | null, other: number | null): boolean => one !== null && other !== null && one !== other;

/** The Range that would complete what is held: only a beginning can be completed by one request. */
export const rangeToComplete = ({ span, complete }: Held): string | undefined =>
  span.first === 0 && complete !== null && span.last + 1 < complete ? `bytes=${span.last + 1}-` : undefined;
