import type { Tag } from '../kernel/ids.ts';

/** What ends work that is on its way: the end of the daemon, or a kill that covers it. */
export interface Stops {
  /** Aborts when the daemon ends or something with one of these tags is killed. */
  signal(tags: readonly Tag[]): AbortSignal;
  /** Ends everything that carries the tag, now. */
  stop(scope: Tag): void;
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
  return {
    signal(tags) {
      const key = tags.join('\0');
      const known = stops.get(key);
      if (known !== undefined) return known.signal;
      const controller = new AbortController();
      const signal = AbortSignal.any([stopping, controller.signal]);
      stops.set(key, { tags, controller, signal });
      return signal;
    },
    stop(scope) {
      for (const [key, { tags, controller }] of stops) {
        if (!tags.includes(scope)) continue;
        stops.delete(key);
        controller.abort(new Error('stopped by the kill switch'));
      }
    },
  };
}
