import { setImmediate as otherWork } from 'node:timers/promises';
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
  const names = (): readonly string[] => sources.registries().map(({ name }) => name);
  const counters = createCounters(registry, () => sources.agents(), names);
  const gauges = createGauges(registry, sources, build);
  const render = async (): Promise<string> => {
    counters.follow();
    gauges.read();
    const families: string[] = [];
    for (const { name } of registry.getMetricsAsArray()) {
      families.push(await registry.getSingleMetricAsString(name));
      await otherWork();
    }
    return `${families.join('\n\n')}\n`;
  };
  // One after the other: a scrape shows one moment's gauges, though it lets requests in between.
  let running: Promise<string> | undefined;
  const inTurn = async (): Promise<string> => {
    const mine = (running = running === undefined ? render() : running.then(render, render));
    try {
      return await mine;
    } finally {
      if (running === mine) running = undefined;
    }
  };
  return {
    record: counters.record,
    async scrape(accept) {
      const text = await inTurn();
      switch (chooseExposition(accept)) {
        case 'text':
          return { type: registry.contentType, body: text };
        case 'openmetrics':
          return { type: OPENMETRICS_TYPE, body: toOpenMetrics(text) };
      }
    },
  };
}
