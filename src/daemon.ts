import { readFileSync } from 'node:fs';
import { type EventFeed, createEventFeed } from './admin/events.ts';
import type { ListenSettings } from './config/compile.ts';
import type { Settings } from './config/schema.ts';
import { adminMaker } from './daemon/admin-ports.ts';
import { adminAuthority } from './daemon/authority.ts';
import { createWayOut, proxyNotices } from './daemon/egress.ts';
import { createAdopt } from './daemon/adopt.ts';
import { gauges } from './daemon/gauges.ts';
import { createKilling, type Killing } from './daemon/killing.ts';
import { createListeners, type Listeners } from './daemon/listeners.ts';
import { listenerMaker, wantedOf } from './daemon/make-listener.ts';
import { createDaemonFile, type DaemonFile, type Started } from './daemon/places.ts';
import { type CountStored, storedCounter } from './daemon/preview.ts';
import { createReload, type Load, type Reload, type ReloadCause } from './daemon/reload.ts';
import { createReaders, createStores } from './daemon/stores.ts';
import { type DaemonState, takeNoState, takeState } from './daemon/state.ts';
import { createDrain, running } from './daemon/running.ts';
import { createStatus, type Status } from './daemon/status.ts';
import { type Discovery, createDiscovery } from './discovery/discovery.ts';
import type { KillSwitch } from './discovery/kill-switch.ts';
import type { ClosableFetcher } from './egress/fetcher.ts';
import type { BoundAddress } from './egress/own-listeners.ts';
import type { Sight } from './egress/sight.ts';
import type { Entry } from './kernel/entry.ts';
import type { Tag } from './kernel/ids.ts';
import type { Outcome } from './kernel/refusal.ts';
import { ms } from './kernel/units.ts';
import { type LineDestination, createLog } from './observe/log.ts';
import { type Metrics, createMetrics } from './observe/metrics.ts';
import { createObserver } from './observe/observer.ts';
import type { Rules } from './policy/rules.ts';
import { killOf } from './policy/kills.ts';
import type { Clock, Evidence, FileWatch, KillBook, Observer, Store } from './ports.ts';
import { type ClosableFileWatch, createFileWatch } from './store/file-watch.ts';
import { mountedAlone } from './store/mounts.ts';
import { createTieredStore } from './store/tiered.ts';

/** The composition root: the only place that constructs anything. */

/** A configuration as it was loaded. */
export interface Configured {
  readonly settings: Settings;
  readonly rules: Rules;
  readonly listen: ListenSettings;
  /** What it was read from. */
  readonly files: readonly string[];
}

/** What a process gives the daemon. */
export interface World {
  readonly clock: Clock;
  /** Where log lines go. */
  readonly log: LineDestination;
  /** Hears what is seen on the way to origins, where somebody asks for it. */
  readonly saw?: (sight: Sight) => void;
}

export interface Daemon {
  /** Where everything is now; a reload may move it. */
  readonly started: Started;
  readonly observer: Observer;
  readonly killSwitch: KillSwitch;
  /** Resolves when the first prefetch has ended or its time is up. */
  readonly prefetched: Promise<void>;
  /** Resolves when no fetch is on its way. */
  settled(): Promise<void>;
  /** Stops everything at once: what a signal can do, and only somebody with authority can undo. */
  stopAll(reason: string): void;
  /** Reads the configuration again and adopts it, or keeps the old one and says why. */
  reload(cause: ReloadCause): Promise<Outcome<{ readonly digest: string }>>;
  /** The admin token, where this process alone knows it. */
  readonly token: string | null;
  /** Bytes that are charged for what is stored now. */
  storedBytes(): number;
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
  readonly countStored: CountStored;
  /** Takes over what of other settings is not in their rules. */
  follow(settings: Settings): void;
  close(): Promise<void>;
}

/** Unready before the doors close, so that whoever watches readiness stops sending. */
const LAME_DUCK = ms(500);
/** Kubernetes kills after 30 s: what is not finished by then is cut by us, in order. */
const HARD_STOP = ms(25_000);

/** What the daemon has of its own, and the offline commands do not. */
export interface Own extends DaemonState {
  readonly addresses: () => readonly BoundAddress[];
  /** Those in force. */
  readonly settings: () => Settings;
  readonly lastReload: Reload['last'];
  /** Tells of files that change; null where nobody waits for that. */
  readonly files: FileWatch | null;
  /** Cuts the answers that are being written under a tag. */
  readonly cut: (scope: Tag) => void;
}

/** For commands that run beside a daemon or without one: nothing listens, and no switch of a daemon concerns them. */
export const alone = async ({ settings }: Pick<Configured, 'settings'>, { clock }: World): Promise<Own> => ({
  addresses: () => [],
  settings: () => settings,
  lastReload: () => ({ adoptedAt: clock.now(), lastSuccessful: true }),
  files: null,
  cut: () => undefined,
  ...(await takeNoState(clock)),
});

