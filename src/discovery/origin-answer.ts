import { appendCacheStatus } from '../http/answer.ts';
import { fieldValue, withField } from '../http/fields.ts';
import { currentAge } from '../http/freshness.ts';
import { evaluateConditions } from '../http/validation.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Entry } from '../kernel/entry.ts';
import type { Fields } from '../kernel/fields.ts';
import type { RequestResult } from '../kernel/outcome.ts';
import { type EpochMs, msToSeconds } from '../kernel/units.ts';
import type { StreamedResponse } from '../ports.ts';
import type { OriginRequest } from './origin-request.ts';

const TRACE = { kind: 'other', agent: null } as const;
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

/** Answers from a stored response: the origin's own fields, with Age, Via and Cache-Status (RFC 9111 §4). */
export function storedAnswer(
  request: OriginRequest,
  entry: Entry,
  how: { now: EpochMs; cache: string; result: RequestResult },
): Answer {
  const age = String(msToSeconds(currentAge(entry, how.now)));
  const fields = marked(withField(entry.fields, 'Age', age), how.cache);
  const trace = { ...TRACE, result: how.result, cache: how.cache };
  const lastModified = fieldValue(entry.fields, 'last-modified');
  const conditions =
    entry.status === 200
      ? evaluateConditions(request.read, request.method, { etag: entry.etag, lastModified })
      : 'proceed';
  if (conditions === 'not-modified') {
    const result = how.result === 'hit' ? 'not_modified' : how.result;
    return { status: 304, fields: notModifiedFields(fields), body: null, trace: { ...trace, result } };
  }
  return { status: entry.status, fields, body: BODILESS.has(entry.status) ? null : entry.body, trace };
}

/** Hands on what the origin just sent. */
export function passedAnswer(response: StreamedResponse, how: { cache: string; result: RequestResult }): Answer {
  return {
    status: response.status,
    fields: marked(response.fields, how.cache),
    body: BODILESS.has(response.status) ? null : response.body,
    trace: { ...TRACE, result: how.result, cache: how.cache },
  };
}

/** RFC 9110 §7.6.3 and RFC 9211: both lists grow at their end. */
function marked(fields: Fields, cache: string): Fields {
  const via = fieldValue(fields, 'via');
  const signed = withField(fields, 'Via', via === undefined ? '1.1 cardea' : `${via}, 1.1 cardea`);
  return withField(signed, 'Cache-Status', appendCacheStatus(fieldValue(fields, 'cache-status'), cache));
}

/** A 304 repeats what a client needs to update its stored response; the rest would only be bytes (RFC 9110 §15.4.5). */
function notModifiedFields(fields: Fields): Fields {
  const kept: string[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] ?? '';
    if (!/^content-(length|encoding|type|range|language)$/i.test(name)) kept.push(name, fields[at + 1] ?? '');
  }
  return kept;
}
