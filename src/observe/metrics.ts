import { Registry, collectDefaultMetrics } from 'prom-client';
import type { Event } from '../kernel/event.ts';
import { type ConfiguredAgents, createCounters } from './counters.ts';
import { OPENMETRICS_TYPE, chooseExposition, toOpenMetrics } from './exposition.ts';
import { type Build, type GaugeSources, createGauges } from './gauges.ts';

/** What metrics read of the daemon. */
export interface MetricSources extends GaugeSources {
  /** The rules' own map of agents: no other name becomes a label. */
  agents(): ConfiguredAgents;
}

export interface Metrics {
  record(event: Event): void;
  /** Renders a scrape: text 0.0.4, or OpenMetrics where `Accept` prefers it. */
  scrape(accept: string | undefined): Promise<Scrape>;
}

export interface Scrape {
  readonly type: string;
  readonly body: string;
}

/** Makes the metrics of one daemon, in a registry of their own. */
export function createMetrics(sources: MetricSources, build: Build): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counters = createCounters(registry, () => sources.agents());
  const gauges = createGauges(registry, sources, build);
  return {
    record: counters.record,
    async scrape(accept) {
      // The registry asks every metric before it waits for any, so scrapes at one time do not mix.
      counters.follow();
      gauges.read();
      const text = await registry.metrics();
      switch (chooseExposition(accept)) {
        case 'text':
          return { type: registry.contentType, body: text };
        case 'openmetrics':
          return { type: OPENMETRICS_TYPE, body: toOpenMetrics(text) };
      }
    },
  };
}
