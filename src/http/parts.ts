import type { Fields } from '../kernel/fields.ts';
import { entityTagOf, strongMatch } from './etag.ts';
import { fieldLines } from './fields.ts';

/** A run of bytes by first and last position, both included (RFC 9110 §14.1.2). */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** The bytes of a representation that are at hand: where they stand in it, and its whole length where that is known. */
export interface Held {
  readonly span: Span;
  readonly complete: number | null;
  readonly body: Uint8Array;
  /** False where fewer bytes came than the response said: then they are never joined to others. */
  readonly asStated: boolean;
}

/** A stored response, as far as its bytes go. */
export interface StoredBytes {
  readonly status: number;
  readonly fields: Fields;
  readonly body: Uint8Array;
}

/** Parses the `Content-Range` of a 206 with one part; undefined where there is none or it contradicts itself (RFC 9110 §14.4). */
export function contentRange(fields: Fields): { readonly span: Span; readonly complete: number | null } | undefined {
  const [line, ...others] = fieldLines(fields, 'content-range');
  const found = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i.exec(line?.trim() ?? '');
  if (found === null || others.length > 0) return undefined;
  const span = { first: Number(found[1]), last: Number(found[2]) };
  const complete = found[3] === '*' ? null : Number(found[3]);
  return span.last < span.first || (complete !== null && span.last >= complete) ? undefined : { span, complete };
}

/** Says which bytes a stored response holds: all of a complete one, its part of a 206; undefined where that cannot be. */
export function heldBytes({ status, fields, body }: StoredBytes): Held | undefined {
  const length = body.byteLength;
  if (status !== 206) return { span: { first: 0, last: length - 1 }, complete: length, body, asStated: true };
  const stated = contentRange(fields);
  const expected = stated === undefined ? 0 : stated.span.last - stated.span.first + 1;
  if (stated === undefined || length === 0 || length > expected) return undefined;
  return length === expected ? { ...stated, body, asStated: true } : shortPart(stated, body);
}

/**
 * A part of which fewer bytes came than its `Content-Range` says, though the message arrived whole: they are taken to begin where it
 * says, and to reach the end of the representation if it says that too.
 */
function shortPart(
  { span, complete }: { readonly span: Span; readonly complete: number | null },
  body: Uint8Array,
): Held {
  const end = span.first + body.byteLength;
  const reachesEnd = complete !== null && span.last + 1 === complete;
  return { span: { first: span.first, last: end - 1 }, complete: reachesEnd ? end : complete, body, asStated: false };
}

/** Says whether nothing of the representation is missing. */
export const isWhole = ({ span, complete }: Held): boolean =>
  span.first === 0 && complete !== null && span.last + 1 === complete;

/** One response's bytes and the fields that say what they belong to. */
export interface Part {
  readonly fields: Fields;
  readonly held: Held;
}

/**
 * Combines two parts of one representation (RFC 9111 §3.4): "if they share the same strong validator", and touch. Undefined where
 * they do not belong together.
 */
export function combineParts(stored: Part, arrived: Part): Held | undefined {
  if (!stored.held.asStated || !arrived.held.asStated || !sameRepresentation(stored, arrived)) return undefined;
  const [left, right] = inOrder(stored.held, arrived.held);
  if (right.span.first > left.span.last + 1) return undefined;
  const tail = right.body.subarray(Math.min(right.body.byteLength, left.span.last + 1 - right.span.first));
  const body = new Uint8Array(left.body.byteLength + tail.byteLength);
  body.set(left.body);
  body.set(tail, left.body.byteLength);
  const span = { first: left.span.first, last: left.span.first + body.byteLength - 1 };
  return { span, complete: left.complete ?? right.complete, body, asStated: true };
}

function sameRepresentation(one: Part, other: Part): boolean {
  const [tag, otherTag] = [entityTagOf(one.fields), entityTagOf(other.fields)];
  const [length, otherLength] = [one.held.complete, other.held.complete];
  const lengthsAgree = length === null || otherLength === null || length === otherLength;
  return tag !== undefined && otherTag !== undefined && strongMatch(tag, otherTag) && lengthsAgree;
}

/** Says whether what arrives is all that is missing of a stored beginning, and surely of the same representation. */
export function beginsWith(
  stored: Part,
  rest: { readonly fields: Fields; readonly span: Span; readonly complete: number | null },
): boolean {
  const { held } = stored;
  const arriving: Held = { span: rest.span, complete: rest.complete, body: NO_BYTES, asStated: true };
  return (
    held.asStated &&
    held.span.first === 0 &&
    held.complete !== null &&
    rest.complete === held.complete &&
    rest.span.first === held.span.last + 1 &&
    rest.span.last + 1 === rest.complete &&
    sameRepresentation(stored, { fields: rest.fields, held: arriving })
  );
}

const NO_BYTES = new Uint8Array();

const inOrder = (one: Held, other: Held): readonly [Held, Held] =>
  one.span.first <= other.span.first ? [one, other] : [other, one];

/** The Range that would complete what is held: only a beginning can be completed by one request. */
export const rangeToComplete = ({ span, complete }: Held): string | undefined =>
  span.first === 0 && complete !== null && span.last + 1 < complete ? `bytes=${span.last + 1}-` : undefined;
