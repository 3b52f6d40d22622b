import { problemAnswer } from '../bindings/problem.ts';
import { cacheStatusForwarded, cacheStatusHit } from '../http/answer.ts';
import { freshFor, ttlOf } from '../http/freshness.ts';
import { decideReuse } from '../http/reuse.ts';
import { selectVariant } from '../http/vary.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import type { ForwardWhy } from '../kernel/outcome.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { refuseLoop } from './loop.ts';
import { storedAnswer } from './origin-answer.ts';
import { createCollapse } from './origin-collapse.ts';
import { type Forward, createForward } from './origin-forward.ts';
import { type OriginPlace, type OriginRequest, originRequest } from './origin-request.ts';
import type { OriginDoors } from './origin-store.ts';

/** Answers a request to an origin with `content: any`: plain RFC 9111 for every method, no card rules. */
export type ServeOrigin = (ask: Ask, place: OriginPlace) => Answer | Promise<Answer>;

export function createServeOrigin(doors: OriginDoors): ServeOrigin {
  const collapse = createCollapse(doors.clock);
  const forward = createForward(doors, collapse);
  const answer = (request: OriginRequest): Answer | Promise<Answer> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return forward(request, { why: 'method' });
    const stored = doors.store.peek(request.key);
    const entry = selectVariant(stored, request.read);
    if (entry !== undefined) return serveStored(forward, request, entry);
    if (request.directives.onlyIfCached) return problem(notCached());
    return forward(request, stored.length > 0 ? { why: 'vary-miss', others: stored } : { why: 'uri-miss' });
  };
  return (ask, place) => {
    const request = originRequest(ask, place, doors.clock.now());
    const loop = refuseLoop(request.read('via'));
    if (loop !== undefined) return problem(loop);
    const leader = collapse.leader(request);
    if (leader === undefined) return answer(request);
    return leader.over(doors.limits().response).then(() => {
      const entry = selectVariant(doors.store.peek(request.key), request.read);
      return (entry && collapsed(request, entry, doors)) ?? answer({ ...request, now: doors.clock.now() });
    });
  };
}

/** What another's fetch has just brought, for one that waited for it. */
function collapsed(request: OriginRequest, entry: Entry, doors: OriginDoors): Answer | undefined {
  const now = doors.clock.now();
  if (decideReuse({ entry, request: request.directives, now }).use !== 'fresh') return undefined;
  const ttl = ttlOf(freshFor(entry, now));
  const cache = cacheStatusForwarded({ why: 'uri-miss', status: entry.status, stored: true, ttl, collapsed: true });
  return storedAnswer(request, entry, { now, cache, result: 'collapsed' });
}

/** A stored response answers where RFC 9111 §4 lets it, else it is validated; part of one that is not the wanted part is no answer. */
function serveStored(forward: Forward, request: OriginRequest, entry: Entry): Answer | Promise<Answer> {
  const { now } = request;
  const reuse = decideReuse({ entry, request: request.directives, now });
  switch (reuse.use) {
    case 'fresh':
    case 'stale-as-asked': {
      const how = { now, cache: cacheStatusHit({ ttl: reuse.ttl }), result: 'hit' } as const;
      return storedAnswer(request, entry, how) ?? forward(request, { why: 'partial', entry });
    }
    case 'stale-while-revalidate': {
      const cache = cacheStatusHit({ ttl: reuse.ttl, detail: 'stale-while-revalidate' });
      const answer = storedAnswer(request, entry, { now, cache, result: 'hit_stale_swr' });
      if (answer === undefined) return forward(request, { why: 'partial', entry });
      void forward(behind(request), { why: 'stale', entry }).then(drain);
      return answer;
    }
    case 'validate':
      if (request.directives.onlyIfCached) return problem(notCached());
      return forward(request, { why: whyValidate(entry, now), entry });
  }
}

const whyValidate = (entry: Entry, now: OriginRequest['now']): ForwardWhy =>
  freshFor(entry, now) > 0 && !entry.lifetime.validateAlways ? 'request' : 'stale';

/** The same request with nobody waiting for it. */
const behind = (request: OriginRequest): OriginRequest => ({ ...request, method: 'GET', body: null, ask: null });

/** A refresh that nobody waits for is read to its end, so that it is stored. */
async function drain({ body }: Answer): Promise<void> {
  if (body === null || body instanceof Uint8Array) return;
  try {
    const chunks = body[Symbol.asyncIterator]();
    while ((await chunks.next()).done !== true);
  } catch {
    // The exchange broke: its receipt says so, and the stale entry stays.
  }
}

const problem = (refusal: Refusal): Answer => problemAnswer(refusal, { kind: 'other', agent: null });

/** RFC 9111 §5.2.1.7: 504 for a caller that wants nothing fetched. No origin was asked, so none is said to have been late. */
const notCached = (): Refusal =>
  refuse('not-found', 'only-if-cached was asked for, and no stored response may be used.', { status: 504 });
