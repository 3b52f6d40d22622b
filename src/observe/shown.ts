import { Counter, Gauge, type Registry } from 'prom-client';
import { type MetricName, named } from './metric-table.ts';

/** Takes one series: its labels, those of the metric's row, and its value. */
export type Show = (labels: Readonly<Record<string, string>>, value: number) => void;

/** Lists every series of a metric as it stands. */
export type ListSeries = (show: Show) => void;

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

function seriesOf(list: ListSeries): Series[] {
  const series: Series[] = [];
  list((labels, value) => series.push({ labels, value }));
  return series;
}

/*
 * prom-client's metrics for exposition alone: they are never told of anything, and show what is listed when somebody scrapes. A
 * metric that is told finds each of its series by a text made of all labels, which for a thousand agents takes as long as the rest
 * of a scrape.
 */

function listing(metric: Counter | Gauge, list: ListSeries) {
  const get = metric.get.bind(metric);
  return Object.assign(metric, { get: async () => ({ ...(await get()), values: seriesOf(list) }) });
}

export function showGauge(registry: Registry, name: MetricName, list: ListSeries): void {
  registry.registerMetric(listing(new Gauge({ ...named(name), registers: [] }), list));
}

export function showCounter(registry: Registry, name: MetricName, list: ListSeries): void {
  registry.registerMetric(listing(new Counter({ ...named(name), registers: [] }), list));
}
