import { problemAnswer } from '../bindings/problem.ts';
import { cacheStatusForwarded, cacheStatusHit } from '../http/answer.ts';
import { withoutFields } from '../http/fields.ts';
import { freshFor, ttlOf } from '../http/freshness.ts';
import { decideReuse, mayServeOnError } from '../http/reuse.ts';
import { conditionFields } from '../http/validation.ts';
import { selectVariant } from '../http/vary.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import type { ForwardWhy } from '../kernel/outcome.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { bytes, ms } from '../kernel/units.ts';
import type { OriginRule } from '../policy/rules.ts';
import type { FetchOrder, FetchResult, StreamedResponse } from '../ports.ts';
import { passedAnswer, storedAnswer } from './origin-answer.ts';
import { type OriginRequest, originRequest } from './origin-request.ts';
import { type OriginDoors, invalidate, keepPassing, validate } from './origin-store.ts';

/** Answers a request to an origin with `content: any`: plain RFC 9111 for every method, no card rules. */
export type ServeOrigin = (ask: Ask, rule: OriginRule) => Answer | Promise<Answer>;

const CONDITIONS: ReadonlySet<string> = new Set(['if-none-match', 'if-modified-since']);

export function createServeOrigin(doors: OriginDoors, stopping: AbortSignal): ServeOrigin {
  const forward = createForward(doors, stopping);
  return (ask, rule) => {
    const request = originRequest(ask, rule, doors.clock.now());
    // What went through a Cardea before would go round for ever (RFC 9110 §7.6.3).
    if (/\bcardea\b/i.test(request.read('via') ?? '')) return problem(loop(rule));
    if (request.method !== 'GET' && request.method !== 'HEAD') return forward(request, undefined, 'method');
    const stored = doors.store.peek(request.key);
    const entry = selectVariant(stored, request.read);
    if (entry !== undefined) return serveStored(forward, request, entry);
    if (request.directives.onlyIfCached) return problem(notCached());
    return forward(request, undefined, stored.length > 0 ? 'vary-miss' : 'uri-miss');
  };
}

type Forward = (request: OriginRequest, entry: Entry | undefined, why: ForwardWhy) => Promise<Answer>;

/** A stored response answers where RFC 9111 §4 lets it, else it is validated. */
function serveStored(forward: Forward, request: OriginRequest, entry: Entry): Answer | Promise<Answer> {
  const { now } = request;
  const reuse = decideReuse({ entry, request: request.directives, now });
  switch (reuse.use) {
    case 'fresh':
      return storedAnswer(request, entry, { now, cache: cacheStatusHit({ ttl: reuse.ttl }), result: 'hit' });
    case 'stale-while-revalidate': {
      const behind = { ...request, method: 'GET', body: null, ask: null };
      void forward(behind, entry, 'stale').then(drain);
      const cache = cacheStatusHit({ ttl: reuse.ttl, detail: 'stale-while-revalidate' });
      return storedAnswer(request, entry, { now, cache, result: 'hit_stale_swr' });
    }
    case 'stale-as-asked':
      return storedAnswer(request, entry, { now, cache: cacheStatusHit({ ttl: reuse.ttl }), result: 'hit' });
    case 'validate':
      if (request.directives.onlyIfCached) return problem(notCached());
      return forward(request, entry, freshFor(entry, now) > 0 && !entry.lifetime.validateAlways ? 'request' : 'stale');
  }
}

/** A refresh that nobody waits for is read to its end, so that it is stored. */
async function drain(answer: Answer): Promise<void> {
  if (answer.body === null || answer.body instanceof Uint8Array) return;
  try {
    for await (const _ of answer.body);
  } catch {
    // The exchange broke: its receipt says so, and the stale entry stays.
  }
}

function createForward(doors: OriginDoors, stopping: AbortSignal): Forward {
  return async (request, entry, why) => {
    const generation = doors.store.generation();
    const requestedAt = doors.clock.now();
    const result = await doors.fetcher.open(orderFor(doors, request, entry, stopping));
    const receivedAt = doors.clock.now();
    if (!result.ok) return failed(request, entry, why, result);
    const { response } = result;
    const exchange = { request, response, generation, requestedAt, receivedAt };
    if (response.status === 304 && entry !== undefined) {
      const validated = await validate(doors, exchange, entry);
      if (validated !== undefined) {
        const ttl = ttlOf(freshFor(validated, receivedAt));
        const cache = cacheStatusForwarded({ why, status: 304, stored: true, ttl });
        return storedAnswer(request, validated, { now: receivedAt, cache, result: 'revalidated' });
      }
    }
    if (entry !== undefined && mayServeOnError({ entry, now: receivedAt, status: response.status })) {
      await discard(response);
      return staleAnswer(request, entry, why, response.status);
    }
    await invalidate(doors, exchange);
    const { response: passing, stored, ttl } = keepPassing(doors, exchange);
    const cache = cacheStatusForwarded({ why, status: response.status, stored, ...(ttl === undefined ? {} : { ttl }) });
    return passedAnswer(passing, { cache, result: stored ? 'miss' : 'forwarded' });
  };
}

/** The origin is asked with the caller's own request, save that a stored response is validated by its own validators (§4.3.1). */
function orderFor(
  doors: OriginDoors,
  request: OriginRequest,
  entry: Entry | undefined,
  stopping: AbortSignal,
): FetchOrder {
  const limits = doors.limits();
  const validators = entry === undefined ? [] : conditionFields([entry]);
  const fields =
    validators.length === 0 ? request.fields : [...withoutFields(request.fields, CONDITIONS), ...validators];
  return {
    purpose: 'any',
    agent: null,
    url: request.url,
    method: request.method,
    fields,
    body: request.body,
    rule: request.rule.egress,
    limits: { connect: limits.connect, total: ms(0), idle: limits.streamIdle, bytes: bytes(0), redirects: 0 },
    signal: request.ask === null ? stopping : AbortSignal.any([stopping, request.ask.signal()]),
  };
}

function failed(
  request: OriginRequest,
  entry: Entry | undefined,
  why: ForwardWhy,
  result: Extract<FetchResult<StreamedResponse>, { ok: false }>,
): Answer {
  if (entry !== undefined && mayServeOnError({ entry, now: request.now, status: null })) {
    return staleAnswer(request, entry, why, undefined);
  }
  return problem(result.refusal);
}

function staleAnswer(request: OriginRequest, entry: Entry, why: ForwardWhy, status: number | undefined): Answer {
  const cache = cacheStatusForwarded({ why, ...(status === undefined ? {} : { status }), detail: 'stale-if-error' });
  return storedAnswer(request, entry, { now: request.now, cache, result: 'hit_stale_error' });
}

/** Reads an unwanted body away, so that its connection can be used again; a long one costs the connection. */
async function discard(response: StreamedResponse): Promise<void> {
  let left = 64 * 1024;
  try {
    for await (const chunk of response.body) if ((left -= chunk.length) < 0) break;
  } catch {
    // A body that breaks while it is thrown away is of no consequence.
  }
}

const problem = (refusal: Refusal): Answer => problemAnswer(refusal, { kind: 'other', agent: null });

const loop = (rule: OriginRule): Refusal =>
  refuse('loop-detected', `The request has come through Cardea before; ${rule.name} points back at it.`);

/** RFC 9111 §5.2.1.7: 504 for a caller that wants nothing fetched. */
const notCached = (): Refusal =>
  refuse('origin-timeout', 'only-if-cached was asked for, and no stored response may be used.');
