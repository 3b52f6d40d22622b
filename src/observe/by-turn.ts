import type { DestinationStream } from 'pino';
import { ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** Where lines go that wait for the end of a turn. */
export interface TurnedLines extends DestinationStream {
  /** Has lines made, which `make` writes here, before the others are written. It must not throw. */
  soon(make: () => void): void;
  /** Writes what waits, now. */
  flush(): void;
}

interface Turns {
  readonly clock: Pick<Clock, 'after'>;
  readonly atEndOfTurn: (run: () => void) => unknown;
}

/** Lines that wait are no more than this: a long turn must not heap them up. */
const MOST_WAITING = 64 * 1024;
/** And what is to be made into lines no more than this: at some 20 µs each nobody waits long. */
const MOST_UNMADE = 64;
/** From one write to the next: under load most lines go out with others, and no reader is woken for each. */
const PAUSE = ms(20);

/**
 * Writes the lines of one turn of the event loop in one piece when it is over: an answer that is made in it does not wait until a reader
 * of the log has taken what is said of it. Those of the turns that follow closely wait for one another. Whoever ends the process
 * flushes first. What is not a line yet is made into one then, while no answer waits for it.
 */
export function byTurn(destination: DestinationStream, { clock, atEndOfTurn }: Turns): TurnedLines {
  let waiting = '';
  let unmade: (() => void)[] = [];
  let isPausing = false;
  const isEmpty = (): boolean => waiting === '' && unmade.length === 0;
  const flush = (): void => {
    const makers = unmade;
    unmade = [];
    for (const make of makers) make();
    const lines = waiting;
    waiting = '';
    if (lines !== '') destination.write(lines);
  };
  const flushAndPause = (): void => {
    isPausing = !isEmpty();
    if (!isPausing) return;
    flush();
    clock.after(PAUSE, flushAndPause);
  };
  const expect = (): void => {
    if (isEmpty() && !isPausing) atEndOfTurn(flushAndPause);
  };
  return {
    flush,
    soon(make) {
      expect();
      unmade.push(make);
      if (unmade.length > MOST_UNMADE) flush();
    },
    write(line) {
      expect();
      waiting += line;
      if (waiting.length > MOST_WAITING) flush();
    },
  };
}
