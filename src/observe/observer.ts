import type { Event } from '../kernel/event.ts';
import type { Observer } from '../ports.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Tells metrics and log of everything. What observes must never break what is observed. */
export function createObserver(metrics: Pick<Metrics, 'record'>, log: Log): Observer {
  return {
    record(event: Event) {
      try {
        metrics.record(event);
        log.record(event);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error), { type: 'CardeaObserverWarning' });
      }
    },
  };
}
