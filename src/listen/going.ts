import type { Answer } from '../kernel/answer.ts';
import type { Tag } from '../kernel/ids.ts';
import { cutOff } from './cut-off.ts';
import { type Exchange, sinkOf } from './exchange.ts';

/** Answers that are being written: what is killed meanwhile is cut off, however slowly its client reads. */
export interface Going {
  /** Remembers an answer, if it is of something that can be killed, until its client has it. */
  add(exchange: Exchange, answer: Pick<Answer, 'tags' | 'lastWords'>): void;
  /** How many answers of something that carries the tag are being written now. */
  count(scope: Tag): number;
  /** Cuts off every answer of something that carries the tag, now. */
  cut(scope: Tag): void;
}

/** What is killed by its tags, and whether its body says so by itself. */
interface Killable {
  readonly tags: readonly Tag[];
  readonly lastWords: boolean;
}

/** Long enough for a client that reads, short enough for "at once". In ms. */
const LAST_WORDS = 50;

/** Bounded by the listener's connections and their streams. */
export function createGoing(): Going {
  const going = new Map<Exchange, Killable>();
  const cutLate = (exchange: Exchange): void => {
    setTimeout(() => {
      if (going.has(exchange)) cutOff(exchange);
    }, LAST_WORDS).unref();
  };
  return {
    add(exchange, { tags, lastWords = false }) {
      if (tags === undefined) return;
      const sink = sinkOf(exchange);
      // Nearly always the system has taken all of it by now, and there is nothing left to cut.
      if (sink.destroyed || (sink.writableEnded && sink.writableLength === 0)) return;
      going.set(exchange, { tags, lastWords });
      sink.once('close', () => going.delete(exchange));
    },
    count: (scope) => [...going.values()].filter(({ tags }) => tags.includes(scope)).length,
    cut(scope) {
      for (const [exchange, { tags, lastWords }] of going) {
        if (!tags.includes(scope)) continue;
        // Whoever does not read hears no last words either.
        if (lastWords && !sinkOf(exchange).writableNeedDrain) cutLate(exchange);
        else cutOff(exchange);
      }
    },
  };
}
