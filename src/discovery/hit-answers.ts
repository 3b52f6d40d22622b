import { cacheStatusHit } from '../http/answer.ts';
import { currentAge, freshFor, ttlOf } from '../http/freshness.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Entry } from '../kernel/entry.ts';
import { type EpochMs, type Seconds, ms, msToSeconds } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import { cardAnswer } from './card-answer.ts';
import type { CardBook } from './card-book.ts';
import type { CardRequest } from './card-request.ts';
import type { Era } from './era.ts';

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

/** Of time an answer depends on these whole seconds alone: `Age`, `max-age` less `Age`, and `ttl`. */
interface Times {
  readonly age: Seconds;
  readonly left: Seconds;
  readonly ttl: Seconds;
}

interface Known {
  readonly question: Question;
  readonly hit: Hit;
  readonly era: number;
  readonly times: Times;
  readonly answer: Answer;
}

/** What is kept for the current second: the cards of a busy sidecar many times over. */
const MOST_BYTES = 4 * 1024 * 1024;
/** An answer's objects and fields, and those of its form on the wire. */
const PER_ANSWER = 4 * 1024;
/** Questions about one entry that are remembered: clients are of a few kinds. */
const MOST_QUESTIONS = 16;

/** Floor of a hit that was answered before: three fields read, one look-up, a dozen comparisons. */
export const createHitAnswers = (parts: Parts): HitAnswer => {
  const answers = new HitAnswers(parts);
  return (ask, hit, now) => answers.answer(ask, hit, now);
};

class HitAnswers {
  readonly #parts: Parts;
  readonly #known = new Map<Entry, readonly Known[]>();
  #second = 0;
  #bytes = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  answer(ask: Ask, hit: Hit, now: EpochMs): Answer {
    this.#follow(now);
    const question = questionOf(ask);
    const era = this.#parts.era();
    for (const known of this.#known.get(hit.shown) ?? NONE) {
      if (isSame(known.question, question) && isOf(known, hit, era) && stands(known, now)) return known.answer;
    }
    return this.#make(question, { hit, era, times: timesOf(hit, now) }, now);
  }

  /** Nothing stays longer than the second that it was made in. */
  #follow(now: EpochMs): void {
    const second = Math.floor(now / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#forget();
  }

  #forget(): void {
    this.#known.clear();
    this.#bytes = 0;
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
    this.#bytes += sizeOf(question) + hit.shown.body.byteLength + PER_ANSWER;
    if (this.#bytes > MOST_BYTES) this.#forget();
    const others = this.#known.get(hit.shown) ?? NONE;
    this.#known.set(hit.shown, [{ ...made, question, answer }, ...others.slice(0, MOST_QUESTIONS - 1)]);
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

function timesOf({ shown, agent }: Hit, now: EpochMs): Times {
  const fresh = freshFor(shown, now);
  return {
    age: msToSeconds(currentAge(shown, now)),
    left: msToSeconds(ms(Math.min(fresh, agent.cache.clientMaxAge))),
    ttl: ttlOf(fresh),
  };
}

/** True where an answer says today what it said when it was made: its entry is as fresh, to the second. */
function stands({ hit, times }: Pick<Known, 'hit' | 'times'>, now: EpochMs): boolean {
  const { age, left, ttl } = timesOf(hit, now);
  return ttl > 0 && age === times.age && left === times.left && ttl === times.ttl;
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
