import { Counter, Histogram, type Registry } from 'prom-client';
import { EVICTION_REASONS, type Event } from '../kernel/event.ts';
import type { FaultCode } from '../kernel/faults.ts';
import type { AgentName } from '../kernel/ids.ts';
import { KILL_KINDS } from '../kernel/kill.ts';
import { EGRESS_DENIALS, FETCH_OUTCOMES, SIGNATURE_VERDICTS, type SignatureVerdict } from '../kernel/outcome.ts';
import type { ExchangeReceipt, Receipt } from '../kernel/receipt.ts';
import type { Ms } from '../kernel/units.ts';
import { ForwardCounts } from './forward-counts.ts';
import { LookupCounts } from './lookup-counts.ts';
import { named } from './metric-table.ts';
import { OTHER, RequestCounts } from './request-counts.ts';
import { DURATION_BUCKETS, exportTimes, RequestTimes } from './request-times.ts';
import { showCounter } from './shown.ts';

/** The names of the configuration in force; the same object until the next reload. */
export interface ConfiguredAgents {
  has(agent: AgentName): boolean;
  keys(): Iterable<AgentName>;
  get(agent: AgentName): { readonly card: { readonly route: 'direct' | 'through' } } | undefined;
}

/** What happens is added up as it happens. */
export interface Counters {
  record(event: Event): void;
  /** Gives every configured agent its series, at 0, and takes away those of agents that are gone. Cheap where nothing changed. */
  follow(): void;
}

const SECONDS = DURATION_BUCKETS.map((bound) => bound / 1000);

/** @param registries the names that are configured now: no other becomes a label. */
export function createCounters(
  registry: Registry,
  agents: () => ConfiguredAgents,
  registries: () => readonly string[],
): Counters {
  const counters = new AgentCounters(registry, agents);
  const registers = [registry];
  const evictions = new Counter({ ...named('cardea_cache_evictions_total'), registers });
  for (const reason of EVICTION_REASONS) evictions.inc({ reason }, 0);
  const killed = new Counter({ ...named('cardea_kill_switch_denials_total'), registers });
  for (const scope of KILL_KINDS) killed.inc({ scope }, 0);
  const lost = new Counter({ ...named('cardea_receipts_lost_total'), registers });
  const verifications = new Counter({ ...named('cardea_verify_total'), registers });
  const keyFetches = new Counter({ ...named('cardea_jwks_fetch_total'), registers });
  const lookups = new LookupCounts(registry, registries);
  for (const result of FETCH_OUTCOMES) if (result !== 'not_modified') keyFetches.inc({ result }, 0);
  for (const result of [...SIGNATURE_VERDICTS, ...SIGNATURE_REFUSALS]) verifications.inc({ result }, 0);
  const countReceipt = (receipt: Receipt): void => {
    const result = verificationOf(receipt);
    if (result !== undefined) verifications.inc({ result });
    if (receipt.kind !== 'exchange') return;
    if (receipt.purpose === 'keys') keyFetches.inc({ result: receipt.outcome });
    counters.exchange(receipt);
  };
  return {
    follow() {
      counters.follow();
      lookups.follow();
    },
    record(event) {
      switch (event.kind) {
        case 'request':
          if (event.trace.kill !== undefined) killed.inc({ scope: event.trace.kill });
          return counters.request(event);
        case 'receipt':
          return countReceipt(event.receipt);
        case 'forward':
          return counters.forward(event);
        case 'evicted':
          return evictions.inc({ reason: event.reason }, event.count);
        case 'lookup':
          return lookups.add(event);
        case 'receipts-lost':
          return lost.inc(event.count);
        case 'notice':
          return;
      }
    },
  };
}

const SIGNATURE_REFUSALS: readonly FaultCode[] = [
  'signature-required',
  'signature-invalid',
  'signature-untrusted',
  'key-revoked',
  'keys-unavailable',
];

/** How the verification of a card ended: the verdict, or the code of the refusal; undefined where none took place. */
function verificationOf(receipt: Receipt): SignatureVerdict | FaultCode | undefined {
  if (receipt.kind === 'exchange' && (receipt.purpose !== 'card' || receipt.status === 304)) return undefined;
  if (receipt.kind !== 'exchange' && receipt.kind !== 'verdict') return undefined;
  const { verdict, code } = receipt;
  return verdict?.signature ?? SIGNATURE_REFUSALS.find((each) => each === code);
}

