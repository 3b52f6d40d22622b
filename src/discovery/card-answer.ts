import { problemAnswer } from '../bindings/problem.ts';
import { appendCacheStatus, clientCacheControl, reprDigestOf } from '../http/answer.ts';
import { type Representation, selectCoding } from '../http/codings.ts';
import { fieldValue } from '../http/fields.ts';
import { currentAge, freshFor } from '../http/freshness.ts';
import { formatHttpDate } from '../http/http-date.ts';
import { structuredString } from '../http/structured.ts';
import { evaluateConditions } from '../http/validation.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Admission, Entry } from '../kernel/entry.ts';
import type { RequestResult } from '../kernel/outcome.ts';
import { refuse } from '../kernel/refusal.ts';
import { type EpochMs, type Ms, msToSeconds } from '../kernel/units.ts';

/** How an answer from an entry came about. */
export interface Served {
  readonly entry: Entry;
  readonly now: EpochMs;
  /** The serialised `Cache-Status` member. */
  readonly cache: string;
  readonly result: RequestResult;
  /** True where the origin made or validated it for this request: then there is no Age. */
  readonly forThisRequest: boolean;
  readonly clientMaxAge: Ms;
}

/** Answers a card request from an admitted entry, the caller's own conditions, codings and method taken into account (RFC 9110 §12, §13). */
export function cardAnswer(ask: Pick<Ask, 'method' | 'field'>, served: Served): Answer {
  const { entry, cache } = served;
  const selected = selectCoding(entry, ask.field('accept-encoding'));
  if (selected === undefined) return notAcceptable(entry);
  const fields = cardFields(served, selected);
  const trace = {
    kind: 'public' as const,
    agent: entry.agent,
    cache,
    ...(entry.admission === null ? {} : { receipt: entry.admission.receipt }),
  };
  const conditions = evaluateConditions((name) => ask.field(name), ask.method, {
    etag: selected.etag,
    lastModified: fieldValue(entry.fields, 'last-modified'),
    date: fieldValue(entry.fields, 'date'),
  });
  if (conditions === 'not-modified') {
    const result = served.result === 'hit' ? 'not_modified' : served.result;
    return { status: 304, fields: fields.common, body: null, trace: { ...trace, result }, tags: entry.tags };
  }
  return {
    status: 200,
    fields: [...fields.common, ...fields.content],
    body: selected.body,
    trace: { ...trace, result: served.result },
    tags: entry.tags,
  };
}

/** "… SHOULD send a response without any content coding unless the identity coding is indicated as unacceptable" — RFC 9110 §12.5.3. */
function notAcceptable({ agent, coded = [] }: Entry): Answer {
  const atHand = ['identity', ...coded.map(({ coding }) => coding)].join(', ');
  const detail = `Accept-Encoding excludes every coding that this card is there in: ${atHand}.`;
  const refusal = refuse('bad-request', detail, { status: 406, ...(agent === null ? {} : { agent }) });
  const answer = problemAnswer(refusal, { kind: 'public', agent });
  return { ...answer, fields: [...answer.fields, 'Vary', VARY] };
}

/** What an answer with a card depends on besides its URL. */
const VARY = 'A2A-Version, Accept-Encoding';

interface CardFields {
  /** Those of a 304. */
  readonly common: readonly string[];
  /** Those that a 200 has besides (RFC 9110 §15.4.5). */
  readonly content: readonly string[];
}

function cardFields(served: Served, { coding, etag }: Representation): CardFields {
  const { entry, now, cache, forThisRequest, clientMaxAge } = served;
  const age = msToSeconds(currentAge(entry, now));
  const common = [
    'Date',
    fieldValue(entry.fields, 'date') ?? formatHttpDate(entry.receivedAt),
    'Vary',
    VARY,
    'Cache-Control',
    clientCacheControl({
      age,
      freshFor: freshFor(entry, now),
      clientMaxAge,
      lifetime: entry.lifetime,
      held: entry.admission?.review === 'held',
    }),
    'Cache-Status',
    appendCacheStatus(undefined, cache),
  ];
  if (etag !== null) common.push('ETag', etag);
  // An origin behind another cache did not make it for this request either.
  if (!forThisRequest || age > 0) common.push('Age', String(age));
  if (entry.admission !== null) common.push('Card-Status', cardStatus(entry.admission));
  const content = ['Content-Type', fieldValue(entry.fields, 'content-type') ?? 'application/json'];
  if (coding !== 'identity') content.push('Content-Encoding', coding);
  const modified = fieldValue(entry.fields, 'last-modified');
  if (modified !== undefined) content.push('Last-Modified', modified);
  if (etag !== null) content.push('Repr-Digest', reprDigestOf(etag));
  return { common, content };
}

/** Serialises `Card-Status` as an RFC 9651 token with parameters. */
export function cardStatus(admission: Admission): string {
  const { verdict, review, receipt } = admission;
  const parameters = [
    ...stringParameter('why', verdict.why),
    ...stringParameter('kid', verdict.kid),
    ...stringParameter('alg', verdict.alg),
    ...stringParameter('keys', verdict.keys),
    ...stringParameter('form', verdict.form),
    ...(verdict.dropped === undefined || verdict.dropped.length === 0
      ? []
      : stringParameter('dropped', verdict.dropped.join(' '))),
  ];
  return [verdict.signature, ...parameters, `review=${review}`, `receipt=${structuredString(receipt)}`].join('; ');
}

/** `why` is a token, since every reason is one word; the rest are strings. */
const stringParameter = (name: string, value: string | undefined): readonly string[] =>
  value === undefined ? [] : [`${name}=${name === 'why' ? value : structuredString(value)}`];
