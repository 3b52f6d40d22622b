import { readFileSync } from 'node:fs';
import path from 'node:path';
import type pino from 'pino';
import { createAdmin } from './admin/api.ts';
import { type EventFeed, createEventFeed } from './admin/events.ts';
import type { ListenSettings } from './config/compile.ts';
import type { Settings } from './config/schema.ts';
import { createAdminPorts } from './daemon/admin-ports.ts';
import { adminAuthority } from './daemon/authority.ts';
import { askOf, proxyNotices } from './daemon/egress.ts';
import { createKilling } from './daemon/killing.ts';
import { type Started, openAll, startLine } from './daemon/places.ts';
import { type DaemonState, takeNoState, takeState } from './daemon/state.ts';
import { type Status, createStatus } from './daemon/status.ts';
import { type Discovery, createDiscovery } from './discovery/discovery.ts';
import type { Handle } from './discovery/handle.ts';
import type { KillSwitch } from './discovery/kill-switch.ts';
import { type ClosableFetcher, createFetcher } from './egress/fetcher.ts';
import type { BoundAddress } from './egress/own-listeners.ts';
import { createResolver } from './egress/resolve.ts';
import type { Sight } from './egress/sight.ts';
import type { Entry } from './kernel/entry.ts';
import { kindOfScope } from './kernel/kill.ts';
import { ms } from './kernel/units.ts';
import { FRONT_LIMITS } from './listen/limits.ts';
import { type Listener, createListener } from './listen/listener.ts';
import { createOps } from './listen/ops.ts';
import { createLog } from './observe/log.ts';
import { type Metrics, createMetrics } from './observe/metrics.ts';
import { createObserver } from './observe/observer.ts';
import type { Rules } from './policy/rules.ts';
import { killOf } from './policy/kills.ts';
import type { Clock, Evidence, KillBook, Observer, Store } from './ports.ts';
import { createCoder } from './store/coder.ts';
import { createMemoryStore } from './store/memory.ts';
import { createTieredStore } from './store/tiered.ts';
import { removeFile, writeWhole } from './store/state-file.ts';

/** The composition root: the only place that constructs anything. */

/** A configuration as it was loaded. */
export interface Configured {
  readonly settings: Settings;
  readonly rules: Rules;
  readonly listen: ListenSettings;
}

/** What a process gives the daemon. */
export interface World {
  readonly clock: Clock;
  /** Where log lines go. */
  readonly log: pino.DestinationStream;
  /** Hears what is seen on the way to origins, where somebody asks for it. */
  readonly saw?: (sight: Sight) => void;
}

export interface Daemon {
  readonly started: Started;
  readonly observer: Observer;
  readonly killSwitch: KillSwitch;
  /** Resolves when the first prefetch has ended or its time is up. */
  readonly prefetched: Promise<void>;
  /** Resolves when no fetch is on its way. */
  settled(): Promise<void>;
  /** Stops everything at once: what a signal can do, and only somebody with authority can undo. */
  stopAll(reason: string): void;
  /** The admin token, where this process alone knows it. */
  readonly token: string | null;
  /** Resolves when a drain has ended, whoever ordered it. */
  readonly drained: Promise<void>;
  /** Unready at once, serves on for a moment, stops accepting, finishes what was accepted, closes everything. Once. */
  drain(): Promise<void>;
}

/** The parts that fetch, judge and keep cards; what `serve` and the offline commands have in common. */
export interface Graph {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly events: EventFeed;
  readonly ledger: Evidence;
  readonly kills: KillBook;
  readonly fetcher: ClosableFetcher;
  readonly discovery: Discovery;
  close(): Promise<void>;
}

/** Unready before the doors close, so that whoever watches readiness stops sending. */
const LAME_DUCK = ms(500);
/** Kubernetes kills after 30 s: what is not finished by then is cut by us, in order. */
const HARD_STOP = ms(25_000);

/** What the daemon has of its own, and the offline commands do not. */
export interface Own extends DaemonState {
  readonly addresses: () => readonly BoundAddress[];
}

/** For commands that run beside a daemon or without one: nothing listens, and no switch of a daemon concerns them. */
export const alone = async ({ clock }: World): Promise<Own> => ({ addresses: () => [], ...(await takeNoState(clock)) });

/** Builds the object graph around the doors, with nothing listening. */
export async function createGraph(configured: Configured, world: World, own: Own): Promise<Graph> {
  const { settings, rules, clock, kills } = { ...configured, ...world, ...own };
  const adoptedAt = clock.now();
  const metrics = createMetrics(
    {
      agents: () => discovery.rules().agents,
      cards: () => discovery.statuses(),
      keys: () => discovery.keySets(),
      cache: () => memory.held(),
      kills: () => killGauge(kills),
      config: () => ({ digest: discovery.rules().digest, adoptedAt, lastSuccessful: true }),
    },
    { version: programVersion(), node: process.versions.node },
  );
  const events = createEventFeed(clock);
  const observer = both(createObserver(metrics, createLog({ ...settings.log, destination: world.log })), events);
  for (const notice of [...own.notices, ...proxyNotices(rules)]) observer.record(notice);
  const state = await own.open({ clock, observer });
  const { ledger, archive, cardKey } = state;
  const pinned = (entry: Entry): boolean => discovery.isPinned(entry);
  const memory = createMemoryStore({ clock, observer, maxBytes: settings.cache.maxBytes, pinned });
  const store = archive === null ? memory : createTieredStore(memory, archive);
  const fetcher = createWayOut(settings, world, own);
  const doors = { clock, fetcher, store, ledger, observer, kills, archive, cardKey, coder: createCoder() };
  const discovery: Discovery = createDiscovery(doors, rules);
  await discovery.ready;
  if ('warm' in store) {
    // Archived cards of agents that are gone, and what is stopped, must not come back; the rest is judged before it is served.
    await store.warm((entry) => !pinned(entry) || killOf(kills.active(), entry.tags) !== undefined);
    await discovery.judgeStored();
  }
  return {
    clock,
    observer,
    events,
    metrics,
    store,
    ledger,
    kills,
    fetcher,
    discovery,
    async close() {
      await discovery.stop();
      await fetcher.close();
      await store.close();
      await state.close();
    },
  };
}

