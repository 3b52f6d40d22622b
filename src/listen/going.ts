import type { Tag } from '../kernel/ids.ts';
import { cutOff } from './cut-off.ts';
import { type Exchange, sinkOf } from './exchange.ts';

/** Answers that are being written: what is killed meanwhile is cut off, however slowly its client reads. */
export interface Going {
  /** Remembers an answer of something that carries these tags until its client has it. */
  add(exchange: Exchange, tags: readonly Tag[]): void;
  /** Cuts off every answer of something that carries the tag, now. */
  cut(scope: Tag): void;
}

/** Bounded by the listener's connections and their streams. */
export function createGoing(): Going {
  const going = new Map<Exchange, readonly Tag[]>();
  return {
    add(exchange, tags) {
      const sink = sinkOf(exchange);
      // Nearly always the system has taken all of it by now, and there is nothing left to cut.
      if (sink.destroyed || (sink.writableEnded && sink.writableLength === 0)) return;
      going.set(exchange, tags);
      sink.once('close', () => going.delete(exchange));
    },
    cut(scope) {
      for (const [exchange, tags] of going) if (tags.includes(scope)) cutOff(exchange);
    },
  };
}