/** Counts per agent; labels come from the configuration and from closed lists alone. */
class AgentCounters {
  readonly #agents: () => ConfiguredAgents;
  /** Whose series there are, as of the last look. */
  #followed: { readonly configured: ConfiguredAgents; readonly names: ReadonlySet<AgentName> } | undefined;
  readonly #requests = new RequestCounts();
  readonly #requestTimes = new RequestTimes();
  readonly #fetches: Counter<'agent' | 'outcome'>;
  readonly #fetchTime: Histogram<'agent'>;
  readonly #denied: Counter<'reason'>;
  readonly #forwards: ForwardCounts;

  constructor(registry: Registry, agents: () => ConfiguredAgents) {
    this.#agents = agents;
    const shared = { registers: [registry] };
    const timed = { ...shared, buckets: SECONDS };
    showCounter(registry, 'cardea_requests_total', (show) => {
      for (const { labels, count } of this.#requests.list()) show(labels, count);
    });
    exportTimes(registry, this.#requestTimes);
    this.#fetches = new Counter({ ...named('cardea_fetch_total'), ...shared });
    this.#fetchTime = new Histogram({ ...named('cardea_fetch_duration_seconds'), ...timed });
    this.#denied = new Counter({ ...named('cardea_egress_denied_total'), ...shared });
    // Shown before the first time, since one is worth an alarm.
    for (const reason of EGRESS_DENIALS) this.#denied.inc({ reason }, 0);
    this.#forwards = new ForwardCounts(registry, SECONDS);
  }

  forward({ agent, what }: Extract<Event, { kind: 'forward' }>): void {
    // A stream may outlive its agent's configuration, and its series with it.
    if (this.#label(agent) === agent) this.#forwards.add(agent, what);
  }

  request({ trace, took }: Extract<Event, { kind: 'request' }>): void {
    const { agent, kind, result } = trace;
    if (!this.#requests.add(agent ?? OTHER, kind, result)) this.#requests.add(this.#label(agent), kind, result);
    this.#requestTimes.add(kind, result, took);
  }

  exchange(receipt: ExchangeReceipt): void {
    // Keys, calls and registries are counted by themselves.
    if (receipt.purpose !== 'keys' && receipt.purpose !== 'forward' && receipt.purpose !== 'registry') {
      const agent = this.#label(receipt.agent);
      this.#fetches.inc({ agent, outcome: receipt.outcome });
      this.#fetchTime.observe({ agent }, inSeconds(receipt.took));
    }
    if (receipt.outcome === 'denied' && receipt.code !== null) this.#denied.inc({ reason: receipt.code });
  }

  follow(): void {
    const configured = this.#agents();
    if (this.#followed?.configured === configured) return;
    const before = this.#followed?.names ?? new Set();
    const names = new Set(configured.keys());
    this.#requests.follow(names);
    for (const gone of before) if (!names.has(gone) && gone !== OTHER) this.#forget(gone);
    for (const added of names) if (!before.has(added)) this.#begin(added);
    for (const name of names) if (configured.get(name)?.card.route === 'through') this.#forwards.begin(name);
    this.#followed = { configured, names };
  }

  #label(agent: AgentName | null): AgentName | typeof OTHER {
    if (agent === null || !this.#agents().has(agent)) return OTHER;
    this.follow();
    return agent;
  }

  /** A series that begins with its first event hides that event from `rate`. */
  #begin(agent: AgentName): void {
    for (const outcome of FETCH_OUTCOMES) this.#fetches.inc({ agent, outcome }, 0);
    this.#fetchTime.zero({ agent });
  }

  #forget(agent: AgentName): void {
    for (const outcome of FETCH_OUTCOMES) this.#fetches.remove({ agent, outcome });
    this.#fetchTime.remove({ agent });
    this.#forwards.forget(agent);
  }
}

/** A clock that was set back in between makes no negative time. */
const inSeconds = (took: Ms): number => Math.max(0, took) / 1000;
