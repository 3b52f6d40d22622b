import type { Tag } from '../kernel/ids.ts';

/** What ends work that is on its way: the end of the daemon, a kill that covers it, or rules that are gone. */
export interface Stops {
  /** Aborts when the daemon ends or something with one of these tags is killed. */
  signal(tags: readonly Tag[]): AbortSignal;
  /** Ends everything that carries the tag, now. */
  stop(scope: Tag): void;
  /** Ends what is on its way under exactly these tags. */
  end(tags: readonly Tag[]): void;
}

interface Stop {
  readonly tags: readonly Tag[];
  readonly controller: AbortController;
  readonly signal: AbortSignal;
}

/**
 * Makes one signal per set of tags, not one per request. Sets come from the configuration (an agent's, a rule's), so there are
 * no more of them than it has agents and rules.
 */
export function createStops(stopping: AbortSignal): Stops {
  const stops = new Map<string, Stop>();
  const end = (key: string, why: string): void => {
    stops.get(key)?.controller.abort(new Error(why));
    stops.delete(key);
  };
  return {
    signal(tags) {
      const key = keyOf(tags);
      const known = stops.get(key);
      if (known !== undefined) return known.signal;
      const controller = new AbortController();
      const signal = AbortSignal.any([stopping, controller.signal]);
      stops.set(key, { tags, controller, signal });
      return signal;
    },
    stop(scope) {
      for (const [key, { tags }] of stops) if (tags.includes(scope)) end(key, 'stopped by the kill switch');
    },
    end: (tags) => end(keyOf(tags), 'the configuration has changed'),
  };
}

const keyOf = (tags: readonly Tag[]): string => tags.join('\0');
