import { cacheStatusHit } from '../http/answer.ts';
import { freshFor, ttlOf } from '../http/freshness.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask, CallerVersion } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import type { ExtendedEntry } from '../kernel/extended-entry.ts';
import { type EpochMs, between, ms } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { AcceptedCard } from './accepted-card.ts';
import { hasDirectives } from './asks-newer.ts';
import type { Caller, Callers } from './callers.ts';
import { CARD_REQUESTS } from './card-request.ts';
import type { Era } from './era.ts';
import { extendedAnswer } from './extended-answer.ts';
import type { CallForm, ExtendedCall } from './extended-call.ts';
import type { HeldExtended, Holding } from './held-extended.ts';
import { isSameTime, type Times, timesOf } from './hit-times.ts';
import { ThisSecond } from './this-second.ts';

/** One request for an extended card on its way through. */
export interface Turn {
  readonly call: ExtendedCall;
  readonly agent: AgentRule;
  readonly caller: Caller;
}

/** A fresh extended card of a caller, and what it was found by. */
export interface ExtendedHit {
  readonly publicCard: Entry;
  readonly holding: Holding;
  /** As it is held. */
  readonly entry: ExtendedEntry;
  /** As the caller sees it. */
  readonly shown: ExtendedEntry;
}

/**
 * Answers callers from the extended cards that are held fresh for them. The same question of the same caller within a second gets the
 * very same answer, made once.
 */
export interface ExtendedHits {
  /** The answer that a request would get if everything was decided for it anew; undefined where that must be done to know. */
  find(turn: Turn): Answer | undefined;
  /** Answers a hit, and remembers it where the same question may come again. */
  answer(turn: Turn, hit: ExtendedHit, now: EpochMs): Answer;
}

interface Parts {
  readonly acceptedCard: Pick<AcceptedCard, 'stands'>;
  readonly callers: Pick<Callers, 'knows'>;
  readonly held: Pick<HeldExtended, 'fresh'>;
  readonly era: Era;
  readonly now: () => EpochMs;
}

/**
 * All that an answer to a hit depends on besides what is held, and the caller: nothing else of the request is looked at. Of credentials
 * there is none in it.
 */
interface Question {
  readonly agent: AgentRule;
  readonly version: CallerVersion;
  readonly tenant: string;
  readonly extensions: string | undefined;
  /** Where a card that is rewritten leads to, and whether it is signed for that. */
  readonly base: string;
  readonly basePath: string;
  readonly ownsBase: boolean;
  readonly method: string;
  readonly noneMatch: string | undefined;
  readonly modifiedSince: string | undefined;
}

interface Known {
  readonly question: Question;
  readonly answer: Answer;
}

/** Floor of a hit that was answered before: eight fields read, one look-up, a dozen comparisons, and whether the answer holds. */
export const createExtendedHits = (parts: Parts): ExtendedHits => new Hits(parts);

class Hits implements ExtendedHits {
  readonly #parts: Parts;
  readonly #second = new ThisSecond<Caller, Known>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  find(turn: Turn): Answer | undefined {
    const others = this.#second.of(turn.caller);
    const question = others === undefined ? undefined : questionOf(turn);
    if (others === undefined || question === undefined) return undefined;
    const answer = others.find((each) => isSame(each.question, question))?.answer;
    return answer?.holds?.(this.#parts.now()) === true ? answer : undefined;
  }

  answer(turn: Turn, hit: ExtendedHit, now: EpochMs): Answer {
    const { caller, call } = turn;
    const question = questionOf(turn);
    if (question === undefined) return answerTo(call.ask, call.form, { caller, hit, now });
    this.#second.follow(now);
    const answer = this.#make(question, caller, hit, now);
    this.#second.keep(caller, { question, answer }, hit.shown.body.byteLength);
    return answer;
  }

  /** Knows nothing of the request but the question: what is kept with an answer holds no credential. */
  #make(question: Question, caller: Caller, hit: ExtendedHit, made: EpochMs): Answer {
    const { acceptedCard, callers, held, era: today } = this.#parts;
    const { agent, version } = question;
    const { publicCard, holding, entry } = hit;
    const era = today();
    const times = timesOfHit(hit, made);
    const holds = (at: EpochMs): boolean =>
      at >= made &&
      era === today() &&
      callers.knows(caller, at) &&
      acceptedCard.stands(agent, CARD_REQUESTS[version], publicCard) &&
      held.fresh(holding, at) === entry &&
      isSameTime(times, timesOfHit(hit, at));
    return { ...answerTo(askOf(question), REST, { caller, hit, now: made }), holds, forCredential: true };
  }
}

const REST: CallForm = { binding: 'HTTP+JSON', id: null };

/**
 * What a request asks; undefined for one whose answer may be another the next time: it says something of how new the answer is to be, it
 * has come through a proxy, its caller and what the agent is shown are two credentials, or its answer repeats its id.
 */
function questionOf({ call: { ask, form, version, tenant, basePath }, agent }: Turn): Question | undefined {
  if (form.binding !== 'HTTP+JSON' || !version.ok || hasDirectives(ask)) return undefined;
  if (ask.field('via') !== undefined || ask.field('proxy-authorization') !== undefined) return undefined;
  return {
    agent,
    version: version.value,
    tenant,
    extensions: ask.field('a2a-extensions'),
    base: ask.base,
    basePath,
    ownsBase: agent.card.route === 'through' && ask.ownsBase(),
    method: ask.method,
    noneMatch: ask.field('if-none-match'),
    modifiedSince: ask.field('if-modified-since'),
  };
}

const isSame = (one: Question, other: Question): boolean =>
  one.agent === other.agent &&
  one.version === other.version &&
  one.tenant === other.tenant &&
  one.extensions === other.extensions &&
  one.base === other.base &&
  one.basePath === other.basePath &&
  one.ownsBase === other.ownsBase &&
  one.method === other.method &&
  one.noneMatch === other.noneMatch &&
  one.modifiedSince === other.modifiedSince;

const timesOfHit = ({ shown, holding }: Pick<ExtendedHit, 'shown' | 'holding'>, now: EpochMs): Times =>
  timesOf({ entry: shown, left: leftOf(shown, now), clientMaxAge: holding.agent.cache.clientMaxAge }, now);

/** How long a card may still be used: until it is stale, or its session over. */
export const leftOf = (entry: ExtendedEntry, now: EpochMs): ReturnType<typeof ms> =>
  ms(Math.min(freshFor(entry, now), between(now, entry.until)));

interface Given {
  readonly caller: Caller;
  readonly hit: ExtendedHit;
  readonly now: EpochMs;
}

const answerTo = (
  ask: Pick<Ask, 'method' | 'field'>,
  form: CallForm,
  { caller, hit: { shown, holding }, now }: Given,
): Answer =>
  extendedAnswer(ask, form, {
    caller,
    entry: shown,
    now,
    cache: cacheStatusHit({ ttl: ttlOf(leftOf(shown, now)) }),
    result: 'hit',
    forThisRequest: false,
    clientMaxAge: holding.agent.cache.clientMaxAge,
  });

function askOf({ method, noneMatch, modifiedSince }: Question): Pick<Ask, 'method' | 'field'> {
  const fields = new Map([
    ['if-none-match', noneMatch],
    ['if-modified-since', modifiedSince],
  ]);
  return { method, field: (name) => fields.get(name) };
}
