import type { Own } from '../daemon.ts';
import { type PendingCounts, countByClass } from '../discovery/card-status.ts';
import type { Discovery } from '../discovery/discovery.ts';
import { kindOfScope } from '../kernel/kill.ts';
import type { MetricSources } from '../observe/metrics.ts';
import type { KillBook } from '../ports.ts';
import type { ExtendedStore } from '../ports/callers.ts';
import type { MemoryStore } from '../store/memory.ts';

/** The stores, which are there when they are asked for. */
interface Stores {
  readonly memory: () => MemoryStore;
  readonly extended: () => ExtendedStore;
}

/** What metrics show of the daemon: its parts are there when they are asked for. */
export const gauges = (
  { kills, lastReload }: Pick<Own, 'kills' | 'lastReload'>,
  { discovery, memory, extended }: Stores & { readonly discovery: () => Discovery },
): MetricSources => ({
  agents: () => discovery().rules().agents,
  cards: () => discovery().statuses(),
  unnamed: () => unnamedChanges(discovery()),
  keys: () => discovery().keySets(),
  registries: () => discovery().registries.list(),
  cache: () => ({ ...memory().held(), extended: extended().held() }),
  principals: () => extended().held().principals,
  kills: () => killGauge(kills),
  config: () => ({ digest: discovery().rules().digest, ...lastReload() }),
});

/** Of cards without a name together: nothing where no rule lets any. */
function unnamedChanges(discovery: Discovery): PendingCounts | null {
  if (discovery.rules().origins.every(({ card }) => card === null)) return null;
  return countByClass(
    discovery.unnamedWaiting().flatMap((agent) => discovery.reviews.pending(agent)),
    [],
  );
}

const killGauge = (kills: KillBook) => ({
  kinds: new Set(kills.active().map(({ scope }) => kindOfScope(scope))),
  persisted: kills.persisted(),
});
