import { problemAnswer } from '../bindings/problem.ts';
import { callerVersion } from '../bindings/version.ts';
import { cacheStatusForwarded, cacheStatusHit } from '../http/answer.ts';
import { NO_DIRECTIVES } from '../http/cache-control.ts';
import { freshFor, ttlOf } from '../http/freshness.ts';
import { decideReuse, mayServeOnError } from '../http/reuse.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import type { CacheDetail, ForwardWhy, RequestResult } from '../kernel/outcome.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import { asksForNewer, hasDirectives, hasJustBeen, wantsNewerThan } from './asks-newer.ts';
import { type Served, cardAnswer } from './card-answer.ts';
import type { CardBook, Update } from './card-book.ts';
import type { Era } from './era.ts';
import { createHitAnswers, type HitAnswer } from './hit-answers.ts';
import type { LocalCard } from './local-card.ts';
import { CARD_REQUESTS, type CardRequest } from './card-request.ts';
import type { Refreshed } from './refresh.ts';
import { type Codings, wantsForms } from './with-codings.ts';
import { type Setback, isFailing } from './setbacks.ts';

/**
 * Answers a request for an agent's public card: from the store where the rules allow, else after the origin was asked.
 * @param show how an entry looks to this caller; left out, it is served as its origin made it.
 */
export type ServeCard = (ask: Ask, agent: AgentRule, show?: LocalCard) => Answer | Promise<Answer>;

/** One card request on its way through. */
interface Turn {
  readonly ask: Ask;
  readonly agent: AgentRule;
  readonly request: CardRequest;
  readonly now: EpochMs;
  readonly show: LocalCard;
  readonly hitAnswer: HitAnswer;
}

const AS_IT_IS: LocalCard = (_ask, _agent, entry) => entry;

interface Parts {
  readonly book: CardBook;
  readonly now: () => EpochMs;
  readonly era: Era;
  readonly codings: Pick<Codings, 'complete'>;
}

export function createServeCard({ book, now, era, codings }: Parts): ServeCard {
  const hitAnswer = createHitAnswers({ book, era });
  return (ask, agent, look = AS_IT_IS) => {
    const show = inFormsFor(look, codings);
    const version = callerVersion(ask.field('a2a-version'), ask.target);
    if (!version.ok) return problem(version.refusal, agent);
    const turn: Turn = { ask, agent, request: CARD_REQUESTS[version.value], now: now(), show, hitAnswer };
    const entry = book.current(agent, turn.request);
    const answer = entry === undefined ? undefined : serveStored(book, turn, entry);
    return answer ?? serveUpdated(book, turn, now);
  };
}

/** Whoever may be given a coded form waits until there is one: once for each card. */
const inFormsFor =
  (look: LocalCard, codings: Pick<Codings, 'complete'>): LocalCard =>
  (ask, agent, entry) => {
    const shown = look(ask, agent, entry);
    if (shown instanceof Promise || !wantsForms(shown, ask.field('accept-encoding'))) return shown;
    return codings.complete(shown);
  };

/** The hit path: nothing is awaited and nothing is judged. Undefined where the origin must be asked. */
function serveStored(book: CardBook, turn: Turn, entry: Entry): Answer | Promise<Answer> | undefined {
  const { agent, request, now } = turn;
  const reuse = decideReuse({ entry, request: NO_DIRECTIVES, now });
  if (reuse.use === 'fresh') {
    return asksForRefresh(book, turn, entry) ? undefined : freshHit(turn, entry);
  }
  const setback = book.setback(agent, request);
  const failing = setback !== undefined && isFailing(setback, now);
  if (reuse.use === 'stale-while-revalidate' && !failing) {
    void book.updateBehind(agent, request);
    return staleHit(turn, entry, 'stale-while-revalidate');
  }
  if (!failing) return undefined;
  return mayServeOnError({ entry, now, status: setback.status }) ? staleHit(turn, entry, 'stale-if-error') : undefined;
}

/** Everything that must wait: an entry to be judged again, a remembered failure, the origin itself. */
async function serveUpdated(book: CardBook, turn: Turn, now: () => EpochMs): Promise<Answer> {
  const { agent, request } = turn;
  const unjudged = book.current(agent, request) === undefined;
  const entry = await book.restore(agent, request);
  const restored = unjudged && entry !== undefined ? serveStored(book, turn, entry) : undefined;
  if (restored !== undefined) return restored;
  const setback = book.setback(agent, request);
  if (setback !== undefined && isFailing(setback, turn.now) && !asksNow(turn, setback))
    return problem(setback.refusal, agent);
  const why = forwardWhy(book, turn, entry);
  const update = await book.update(agent, request);
  const after = { ...turn, now: now() };
  return update.refreshed.ok
    ? replyUpdated(after, update.refreshed, update, why)
    : replyFailed(after, update.refreshed, await book.restore(agent, request), why);
}

