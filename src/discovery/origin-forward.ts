import { problemAnswer } from '../bindings/problem.ts';
import { cacheStatusForwarded } from '../http/answer.ts';
import { freshFor, ttlOf } from '../http/freshness.ts';
import { mayServeOnError } from '../http/reuse.ts';
import type { Answer } from '../kernel/answer.ts';
import type { FetchOutcome } from '../kernel/outcome.ts';
import type { EpochMs } from '../kernel/units.ts';
import { bytes, ms } from '../kernel/units.ts';
import type { FetchOrder, StreamedResponse } from '../ports.ts';
import { passedAnswer, storedAnswer } from './origin-answer.ts';
import { originTags } from './key.ts';
import type { Collapse } from './origin-collapse.ts';
import { completeFrom } from './origin-complete.ts';
import { AS_IS, type Asked, type Plan, planOf, plannedFields } from './origin-plan.ts';
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

/** Asks the origin, with what is stored that may be validated, completed or stand in; resolves to the answer whatever happens. */
export type Forward = (request: OriginRequest, asked: Asked) => Promise<Answer>;

/** One request on its way to the origin. */
interface Turn {
  readonly request: OriginRequest;
  readonly asked: Asked;
  /** Called once, when it is known whether others can share what comes. */
  readonly over: (stored: boolean) => void;
}

interface Concluded {
  /** Undefined where the origin's answer to the plan is of no use: then the caller's own request must be sent. */
  readonly answer: Answer | undefined;
  readonly outcome: FetchOutcome;
}

export function createForward(doors: OriginDoors, collapse: Collapse): Forward {
  return async (request, asked) => {
    const turn: Turn = { request, asked, over: collapse.lead(request) };
    let plan = planOf(request, asked);
    try {
      for (;;) {
        const answer = await exchange(doors, turn, plan);
        if (answer !== undefined) return answer;
        plan = AS_IS;
      }
    } catch (error) {
      // Whoever waits for this goes alone.
      turn.over(false);
      throw error;
    }
  };
}

async function exchange(doors: OriginDoors, turn: Turn, plan: Plan): Promise<Answer | undefined> {
  const { request } = turn;
  const generation = doors.store.generation();
  const requestedAt = doors.clock.now();
  const id = doors.ledger.issue();
  const result = await doors.fetcher.open(orderFor(doors, request, plan));
  const receivedAt = doors.clock.now();
  const exchanged = { id, requestedAt, conditional: plan.ask === 'validate', result };
  if (!result.ok) {
    turn.over(false);
    doors.ledger.record(streamReceipt(exchanged, deniedOrFailed(result), receivedAt));
    return standIn(turn, receivedAt, null) ?? refused(result.refusal);
  }
  const answered = { request, response: result.response, generation, requestedAt, receivedAt };
  const concluded = await conclude(doors, answered, turn, plan);
  doors.ledger.record(streamReceipt(exchanged, concluded.outcome, receivedAt));
  return concluded.answer;
}

function conclude(doors: OriginDoors, exchanged: OriginExchange, turn: Turn, plan: Plan): Promise<Concluded> {
  const { response } = exchanged;
  switch (plan.ask) {
    case 'validate':
      return response.status === 304 ? confirm(doors, exchanged, turn, plan) : pass(doors, exchanged, turn);
    case 'complete':
      return USELESS_PARTS.has(response.status) ? complete(doors, exchanged, turn, plan) : pass(doors, exchanged, turn);
    case 'as-is':
      return pass(doors, exchanged, turn);
  }
}

/** What a Range of ours can come to that the caller did not ask for: a part, or that there is none (RFC 9110 §15.3.7, §15.5.17). */
const USELESS_PARTS: ReadonlySet<number> = new Set([206, 416]);

/** A 304: what is stored is the answer, if it can be told which (RFC 9111 §4.3.3). */
async function confirm(
  doors: OriginDoors,
  exchanged: OriginExchange,
  { request, asked, over }: Turn,
  { entries }: Extract<Plan, { ask: 'validate' }>,
): Promise<Concluded> {
  const { receivedAt } = exchanged;
  const validated = await validate(doors, exchanged, entries);
  if (validated === undefined) return { answer: undefined, outcome: 'status' };
  const { entry, stored } = validated;
  over(stored);
  const ttl = stored ? { ttl: ttlOf(freshFor(entry, receivedAt)) } : {};
  const cache = cacheStatusForwarded({ why: asked.why, status: 304, stored, ...ttl });
  const answer = storedAnswer(request, entry, { now: receivedAt, cache, result: 'revalidated' });
  return { answer, outcome: stored ? 'not_modified' : 'uncacheable' };
}

/** The rest of a stored beginning: both together are the whole that the caller wants. */
async function complete(
  doors: OriginDoors,
  exchanged: OriginExchange,
  turn: Turn,
  { entry }: Extract<Plan, { ask: 'complete' }>,
): Promise<Concluded> {
  const whole = completeFrom(entry, exchanged.response);
  if (whole !== undefined) return pass(doors, { ...exchanged, response: whole }, turn, exchanged.response.status);
  await discard(exchanged.response);
  return { answer: undefined, outcome: 'status' };
}

/** Hands the answer on, unless a stored one stands in for it. */
async function pass(
  doors: OriginDoors,
  exchanged: OriginExchange,
  turn: Turn,
  received = exchanged.response.status,
): Promise<Concluded> {
  const { request, response, receivedAt } = exchanged;
  const { asked, over } = turn;
  const stale = standIn(turn, receivedAt, response.status);
  if (stale !== undefined) {
    over(false);
    await discard(response);
    return { answer: stale, outcome: 'status' };
  }
  if (request.method === 'HEAD' && asked.entry !== undefined) await updateByHead(doors, exchanged, asked.entry);
  await invalidate(doors, exchanged);
  const { passing, stored, ttl } = await keepPassing(doors, exchanged, over);
  const cache = cacheStatusForwarded({ why: asked.why, status: received, stored, ttl });
  const answer = passedAnswer(passing, { cache, result: stored ? 'miss' : 'forwarded' });
  return { answer, outcome: stored ? 'stored' : 'uncacheable' };
}

/**
 * The stored response in place of an answer that failed, where RFC 5861 §4 allows it.
 * @param status what the origin answered; null where no answer came.
 */
function standIn({ request, asked }: Turn, now: EpochMs, status: number | null): Answer | undefined {
  const { entry, why } = asked;
  if (entry === undefined || !mayServeOnError({ entry, now, status })) return undefined;
  const detail = 'stale-if-error';
  const cache = cacheStatusForwarded({ why, detail, ...(status === null ? {} : { status }) });
  return storedAnswer(request, entry, { now, cache, result: 'hit_stale_error' });
}

const refused = (refusal: Parameters<typeof problemAnswer>[0]): Answer =>
  problemAnswer(refusal, { kind: 'other', agent: null });

function orderFor(doors: OriginDoors, request: OriginRequest, plan: Plan): FetchOrder {
  const stop = doors.stops.signal(originTags(request.url));
  const limits = doors.limits();
  return {
    purpose: 'any',
    agent: null,
    url: request.url,
    method: request.method,
    fields: plannedFields(request, plan),
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
