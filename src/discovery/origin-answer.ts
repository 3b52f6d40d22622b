import { handedOn } from '../http/answer.ts';
import { fieldPairs, fieldValue, withField, withoutFields } from '../http/fields.ts';
import { currentAge } from '../http/freshness.ts';
import { answerRange } from '../http/range.ts';
import { evaluateConditions } from '../http/validation.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Entry } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import type { RequestResult } from '../kernel/outcome.ts';
import { type EpochMs, msToSeconds } from '../kernel/units.ts';
import type { StreamedResponse } from '../ports.ts';
import type { OriginRequest } from './origin-request.ts';

/** How an answer came about. */
export interface How {
  readonly now: EpochMs;
  readonly cache: string;
  readonly result: RequestResult;
}

const TRACE = { kind: 'other', agent: null } as const;
const BODILESS: ReadonlySet<number> = new Set([204, 304]);
const LENGTH: ReadonlySet<string> = new Set(['content-length']);

/** True where a status never has a body. */
export const isBodiless = (status: number): boolean => BODILESS.has(status);

/**
 * Answers from a stored response: the origin's own fields, with Age, Via and Cache-Status (RFC 9111 §4), the caller's conditions
 * and range taken into account. Undefined where only part is stored and the caller wants another.
 */
export function storedAnswer(request: OriginRequest, entry: Entry, how: How): Answer | undefined {
  const age = String(msToSeconds(currentAge(entry, how.now)));
  const fields = handedOn(withField(entry.fields, 'Age', age), how.cache);
  const trace = { ...TRACE, result: how.result, cache: how.cache };
  if (isNotModified(request, entry)) {
    const result = how.result === 'hit' ? 'not_modified' : how.result;
    return { status: 304, fields: notModifiedFields(fields), body: null, trace: { ...trace, result } };
  }
  const { status } = entry;
  if (status === 206 || (status === 200 && request.method === 'GET' && request.read('range') !== undefined)) {
    return rangeAnswer(request, entry, fields, trace);
  }
  return { status, fields, body: isBodiless(status) ? null : entry.body, trace };
}

/** Says whether what is stored can answer: a part cannot where the whole or another part is wanted. */
export const answersFrom = (request: OriginRequest, entry: Entry): boolean =>
  entry.status !== 206 || answerRange(request.read, entry).serve !== 'missing';

function isNotModified(request: OriginRequest, entry: Entry): boolean {
  if (entry.status !== 200) return false;
  const validators = {
    etag: entry.etag,
    lastModified: fieldValue(entry.fields, 'last-modified'),
    date: fieldValue(entry.fields, 'date'),
  };
  return evaluateConditions(request.read, request.method, validators) === 'not-modified';
}

/** RFC 9110 §14.2 over what is stored, whole or in part (RFC 9111 §3.3). */
function rangeAnswer(request: OriginRequest, entry: Entry, fields: Fields, trace: Answer['trace']): Answer | undefined {
  const ranged = answerRange(request.read, entry);
  switch (ranged.serve) {
    case 'whole':
      return { status: 200, fields, body: entry.body, trace };
    case 'part': {
      const part = withField(withoutFields(fields, LENGTH), 'Content-Range', ranged.contentRange);
      return { status: 206, fields: part, body: ranged.body, trace };
    }
    case 'unsatisfiable': {
      const none = withField(withoutFields(fields, LENGTH), 'Content-Range', ranged.contentRange);
      return { status: 416, fields: none, body: null, trace };
    }
    case 'missing':
      return undefined;
  }
}

/** Hands on what the origin just sent. */
export function passedAnswer(response: StreamedResponse, how: Omit<How, 'now'>): Answer {
  return {
    status: response.status,
    fields: handedOn(response.fields, how.cache),
    body: isBodiless(response.status) ? null : response.body,
    trace: { ...TRACE, result: how.result, cache: how.cache },
  };
}

const OF_THE_CONTENT = /^content-(?:length|encoding|type|range|language)$/i;

/** A 304 repeats what a client needs to update its stored response; the rest would only be bytes (RFC 9110 §15.4.5). */
const notModifiedFields = (fields: Fields): Fields =>
  [...fieldPairs(fields)].filter(([name]) => !OF_THE_CONTENT.test(name)).flat();