function freshHit(turn: Turn, entry: Entry): Answer | Promise<Answer> {
  const { ask, agent, request, now, show, hitAnswer } = turn;
  // The same request may be worth another look at the origin before the second is over that such an answer holds for.
  if (hasDirectives(ask)) return reply(turn, entry, 'hit', cacheStatusHit({ ttl: ttlOf(freshFor(entry, now)) }));
  const shown = show(ask, agent, entry);
  if (!(shown instanceof Promise)) return hitAnswer(ask, { agent, request, entry, shown }, now);
  return shown.then((late) => hitAnswer(ask, { agent, request, entry, shown: late }, now));
}

const reply = (turn: Turn, entry: Entry, result: RequestResult, cache: string): Answer | Promise<Answer> =>
  present(turn, entry, { result, cache, forThisRequest: false });

/** The last step of every way: the entry as this caller sees it, with all that is said about it. */
function present(
  { ask, agent, now, show }: Turn,
  entry: Entry,
  how: Pick<Served, 'result' | 'cache' | 'forThisRequest'>,
): Answer | Promise<Answer> {
  const { clientMaxAge } = agent.cache;
  const shown = show(ask, agent, entry);
  const answer = (one: Entry): Answer => cardAnswer(ask, { ...how, entry: one, now, clientMaxAge });
  return shown instanceof Promise ? shown.then(answer) : answer(shown);
}

function staleHit(turn: Turn, entry: Entry, detail: CacheDetail): Answer | Promise<Answer> {
  const ttl = ttlOf(freshFor(entry, turn.now));
  const result = detail === 'stale-if-error' ? 'hit_stale_error' : 'hit_stale_swr';
  return reply(turn, entry, result, cacheStatusHit({ ttl, detail }));
}

function replyUpdated(
  turn: Turn,
  refreshed: Extract<Refreshed, { ok: true }>,
  update: Update,
  why: ForwardWhy,
): Answer | Promise<Answer> {
  const { entry, outcome, status } = refreshed;
  const stored = outcome !== 'uncacheable' && outcome !== 'held';
  const cache = cacheStatusForwarded({
    why,
    status,
    stored,
    collapsed: update.collapsed,
    ...(stored ? { ttl: ttlOf(freshFor(entry, turn.now)) } : {}),
  });
  const result = update.collapsed ? 'collapsed' : RESULTS[outcome];
  return present(turn, entry, { cache, result, forThisRequest: !update.collapsed && outcome !== 'held' });
}

/** How a request ended that the origin was asked for; while a card waits, what is stored answers. */
const RESULTS = { stored: 'miss', uncacheable: 'miss', not_modified: 'revalidated', held: 'hit' } as const;

/** The origin failed: what is stored answers where RFC 5861 and the ceilings allow it, else the failure is told. */
function replyFailed(
  turn: Turn,
  refreshed: Extract<Refreshed, { ok: false }>,
  entry: Entry | undefined,
  why: ForwardWhy,
): Answer | Promise<Answer> {
  const received = refreshed.refusal.receivedStatus ?? refreshed.status;
  const status = received === null ? {} : { status: received };
  if (entry !== undefined && decideReuse({ entry, request: NO_DIRECTIVES, now: turn.now }).use === 'fresh') {
    return reply(turn, entry, 'hit', cacheStatusForwarded({ why, ...status }));
  }
  if (entry !== undefined && mayServeOnError({ entry, now: turn.now, status: refreshed.status })) {
    return reply(turn, entry, 'hit_stale_error', cacheStatusForwarded({ why, ...status, detail: 'stale-if-error' }));
  }
  return problem(refreshed.refusal, turn.agent);
}

const problem = (refusal: Refusal, agent: AgentRule): Answer =>
  problemAnswer({ ...refusal, agent: agent.name }, { kind: 'public', agent: agent.name });

function forwardWhy(book: CardBook, turn: Turn, entry: Entry | undefined): ForwardWhy {
  if (entry !== undefined) return freshFor(entry, turn.now) > 0 && !entry.lifetime.validateAlways ? 'request' : 'stale';
  return book.variants(turn.agent).length > 0 ? 'vary-miss' : 'uri-miss';
}

/** True where the caller's own fields ask for a newer card than the fresh one, and nobody has asked within the last second. */
function asksForRefresh(book: CardBook, turn: Turn, entry: Entry): boolean {
  if (!asksForNewer(turn.ask, entry, turn.now)) return false;
  const setback = book.setback(turn.agent, turn.request);
  return setback === undefined || asksNow(turn, setback);
}

/** A remembered failure may be tried again for a caller that says `no-cache`, once a second. */
const asksNow = (turn: Turn, setback: Setback): boolean =>
  !hasJustBeen(setback.at, turn.now) && wantsNewerThan(turn.ask, Number.POSITIVE_INFINITY);
