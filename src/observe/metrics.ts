import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Event } from '../kernel/event.ts';
import type { AgentName, CardDigest } from '../kernel/ids.ts';
import { CARD_STATES, type CardState, SIGNATURE_VERDICTS, type SignatureVerdict } from '../kernel/outcome.ts';
import type { Receipt } from '../kernel/receipt.ts';
import { METRICS, type MetricName } from './metric-table.ts';

/** How one agent's card stands, as far as metrics show it; instants are in ms. */
export interface CardGauge {
  readonly agent: AgentName;
  readonly state: CardState;
  readonly lastSuccess: number;
  readonly freshUntil: number;
  readonly staleSince: number;
  readonly signature: SignatureVerdict | null;
  readonly version: string | null;
  readonly protocolVersion: string | null;
  readonly digest: CardDigest | null;
}

/** What is read at each scrape rather than counted. */
export interface MetricSources {
  cards(): readonly CardGauge[];
  cache(): { readonly entries: number; readonly bytes: number };
  config(): { readonly digest: string; readonly adoptedAt: number; readonly lastSuccessful: boolean };
}

export interface Metrics {
  record(event: Event): void;
  /** Renders a scrape: text 0.0.4, or OpenMetrics where `Accept` asks for it. */
  scrape(accept: string | undefined): Promise<{ readonly type: string; readonly body: string }>;
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** A version is a label: what an origin writes there is cut down to what a label can bear. */
const LONGEST_VERSION = 32;

export function createMetrics(
  sources: MetricSources,
  build: { readonly version: string; readonly node: string },
): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const counters = createCounters(registry, () => new Set(sources.cards().map((card) => card.agent)));
  createGauges(registry, sources, build);
  return {
    record: counters,
    async scrape(accept) {
      const open = /application\/openmetrics-text/i.test(accept ?? '');
      // One registry, two renderings: the type is set only for the time of one synchronous choice.
      const rendered = open ? asOpenMetrics(registry) : registry;
      return { type: rendered.contentType, body: await rendered.metrics() };
    },
  };
}

function asOpenMetrics(registry: Registry): Registry {
  const merged = new Registry();
  for (const metric of registry.getMetricsAsArray()) merged.registerMetric(metric as never);
  merged.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
  return merged;
}

const named = (name: MetricName) => ({ name, help: METRICS[name].help, labelNames: [...METRICS[name].labels] });

/** Counters and histograms: what happens is added up as it happens. */
function createCounters(registry: Registry, configured: () => ReadonlySet<string>): (event: Event) => void {
  const registers = [registry];
  const requests = new Counter({ ...named('cardea_requests_total'), registers });
  const requestTime = new Histogram({ ...named('cardea_request_duration_seconds'), registers, buckets: [...SECONDS] });
  const fetches = new Counter({ ...named('cardea_fetch_total'), registers });
  const fetchTime = new Histogram({ ...named('cardea_fetch_duration_seconds'), registers, buckets: [...SECONDS] });
  const denied = new Counter({ ...named('cardea_egress_denied_total'), registers });
  const evictions = new Counter({ ...named('cardea_cache_evictions_total'), registers });
  const label = (agent: AgentName | null): string => (agent !== null && configured().has(agent) ? agent : 'other');
  const recordReceipt = (receipt: Receipt): void => {
    if (receipt.kind !== 'exchange') return;
    const agent = label(receipt.agent);
    fetches.inc({ agent, outcome: receipt.outcome });
    fetchTime.observe({ agent }, receipt.took / 1000);
    if (receipt.outcome === 'denied' && receipt.code !== null) denied.inc({ reason: receipt.code });
  };
  return (event) => {
    switch (event.kind) {
      case 'request': {
        const { kind, result, agent } = event.trace;
        requests.inc({ agent: label(agent), kind, result });
        requestTime.observe({ kind, result }, event.took / 1000);
        return;
      }
      case 'receipt':
        return recordReceipt(event.receipt);
      case 'evicted':
        return evictions.inc({ reason: event.reason }, event.count);
      case 'notice':
        return;
    }
  };
}

/** Gauges: how things stand is read when it is asked for, since freshness changes by itself. */
function createGauges(
  registry: Registry,
  sources: MetricSources,
  build: { readonly version: string; readonly node: string },
): void {
  const gauge = (name: MetricName, collect: (gauge: Gauge) => void): void => {
    new Gauge({
      ...named(name),
      registers: [registry],
      collect() {
        this.reset();
        collect(this);
      },
    });
  };
  const perCard = (name: MetricName, set: (gauge: Gauge, card: CardGauge) => void): void =>
    gauge(name, (each) => {
      for (const card of sources.cards()) set(each, card);
    });
  perCard('cardea_card_last_success_timestamp_seconds', (each, card) =>
    each.set({ agent: card.agent }, card.lastSuccess / 1000),
  );
  perCard('cardea_card_fresh_until_timestamp_seconds', (each, card) =>
    each.set({ agent: card.agent }, card.freshUntil / 1000),
  );
  perCard('cardea_card_stale_since_timestamp_seconds', (each, card) =>
    each.set({ agent: card.agent }, card.staleSince / 1000),
  );
  perCard('cardea_card_state', (each, card) => {
    for (const state of CARD_STATES) each.set({ agent: card.agent, state }, state === card.state ? 1 : 0);
  });
  perCard('cardea_card_signature', (each, card) => {
    for (const verdict of SIGNATURE_VERDICTS)
      each.set({ agent: card.agent, verdict }, verdict === card.signature ? 1 : 0);
  });
  perCard('cardea_card_info', (each, card) => {
    if (card.digest === null) return;
    const version = shortVersion(card.version);
    each.set({ agent: card.agent, version, protocol_version: card.protocolVersion ?? '', digest: card.digest }, 1);
  });
  gauge('cardea_cache_entries', (each) => each.set({ kind: 'public' }, sources.cache().entries));
  gauge('cardea_cache_bytes', (each) => each.set({ kind: 'public' }, sources.cache().bytes));
  gauge('cardea_config_last_reload_successful', (each) => each.set(sources.config().lastSuccessful ? 1 : 0));
  gauge('cardea_config_last_reload_success_timestamp_seconds', (each) => each.set(sources.config().adoptedAt / 1000));
  gauge('cardea_config_info', (each) => each.set({ digest: sources.config().digest }, 1));
  gauge('cardea_build_info', (each) => each.set(build, 1));
}

const shortVersion = (version: string | null): string =>
  (version ?? '').replace(/[^0-9A-Za-z.+-]/g, '').slice(0, LONGEST_VERSION);
