import type { Tag } from '../kernel/ids.ts';

/** What ends work that is on its way: the end of the daemon, a kill that covers it, or rules that are gone. */
export interface Stops {
  /** Aborts when the daemon ends or something with one of these tags is killed. */
  signal(tags: readonly Tag[]): AbortSignal;
  /** The same for one piece of work whose tags come from a card; it must be forgotten when the work is over. */
  watch(tags: readonly Tag[]): Watched;
  /** Ends everything that carries the tag, now: a kill or a registry stops it. */
  stop(scope: Tag): void;
  /** Ends what is on its way under tags of which this is so. */
  endWhere(isGone: (tags: readonly Tag[]) => boolean): void;
  /** Ends what is on its way under exactly these tags. */
  end(tags: readonly Tag[]): void;
  /** Ends what is watched and carries the tag: its agent is not the one that it was begun with. */
  endWatched(scope: Tag): void;
}

export interface Watched {
  readonly signal: AbortSignal;
  forget(): void;
}

interface Stop {
  readonly tags: readonly Tag[];
  readonly controller: AbortController;
}

/**
 * Sets of tags that are remembered, the latest used: a set each for agents and for the origins and cards that callers name themselves.
 * Exchanges at one time are far fewer, and whatever is forgotten while it is on its way is still looked at before it is stored, and has
 * its own deadline.
 */
const MOST = 4_096;

/** Makes one signal per set of tags, not one per request. */
export function createStops(stopping: AbortSignal): Stops {
  const stops = new Map<string, Stop>();
  const end = (key: string, why: string): void => {
    stops.get(key)?.controller.abort(new Error(why));
    stops.delete(key);
  };
  const watched = new Set<Stop>();
  const endWatched = (scope: Tag, why: string): void => {
    for (const { tags, controller } of watched) if (tags.includes(scope)) controller.abort(new Error(why));
  };
  const begin = (tags: readonly Tag[]): Stop => ({ tags, controller: controllerUnder(stopping) });
  // One listener for all of them: a signal of its own that follows two others costs more than everything else here.
  const endAll = (): void => {
    for (const { controller } of [...stops.values(), ...watched]) controller.abort(stopping.reason);
  };
  stopping.addEventListener('abort', endAll, { once: true });
  return {
    signal(tags) {
      const key = keyOf(tags);
      const known = stops.get(key);
      if (known !== undefined) {
        stops.delete(key);
        stops.set(key, known);
        return known.controller.signal;
      }
      const [oldest] = stops.keys();
      if (stops.size >= MOST && oldest !== undefined) stops.delete(oldest);
      const stop = begin(tags);
      stops.set(key, stop);
      return stop.controller.signal;
    },
    watch(tags) {
      const stop = begin(tags);
      watched.add(stop);
      return { signal: stop.controller.signal, forget: () => void watched.delete(stop) };
    },
    stop(scope) {
      for (const [key, { tags }] of stops) if (tags.includes(scope)) end(key, KILLED);
      endWatched(scope, KILLED);
    },
    endWhere(isGone) {
      for (const [key, { tags }] of stops) if (isGone(tags)) end(key, CHANGED);
    },
    end: (tags) => end(keyOf(tags), CHANGED),
    endWatched: (scope) => endWatched(scope, CHANGED),
  };
}

function controllerUnder(stopping: AbortSignal): AbortController {
  const controller = new AbortController();
  if (stopping.aborted) controller.abort(stopping.reason);
  return controller;
}

const KILLED = 'stopped by the kill switch or a registry';
const CHANGED = 'the configuration has changed';

const keyOf = (tags: readonly Tag[]): string => tags.join('\0');
