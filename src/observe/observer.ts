import type { Event } from '../kernel/event.ts';
import type { Observer } from '../ports.ts';
import { guarded } from './guarded.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Tells metrics and log of everything. What observes must never break what is observed, nor may one keep the other from it. */
export function createObserver(metrics: Pick<Metrics, 'record'>, log: Pick<Log, 'record'>): Observer {
  const sinks = [
    guarded('metrics', (event: Event) => metrics.record(event)),
    guarded('log', (event: Event) => log.record(event)),
  ];
  return {
    record(event) {
      for (const record of sinks) record(event);
    },
  };
}
