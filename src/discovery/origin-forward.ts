import { problemAnswer } from '../bindings/problem.ts';
import { cacheStatusForwarded } from '../http/answer.ts';
import { withoutFields } from '../http/fields.ts';
import { freshFor, ttlOf } from '../http/freshness.ts';
import { mayServeOnError } from '../http/reuse.ts';
import { conditionFields } from '../http/validation.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Entry } from '../kernel/entry.ts';
import type { FetchOutcome, ForwardWhy } from '../kernel/outcome.ts';
import type { EpochMs } from '../kernel/units.ts';
import { bytes, ms } from '../kernel/units.ts';
import type { FetchOrder, StreamedResponse } from '../ports.ts';
import { passedAnswer, storedAnswer } from './origin-answer.ts';
import { ruleTags } from './key.ts';
import type { Collapse } from './origin-collapse.ts';
import type { OriginRequest } from './origin-request.ts';
import { deniedOrFailed, streamReceipt } from './receipts.ts';
import {
  type OriginDoors,
  type OriginExchange,
  invalidate,
  keepPassing,
  updateByHead,
  validate,
} from './origin-store.ts';

/** Asks the origin, with the stored response that may be validated or stand in; resolves to the answer whatever happens. */
export type Forward = (request: OriginRequest, entry: Entry | undefined, why: ForwardWhy) => Promise<Answer>;

export function createForward(doors: OriginDoors, collapse: Collapse): Forward {
  return async (request, entry, why) => {
    const over = collapse.lead(request);
    const validated = why === 'partial' ? undefined : entry;
    const generation = doors.store.generation();
    const requestedAt = doors.clock.now();
    const id = doors.ledger.issue();
    const result = await doors.fetcher.open(orderFor(doors, request, validated));
    const receivedAt = doors.clock.now();
    const exchanged = { id, requestedAt, conditional: validated !== undefined, result };
    if (!result.ok) {
      over(false);
      doors.ledger.record(streamReceipt(exchanged, deniedOrFailed(result), receivedAt));
      return standIn({ request, entry, why, now: receivedAt, status: null }) ?? refused(result.refusal);
    }
    const exchange = { request, response: result.response, generation, requestedAt, receivedAt };
    const concluded = await conclude(doors, exchange, { entry, validated, why, over });
    doors.ledger.record(streamReceipt(exchanged, concluded.outcome, receivedAt));
    return concluded.answer;
  };
}

interface Asked {
  readonly entry: Entry | undefined;
  readonly validated: Entry | undefined;
  readonly why: ForwardWhy;
  readonly over: (stored: boolean) => void;
}

interface Concluded {
  readonly answer: Answer;
  readonly outcome: FetchOutcome;
}

async function conclude(doors: OriginDoors, exchange: OriginExchange, asked: Asked): Promise<Concluded> {
  const { request, response, receivedAt } = exchange;
  const { entry, validated, why, over } = asked;
  if (response.status === 304 && validated !== undefined) {
    const renewed = await validate(doors, exchange, validated);
    over(true);
    const ttl = ttlOf(freshFor(renewed, receivedAt));
    const cache = cacheStatusForwarded({ why, status: 304, stored: true, ttl });
    const answer = storedAnswer(request, renewed, { now: receivedAt, cache, result: 'revalidated' });
    if (answer !== undefined) return { answer, outcome: 'not_modified' };
  }
  const stale = standIn({ request, entry, why, now: receivedAt, status: response.status });
  if (stale !== undefined) {
    over(false);
    await discard(response);
    return { answer: stale, outcome: 'status' };
  }
  if (request.method === 'HEAD' && entry !== undefined) await updateByHead(doors, exchange, entry);
  await invalidate(doors, exchange);
  const { passing, stored, ttl } = await keepPassing(doors, exchange, over);
  const cache = cacheStatusForwarded({ why, status: response.status, stored, ttl });
  const answer = passedAnswer(passing, { cache, result: stored ? 'miss' : 'forwarded' });
  return { answer, outcome: stored ? 'stored' : 'uncacheable' };
}

interface StandIn {
  readonly request: OriginRequest;
  readonly entry: Entry | undefined;
  readonly why: ForwardWhy;
  readonly now: EpochMs;
  readonly status: number | null;
}

/** The stored response in place of an answer that failed, where RFC 5861 §4 allows it. */
function standIn({ request, entry, why, now, status }: StandIn): Answer | undefined {
  if (entry === undefined || !mayServeOnError({ entry, now, status })) return undefined;
  const detail = 'stale-if-error';
  const cache = cacheStatusForwarded({ why, detail, ...(status === null ? {} : { status }) });
  return storedAnswer(request, entry, { now, cache, result: 'hit_stale_error' });
}

const refused = (refusal: Parameters<typeof problemAnswer>[0]): Answer =>
  problemAnswer(refusal, { kind: 'other', agent: null });

const CONDITIONS: ReadonlySet<string> = new Set(['if-none-match', 'if-modified-since']);

/** The origin is asked with the caller's own request, save that a stored response is validated by its own validators (§4.3.1). */
function orderFor(doors: OriginDoors, request: OriginRequest, entry: Entry | undefined): FetchOrder {
  const stop = doors.stops.signal(ruleTags(request.rule.match));
  const limits = doors.limits();
  const validators = entry === undefined ? [] : conditionFields([entry]);
  const { fields } = request;
  return {
    purpose: 'any',
    agent: null,
    url: request.url,
    method: request.method,
    fields: validators.length === 0 ? fields : [...withoutFields(fields, CONDITIONS), ...validators],
    body: request.body,
    rule: request.rule.egress,
    limits: { connect: limits.connect, total: ms(0), idle: limits.streamIdle, bytes: bytes(0), redirects: 0 },
    ...(request.ask?.interim === undefined ? {} : { interim: request.ask.interim }),
    signal: request.ask === null ? stop : AbortSignal.any([stop, request.ask.signal()]),
  };
}

/** An unwanted body longer than this costs its connection. */
const LONGEST_DISCARDED = 64 * 1024;

/** Reads an unwanted body away, so that its connection can be used again. */
async function discard(response: StreamedResponse): Promise<void> {
  let left = LONGEST_DISCARDED;
  try {
    for await (const chunk of response.body) {
      left -= chunk.length;
      if (left < 0) break;
    }
  } catch {
    // A body that breaks while it is thrown away is of no consequence.
  }
}
