import { problemAnswer } from '../bindings/problem.ts';
import { cacheStatusForwarded, cacheStatusHit } from '../http/answer.ts';
import { freshFor, ttlOf } from '../http/freshness.ts';
import { decideReuse } from '../http/reuse.ts';
import { selectVariant } from '../http/vary.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import type { Event } from '../kernel/event.ts';
import type { ForwardWhy } from '../kernel/outcome.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { refuseLoop } from './loop.ts';
import { storedAnswer } from './origin-answer.ts';
import { type Collapse, createCollapse } from './origin-collapse.ts';
import { type Forward, createForward } from './origin-forward.ts';
import { type OriginPlace, type OriginRequest, originRequest } from './origin-request.ts';
import type { OriginDoors } from './origin-store.ts';

/** Answers a request to an origin with `content: any`: plain RFC 9111 for every method, no card rules. */
export type ServeOrigin = (ask: Ask, place: OriginPlace) => Answer | Promise<Answer>;

export function createServeOrigin(doors: OriginDoors): ServeOrigin {
  const collapse = createCollapse(doors.clock);
  const forward = createForward(doors, collapse);
  const refreshBehind = createRefreshBehind(doors, forward, collapse);
  const ask = (request: OriginRequest): Answer | Promise<Answer> => {
    if (!isRead(request)) return forward(request, { why: 'method' });
    const stored = doors.store.peek(request.key);
    const entry = selectVariant(stored, request.read);
    if (entry !== undefined) return atHand(request, entry, refreshBehind) ?? askAbout(forward, request, entry);
    if (request.directives.onlyIfCached) return problem(notCached());
    return forward(request, stored.length > 0 ? { why: 'vary-miss', others: stored } : { why: 'uri-miss' });
  };
  return (given, place) => {
    const request = originRequest(given, place, doors.clock.now());
    const loop = refuseLoop(request.read('via'));
    if (loop !== undefined) return problem(loop);
    const entry = isRead(request) ? selectVariant(doors.store.peek(request.key), request.read) : undefined;
    const answer = entry && atHand(request, entry, refreshBehind);
    if (answer !== undefined) return answer;
    const leader = collapse.leader(request);
    if (leader === undefined) return ask(request);
    return leader.over(doors.limits().response).then(() => {
      const brought = selectVariant(doors.store.peek(request.key), request.read);
      return (brought && collapsed(request, brought, doors)) ?? ask({ ...request, now: doors.clock.now() });
    });
  };
}

const isRead = ({ method }: OriginRequest): boolean => method === 'GET' || method === 'HEAD';

/** Refreshes what is stale while it is served (RFC 5861 §3). */
type RefreshBehind = (request: OriginRequest, entry: Entry) => void;

/** One at a time for each key, and nobody waits for it: it is read to its end, so that it is stored. */
function createRefreshBehind(doors: OriginDoors, forward: Forward, collapse: Collapse): RefreshBehind {
  return (request, entry) => {
    if (collapse.isUnderway(request)) return;
    forward(behind(request), { why: 'stale', entry })
      .then(drain)
      .catch((error: unknown) => doors.observer.record(brokenRefresh(request, error)));
  };
}

const brokenRefresh = ({ rule }: OriginRequest, error: unknown): Event => ({
  kind: 'notice',
  level: 'error',
  msg: 'a background refresh broke',
  about: { rule: rule.name, error: error instanceof Error ? error.message : String(error) },
});

/** What another's fetch has just brought, for one that waited for it. */
function collapsed(request: OriginRequest, entry: Entry, doors: OriginDoors): Answer | undefined {
  const now = doors.clock.now();
  if (decideReuse({ entry, request: request.directives, now }).use !== 'fresh') return undefined;
  const ttl = ttlOf(freshFor(entry, now));
  const cache = cacheStatusForwarded({ why: 'uri-miss', status: entry.status, stored: true, ttl, collapsed: true });
  return storedAnswer(request, entry, { now, cache, result: 'collapsed' });
}

/** The stored response as the answer, where RFC 9111 §4 lets it be one without the origin; part of one that is not the wanted part is none. */
function atHand(request: OriginRequest, entry: Entry, refreshBehind: RefreshBehind): Answer | undefined {
  const { now } = request;
  const reuse = decideReuse({ entry, request: request.directives, now });
  switch (reuse.use) {
    case 'fresh':
    case 'stale-as-asked':
      return storedAnswer(request, entry, { now, cache: cacheStatusHit({ ttl: reuse.ttl }), result: 'hit' });
    case 'stale-while-revalidate': {
      const cache = cacheStatusHit({ ttl: reuse.ttl, detail: 'stale-while-revalidate' });
      const answer = storedAnswer(request, entry, { now, cache, result: 'hit_stale_swr' });
      if (answer !== undefined) refreshBehind(request, entry);
      return answer;
    }
    case 'validate':
      return undefined;
  }
}

/** Asks the origin about a stored response that is not the answer as it is. */
function askAbout(forward: Forward, request: OriginRequest, entry: Entry): Answer | Promise<Answer> {
  const { now } = request;
  if (decideReuse({ entry, request: request.directives, now }).use !== 'validate')
    return forward(request, { why: 'partial', entry });
  if (request.directives.onlyIfCached) return problem(notCached());
  return forward(request, { why: whyValidate(entry, now), entry });
}

const whyValidate = (entry: Entry, now: OriginRequest['now']): ForwardWhy =>
  freshFor(entry, now) > 0 && !entry.lifetime.validateAlways ? 'request' : 'stale';

/** The same request with nobody waiting for it. */
const behind = (request: OriginRequest): OriginRequest => ({ ...request, method: 'GET', body: null, ask: null });

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
