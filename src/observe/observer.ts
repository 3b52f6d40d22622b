import type { Event } from '../kernel/event.ts';
import type { Observer } from '../ports.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Tells metrics and log of everything. What observes must never break what is observed, nor may one keep the other from it. */
export function createObserver(metrics: Pick<Metrics, 'record'>, log: Pick<Log, 'record'>): Observer {
  const sinks = [guarded('metrics', metrics), guarded('log', log)];
  return {
    record(event) {
      for (const record of sinks) record(event);
    },
  };
}

/** A sink that breaks is told of once, on stderr: what broke there breaks at every event, and would fill the disk. */
function guarded(name: string, sink: { record(event: Event): void }): (event: Event) => void {
  let told = false;
  return (event) => {
    try {
      sink.record(event);
    } catch (error) {
      if (told) return;
      told = true;
      const why = error instanceof Error ? error.message : String(error);
      process.emitWarning(`${name}: ${why}`, { type: 'CardeaObserverWarning' });
    }
  };
}
