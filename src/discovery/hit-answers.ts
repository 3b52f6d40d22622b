import { cacheStatusHit } from '../http/answer.ts';
import { freshFor } from '../http/freshness.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import { cardAnswer } from './card-answer.ts';
import type { CardBook } from './card-book.ts';
import type { CardRequest } from './card-request.ts';
import type { Era } from './era.ts';
import { isSameTime, type Times, timesOf } from './hit-times.ts';
import { ThisSecond } from './this-second.ts';

/** A fresh entry, whose it is, and what it was found by. */
export interface Hit {
  readonly agent: AgentRule;
  readonly request: CardRequest;
  /** As it is stored. */
  readonly entry: Entry;
  /** As the caller sees it. */
  readonly shown: Entry;
}

/** Answers from fresh entries. The same question within a second gets the very same answer, made once. */
export type HitAnswer = (ask: Ask, hit: Hit, now: EpochMs) => Answer;

interface Parts {
  readonly book: Pick<CardBook, 'current'>;
  readonly era: Era;
}

/** What an answer to a hit depends on besides its entry; `cardAnswer` is shown nothing else of the request. */
interface Question {
  readonly method: string;
  readonly acceptEncoding: string | undefined;
  readonly noneMatch: string | undefined;
  readonly modifiedSince: string | undefined;
}

interface Known {
  readonly question: Question;
  readonly hit: Hit;
  readonly era: number;
  readonly times: Times;
  readonly answer: Answer;
}

/** Floor of a hit that was answered before: three fields read, one look-up, a dozen comparisons. */
export const createHitAnswers = (parts: Parts): HitAnswer => {
  const answers = new HitAnswers(parts);
  return (ask, hit, now) => answers.answer(ask, hit, now);
};

class HitAnswers {
  readonly #parts: Parts;
  readonly #second = new ThisSecond<Entry, Known>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  answer(ask: Ask, hit: Hit, now: EpochMs): Answer {
    this.#second.follow(now);
    const question = questionOf(ask);
    const era = this.#parts.era();
    for (const known of this.#second.of(hit.shown) ?? NONE) {
      if (isSame(known.question, question) && isOf(known, hit, era) && stands(known, now)) return known.answer;
    }
    return this.#make(question, { hit, era, times: timesOfHit(hit, now) }, now);
  }

  #make(question: Question, made: Omit<Known, 'question' | 'answer'>, now: EpochMs): Answer {
    const { hit, era } = made;
    const { book, era: today } = this.#parts;
    const holds = (at: EpochMs): boolean =>
      era === today() && stands(made, at) && book.current(hit.agent, hit.request) === hit.entry;
    const once = answerTo(question, hit, made.times, now);
    // Every refusal leaves evidence, so that each is made.
    if (once.trace.code !== undefined) return once;
    const answer = { ...once, holds };
    this.#second.keep(hit.shown, { ...made, question, answer }, sizeOf(question) + hit.shown.body.byteLength);
    return answer;
  }
}

const NONE: readonly Known[] = [];

const questionOf = (ask: Ask): Question => ({
  method: ask.method,
  acceptEncoding: ask.field('accept-encoding'),
  noneMatch: ask.field('if-none-match'),
  modifiedSince: ask.field('if-modified-since'),
});

const isSame = (one: Question, other: Question): boolean =>
  one.method === other.method &&
  one.acceptEncoding === other.acceptEncoding &&
  one.noneMatch === other.noneMatch &&
  one.modifiedSince === other.modifiedSince;

const isOf = (known: Known, { agent, request, entry }: Hit, era: number): boolean =>
  known.era === era && known.hit.agent === agent && known.hit.request === request && known.hit.entry === entry;

const timesOfHit = ({ shown, agent }: Hit, now: EpochMs): Times =>
  timesOf({ entry: shown, left: freshFor(shown, now), clientMaxAge: agent.cache.clientMaxAge }, now);

/** True where an answer says today what it said when it was made: its entry is as fresh, to the second. */
function stands({ hit, times }: Pick<Known, 'hit' | 'times'>, now: EpochMs): boolean {
  const today = timesOfHit(hit, now);
  return today.ttl > 0 && isSameTime(today, times);
}

const sizeOf = ({ acceptEncoding = '', noneMatch = '', modifiedSince = '' }: Question): number =>
  acceptEncoding.length + noneMatch.length + modifiedSince.length;

function answerTo(question: Question, { shown, agent }: Hit, { ttl }: Times, now: EpochMs): Answer {
  const fields = new Map([
    ['accept-encoding', question.acceptEncoding],
    ['if-none-match', question.noneMatch],
    ['if-modified-since', question.modifiedSince],
  ]);
  const ask = { method: question.method, field: (name: string) => fields.get(name) };
  const { clientMaxAge } = agent.cache;
  const cache = cacheStatusHit({ ttl });
  return cardAnswer(ask, { entry: shown, now, cache, result: 'hit', forThisRequest: false, clientMaxAge });
}
