import net from 'node:net';
import type { Writable } from 'node:stream';
import type { Answer } from '../kernel/answer.ts';
import type { Tag } from '../kernel/ids.ts';
import { cutOff } from './cut-off.ts';
import { type Exchange, sinkOf } from './exchange.ts';
import { Row } from './row.ts';

/**
 * Answers that are being written: what is killed meanwhile is cut off, however slowly its client reads, and so is what was handed over
 * whole and is not taken in time.
 */
export interface Going {
  /**
   * Remembers an answer until its client has it.
   * @param isWhole false where it is written piece by piece: whoever writes it looks at the time that each takes.
   */
  add(exchange: Exchange, answer: Pick<Answer, 'tags' | 'lastWords'>, isWhole: boolean): void;
  /** The same for an answer that was handed to its connection as it stands. */
  addBytes(socket: net.Socket, answer: Pick<Answer, 'tags'>): void;
  /** How many answers of something that carries the tag are being written now. */
  count(scope: Tag): number;
  /** Cuts off every answer of something that carries the tag, now. */
  cut(scope: Tag): void;
}

/** What an answer is cut off with: its exchange, or the connection where Node knows of none. */
type Way = Exchange | net.Socket;

interface Written {
  readonly way: Way;
  /** What it is killed by, and whether its body says so by itself. */
  readonly tags: readonly Tag[];
  readonly lastWords: boolean;
  /** When it is cut off, by `performance.now()`. */
  readonly until: number;
}

/** Long enough for a client that reads, short enough for "at once". In ms. */
const LAST_WORDS = 50;

/**
 * Bounded by the listener's connections and their streams. Floor: one place in a row for an answer that the system
 * has not taken at once, as is every one on HTTP/2.
 * @param patience longest time that a client may take for an answer that was handed over whole, in ms.
 */
export function createGoing(patience: number): Going {
  // Of the same patience all: they are due in the order in which they came.
  const whole = new Row<Written>();
  const parts = new Row<Written>();
  const watch = watchDue(whole);
  return {
    add(exchange, { tags = NO_TAGS, lastWords = false }, isWhole) {
      const sink = sinkOf(exchange);
      // Nearly always HTTP/1's has been taken by the system by now, and there is nothing left to cut.
      if (sink.destroyed || (sink.writableEnded && sink.writableLength === 0)) return;
      const until = isWhole ? performance.now() + patience : Number.POSITIVE_INFINITY;
      const row = isWhole ? whole : parts;
      const place = row.add({ way: exchange, tags, lastWords, until });
      if (exchange.protocol === 'http/2') exchange.whenOver(place);
      else sink.on('close', () => place.leave());
      if (isWhole) watch();
    },
    addBytes(socket, { tags = NO_TAGS }) {
      if (socket.writableLength === 0) return;
      const place = whole.add({ way: socket, tags, lastWords: false, until: performance.now() + patience });
      // Behind all of it, and told of the connection's end too.
      socket.write('', () => place.leave());
      watch();
    },
    count: (scope) => [...whole.members(), ...parts.members()].filter(({ tags }) => tags.includes(scope)).length,
    cut(scope) {
      for (const { way, tags, lastWords } of [...whole.members(), ...parts.members()]) {
        if (!tags.includes(scope)) continue;
        // Whoever does not read hears no last words either.
        if (lastWords && !outOf(way).writableNeedDrain) cutLate(way);
        else cut(way);
      }
    },
  };
}

const outOf = (way: Way): Writable => (way instanceof net.Socket ? way : sinkOf(way));

function cut(way: Way): void {
  if (way instanceof net.Socket) way.destroy();
  else cutOff(way);
}

function cutLate(way: Way): void {
  setTimeout(() => {
    if (!outOf(way).closed) cut(way);
  }, LAST_WORDS).unref();
}

const NO_TAGS: readonly Tag[] = [];

/** Makes what looks after a row whose first member is due first: one timer for all of them, that runs only while there are some. */
function watchDue(row: Row<Written>): () => void {
  let isWatched = false;
  const look = (): void => {
    isWatched = false;
    const now = performance.now();
    for (let place = row.first; place?.member !== undefined && place.member.until <= now; place = row.first) {
      const { way } = place.member;
      place.leave();
      // A client may have all of it and still not have ended its own side.
      if (!outOf(way).writableFinished) cut(way);
    }
    watch();
  };
  const watch = (): void => {
    const next = row.first?.member;
    if (isWatched || next === undefined) return;
    isWatched = true;
    setTimeout(look, Math.max(1, next.until - performance.now())).unref();
  };
  return watch;
}
