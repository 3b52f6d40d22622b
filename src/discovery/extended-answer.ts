import { appendCacheStatus, clientCacheControl, reprDigestOf } from '../http/answer.ts';
import { fieldValue } from '../http/fields.ts';
import { currentAge, freshFor } from '../http/freshness.ts';
import { formatHttpDate } from '../http/http-date.ts';
import { evaluateConditions } from '../http/validation.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { ExtendedEntry } from '../kernel/extended-entry.ts';
import type { RequestResult } from '../kernel/outcome.ts';
import { type EpochMs, type Ms, between, ms, msToSeconds } from '../kernel/units.ts';
import { joinBytes } from './bytes.ts';
import { type Caller, fieldsOfCaller } from './callers.ts';
import { cardStatus } from './card-answer.ts';
import type { CallForm } from './extended-call.ts';

/** How an answer with an extended card came about. */
export interface ExtendedServed {
  readonly caller: Caller;
  readonly entry: ExtendedEntry;
  readonly now: EpochMs;
  readonly cache: string;
  readonly result: RequestResult;
  readonly forThisRequest: boolean;
  readonly clientMaxAge: Ms;
}

/** Answers with an extended card in the form that it was asked for; whoever keeps it may keep it for one caller alone. */
export function extendedAnswer(ask: Pick<Ask, 'method' | 'field'>, form: CallForm, served: ExtendedServed): Answer {
  const { entry, cache, result } = served;
  const common = commonFields(served);
  const trace = { kind: 'extended', agent: entry.agent, cache, receipt: entry.admission.receipt, result } as const;
  const whole = { trace, tags: entry.tags };
  const contentType = fieldValue(entry.fields, 'content-type') ?? 'application/json';
  if (form.binding === 'JSONRPC') {
    const fields = [...common, 'Content-Type', 'application/json'];
    return { ...whole, status: 200, fields, body: inEnvelope(entry.body, form.id) };
  }
  const lastModified = fieldValue(entry.fields, 'last-modified');
  const validators = ['ETag', entry.etag];
  const conditions = evaluateConditions((name) => ask.field(name), ask.method, {
    etag: entry.etag,
    lastModified,
    date: fieldValue(entry.fields, 'date'),
  });
  if (conditions === 'not-modified') {
    const not = result === 'hit' ? ('not_modified' as const) : result;
    return { ...whole, status: 304, fields: [...common, ...validators], body: null, trace: { ...trace, result: not } };
  }
  const content = ['Content-Type', contentType, 'Repr-Digest', reprDigestOf(entry.etag)];
  if (lastModified !== undefined) content.push('Last-Modified', lastModified);
  return { ...whole, status: 200, fields: [...common, ...validators, ...content], body: entry.body };
}

function commonFields({ caller, entry, now, cache, forThisRequest, clientMaxAge }: ExtendedServed): string[] {
  const age = msToSeconds(currentAge(entry, now));
  const { lifetime, until } = entry;
  const left = ms(Math.min(freshFor(entry, now), between(now, until)));
  const fields = [
    'Date',
    fieldValue(entry.fields, 'date') ?? formatHttpDate(entry.receivedAt),
    'Vary',
    [...fieldsOfCaller(caller), 'A2A-Version', 'A2A-Extensions'].join(', '),
    'Cache-Control',
    clientCacheControl({
      age,
      freshFor: left,
      clientMaxAge,
      lifetime,
      private: true,
      held: entry.admission.review === 'held',
    }),
    'Cache-Status',
    appendCacheStatus(undefined, cache),
    'Card-Status',
    cardStatus(entry.admission),
  ];
  if (!forThisRequest || age > 0) fields.push('Age', String(age));
  return fields;
}

/** The card's bytes stand in the envelope as they are. */
function inEnvelope(card: Uint8Array, id: CallForm['id']): Uint8Array {
  const encoder = new TextEncoder();
  const head = encoder.encode(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`);
  const tail = encoder.encode('}');
  return joinBytes([head, card, tail], head.length + card.length + tail.length);
}