const both = (one: Observer, other: Pick<Observer, 'record'>): Observer => ({
  record(event) {
    one.record(event);
    other.record(event);
  },
});

const killGauge = (kills: KillBook) => ({
  kinds: new Set(kills.active().map(({ scope }) => kindOfScope(scope))),
  persisted: kills.persisted(),
});

function createWayOut({ egress, limits }: Settings, { clock, saw }: World, { addresses }: Own): ClosableFetcher {
  const resolver = createResolver(askOf(egress), clock);
  return createFetcher({ clock, resolver, limits, ownAddresses: addresses, ...(saw === undefined ? {} : { saw }) });
}

/** Starts the daemon: state, graph, listeners, then the prefetch. Throws what keeps it from starting, with nothing left open. */
export async function startDaemon(configured: Configured, world: World): Promise<Daemon> {
  const { settings, rules, listen } = configured;
  const bound: BoundAddress[] = [];
  const taken = await takeState(settings, world.clock);
  const graph = await createGraph(configured, world, { addresses: () => bound, ...taken });
  const status = createStatus(graph.discovery, rules);
  const listeners: Listener[] = [];
  const killing = createKilling(settings.kill.file, graph, listeners);
  const authority = await adminAuthority(settings, world.clock).catch(closing(graph));
  const draining = createDrain(() => drainAll());
  const admin = createAdmin(
    createAdminPorts({ ...graph, settings, rules, killSwitch: killing.killSwitch, drain: draining.begin }),
    authority.check,
  );
  listeners.push(...createListeners(configured, graph, { status, admin }));
  // Before the first listener opens: nothing is served in between.
  await killing.look();
  const addresses = await openAll(listeners, bound).catch(closing(graph));
  const started = startLine(addresses, listen);
  const { state } = settings;
  const stateFile = state.kept === 'folder' ? path.join(state.path, 'daemon.json') : undefined;
  if (stateFile !== undefined) await writeStarted(stateFile, started, graph.observer);
  killing.watch();
  const prefetched = prefetch(graph, rules).then(status.prefetchEnded);
  async function drainAll(): Promise<void> {
    status.drain();
    await until(graph.clock, LAME_DUCK);
    graph.events.close();
    const hardStop = until(graph.clock, HARD_STOP);
    await Promise.all(listeners.map((listener) => listener.drain(hardStop)));
    killing.stop();
    // While the folder is still this process's: once it is free a successor writes its own.
    if (stateFile !== undefined) await removeFile(stateFile);
    await graph.close();
  }
  return {
    started,
    observer: graph.observer,
    killSwitch: killing.killSwitch,
    prefetched,
    settled: () => graph.discovery.settled(),
    stopAll: (reason) => void killing.stopAll('signal', reason),
    token: authority.untold,
    drained: draining.ended,
    drain() {
      draining.begin();
      return draining.ended;
    },
  };
}

/** A drain that whoever orders it first begins, and everybody can wait for. */
function createDrain(drain: () => Promise<void>): { readonly begin: () => void; readonly ended: Promise<void> } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let begun = false;
  const begin = (): void => {
    if (begun) return;
    begun = true;
    drain().then(resolve, reject);
  };
  return { begin, ended: promise };
}

/** A folder that cannot be written must not keep the daemon from serving; whoever looks for it there finds out. */
async function writeStarted(file: string, started: Started, observer: Observer): Promise<void> {
  try {
    await writeWhole(file, `${JSON.stringify(started)}\n`, 0o600);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    observer.record({ kind: 'notice', level: 'error', msg: 'daemon.json cannot be written', about: { why } });
  }
}

/** Gives back what is open, then lets the error rise. */
const closing =
  (graph: Graph) =>
  async (error: unknown): Promise<never> => {
    await graph.close();
    throw error;
  };

interface OwnHandlers {
  readonly status: Status;
  readonly admin: Handle;
}

async function prefetch({ discovery, clock }: Graph, rules: Rules): Promise<void> {
  if (!rules.prefetch.enabled) return;
  await Promise.race([discovery.prefetch(rules.limits.concurrency), until(clock, rules.prefetch.timeout)]);
}

function createListeners({ settings, listen }: Configured, graph: Graph, own: OwnHandlers): readonly Listener[] {
  const { status, admin } = own;
  const { clock, observer, discovery } = graph;
  const names = new Set(listen.names);
  const limits = { ...FRONT_LIMITS, connections: settings.limits.clientConnections };
  const ops = createOps({ ...status, metrics: (accept) => graph.metrics.scrape(accept) });
  const handlers = new Map<string, Handle>([
    ['ops', ops],
    ['admin', admin],
  ]);
  return listen.listeners.map((listener) => {
    const handle = handlers.get(listener.name) ?? discovery.handle;
    return createListener({ ...listener, names, limits, handle, clock, observer });
  });
}

const until = (clock: Clock, delay: Parameters<Clock['after']>[0]): Promise<void> =>
  new Promise((resolve) => void clock.after(delay, resolve));

/** The version in the package that this file is part of. */
function programVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '';
}
