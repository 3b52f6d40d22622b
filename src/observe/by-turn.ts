import type { DestinationStream } from 'pino';

/** Where lines go that wait for the end of a turn. */
export interface TurnedLines extends DestinationStream {
  /** Writes what waits, now. */
  flush(): void;
}

/** Lines that wait are no more than this: a long turn must not heap them up. */
const MOST_WAITING = 64 * 1024;

/**
 * Writes the lines of one turn of the event loop in one piece when it is over: an answer that is made in it does not wait until a reader
 * of the log has taken what is said of it. Whoever ends the process flushes first.
 */
export function byTurn(destination: DestinationStream, atEndOfTurn: (run: () => void) => unknown): TurnedLines {
  let waiting = '';
  const flush = (): void => {
    const lines = waiting;
    waiting = '';
    if (lines !== '') destination.write(lines);
  };
  return {
    flush,
    write(line) {
      if (waiting === '') atEndOfTurn(flush);
      waiting += line;
      if (waiting.length > MOST_WAITING) flush();
    },
  };
}