/** Builds the object graph around the doors, with nothing listening. */
export async function createGraph(configured: Configured, world: World, own: Own): Promise<Graph> {
  const { settings, rules, clock, kills, revocations, registryRecord, cut } = { ...configured, ...world, ...own };
  const stores = { memory: () => memory, extended: () => extended };
  const program = { version: programVersion(), node: process.versions.node };
  const metrics = createMetrics(gauges(own, { discovery: () => discovery, ...stores }), program);
  const events = createEventFeed(clock);
  const log = createLog({ ...settings().log, destination: world.log, now: () => clock.now() });
  const observer = both(createObserver(metrics, log), events);
  for (const notice of [...own.notices, ...proxyNotices(rules)]) observer.record(notice);
  const state = await own.open({ clock, observer });
  const { ledger, archive, cardKey } = state;
  const pinned = (entry: Entry): boolean => discovery.isPinned(entry);
  const { memory, extended } = createStores({ clock, observer, maxBytes: settings().cache.maxBytes, pinned });
  const store = archive === null ? memory : createTieredStore(memory, archive);
  const fetcher = createWayOut(settings, world, own.addresses);
  const doors = { clock, fetcher, store, extended, ledger, observer, kills, revocations, archive, cardKey };
  const discovery: Discovery = createDiscovery({ ...doors, registryRecord, cut, ...createReaders(own.files) }, rules);
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
    countStored: storedCounter(memory, extended),
    follow(next) {
      log.follow(next.log);
      memory.resize(next.cache.maxBytes);
      extended.resize(next.cache.maxBytes);
    },
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

/** Starts the daemon: state, graph, listeners, then the prefetch. Throws what keeps it from starting, with nothing left open. */
export async function startDaemon(configured: Configured, world: World, load: Load): Promise<Daemon> {
  const inForce = { settings: configured.settings };
  const settings = (): Settings => inForce.settings;
  const files = createFileWatch(world.clock);
  const own = {
    settings,
    addresses: () => listeners.addresses(),
    lastReload: () => reload.last(),
    files,
    cut: (scope: Tag) => listeners.cut(scope),
  };
  const graph = await createGraph(configured, world, { ...own, ...(await takeState(settings, world.clock)) });
  const { clock, observer, discovery } = graph;
  const authority = await adminAuthority(settings(), clock).catch(closing(graph));
  const listeners: Listeners = createListeners({ clock, observer, create: (...order) => createOne(...order) });
  const killing = createKilling(settings().kill.file, graph, listeners);
  const daemonFile = createDaemonFile(settings(), observer);
  const adopt = createAdopt({ graph, inForce, authority, listeners, killing, daemonFile });
  const digest = (): string => discovery.rules().digest;
  const reload: Reload = createReload({ clock, observer, files, load, adopt, mountedAlone, digest });
  const status = createStatus(discovery, configured.rules);
  const draining = createDrain(() => drainAll({ graph, status, reload, listeners, files, killing, daemonFile }));
  const { killSwitch } = killing;
  const admin = { ...graph, settings, listeners, killSwitch, drain: draining.begin, reload: () => reload.run('admin') };
  const createOne = listenerMaker(graph, status, adminMaker(admin, authority));
  // Before the first listener opens: nothing is served in between.
  await killing.look();
  const opened = await listeners.prepare(wantedOf(configured)).catch(closing(graph));
  opened.commit();
  await daemonFile.write(listeners.started());
  killing.watch();
  discovery.begin();
  reload.begin(configured.files);
  const prefetched = prefetch(graph, configured.rules).then(status.prefetchEnded);
  return running({ graph, listeners, killing, reload, draining, prefetched, token: authority.untold });
}

interface Running {
  readonly graph: Graph;
  readonly status: Status;
  readonly reload: Reload;
  readonly listeners: Listeners;
  readonly files: ClosableFileWatch;
  readonly killing: Killing;
  readonly daemonFile: DaemonFile;
}

async function drainAll({ graph, status, reload, listeners, files, killing, daemonFile }: Running): Promise<void> {
  status.drain();
  const unread = reload.stop();
  await until(graph.clock, LAME_DUCK);
  graph.events.close();
  const hardStop = until(graph.clock, HARD_STOP);
  // What a reload is just opening is closed with the rest.
  await Promise.race([unread, hardStop]);
  await listeners.drain(hardStop);
  files.stop();
  killing.stop();
  // While the folder is still this process's: once it is free a successor writes its own.
  await daemonFile.remove();
  await graph.close();
}

/** Gives back what is open, then lets the error rise. */
const closing =
  (graph: Graph) =>
  async (error: unknown): Promise<never> => {
    await graph.close();
    throw error;
  };

async function prefetch({ discovery, clock }: Graph, rules: Rules): Promise<void> {
  if (!rules.prefetch.enabled) return;
  await Promise.race([discovery.prefetch(rules.limits.concurrency), until(clock, rules.prefetch.timeout)]);
}

const until = (clock: Clock, delay: Parameters<Clock['after']>[0]): Promise<void> =>
  new Promise((resolve) => void clock.after(delay, resolve));

/** The version in the package that this file is part of. */
function programVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '';
}
