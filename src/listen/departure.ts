import type { Writable } from 'node:stream';

/** Watches whether a client is still there while something else is waited for. */
export interface Departure {
  /** Resolves as the promise does, or to undefined as soon as the client is gone. One wait at a time. */
  orGone<T>(waited: Promise<T>): Promise<T | undefined>;
  /** Ends the watch. */
  forget(): void;
}

/** One listener for a whole answer: racing each piece against one long promise would keep every piece of a long stream in memory. */
export function watchDeparture(sink: Writable): Departure {
  let gone = sink.destroyed;
  let tell: (() => void) | undefined;
  const leave = (): void => {
    gone = true;
    tell?.();
  };
  sink.once('close', leave);
  return {
    orGone: (waited) =>
      new Promise((resolve, reject) => {
        tell = () => resolve(undefined);
        if (gone) tell();
        waited.then(resolve, reject);
      }),
    forget: () => void sink.off('close', leave),
  };
}
