import { readFileSync } from 'node:fs';
import path from 'node:path';
import type pino from 'pino';
import { answerClosed } from './admin/closed.ts';
import type { ListenSettings } from './config/compile.ts';
import type { Settings } from './config/schema.ts';
import { type Discovery, createDiscovery } from './discovery/discovery.ts';
import { type ClosableFetcher, createFetcher } from './egress/fetcher.ts';
import type { BoundAddress } from './egress/own-listeners.ts';
import { createResolver, systemAsk } from './egress/resolve.ts';
import type { Entry } from './kernel/entry.ts';
import { type ListenerName, agentName } from './kernel/ids.ts';
import { ms } from './kernel/units.ts';
import { FRONT_LIMITS } from './listen/limits.ts';
import { type Listener, createListener } from './listen/listener.ts';
import { type Readiness, createOps } from './listen/ops.ts';
import { createLog } from './observe/log.ts';
import { type Metrics, createMetrics } from './observe/metrics.ts';
import { createObserver } from './observe/observer.ts';
import type { Rules } from './policy/rules.ts';
import type { Clock, Observer, Store } from './ports.ts';
import { createMemoryLedger } from './store/ledger-memory.ts';
import { createMemoryStore } from './store/memory.ts';
import { makeStateFolder, removeFile, writeWhole } from './store/state-file.ts';

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
}

/** The start line and `daemon.json`: where everything is. */
export interface Started {
  readonly msg: 'started';
  readonly pid: number;
  readonly agents: readonly string[];
  readonly ops: readonly string[];
  readonly admin: readonly string[];
  readonly listeners: Readonly<Record<string, string>>;
}

export interface Daemon {
  readonly started: Started;
  readonly observer: Observer;
  /** Resolves when the first prefetch has ended or its time is up. */
  readonly prefetched: Promise<void>;
  /** Resolves when no fetch is on its way. */
  settled(): Promise<void>;
  /** Unready at once, serves on for a moment, stops accepting, finishes what was accepted, closes everything. Once. */
  drain(): Promise<void>;
}

/** The parts that fetch, judge and keep cards; what `serve` and the offline commands have in common. */
export interface Graph {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly fetcher: ClosableFetcher;
  readonly discovery: Discovery;
  close(): Promise<void>;
}

/** Unready before the doors close, so that whoever watches readiness stops sending. */
const LAME_DUCK = ms(500);
/** Kubernetes kills after 30 s: what is not finished by then is cut by us, in order. */
const HARD_STOP = ms(25_000);

/** Builds the object graph around the doors, with nothing listening. */
export function createGraph(configured: Configured, world: World, ownAddresses: () => readonly BoundAddress[]): Graph {
  const { clock } = world;
  const { settings, rules } = configured;
  const adoptedAt = clock.now();
  const metrics = createMetrics(
    {
      agents: () => rules.agents,
      cards: () => discovery.statuses(),
      keys: () => discovery.trust.sets(),
      cache: () => store.held(),
      config: () => ({ digest: rules.digest, adoptedAt, lastSuccessful: true }),
    },
    { version: programVersion(), node: process.versions.node },
  );
  const observer = createObserver(metrics, createLog({ ...settings.log, destination: world.log }));
  const pinned = (entry: Entry): boolean => entry.agent !== null && rules.agents.has(entry.agent);
  const store = createMemoryStore({ clock, observer, maxBytes: settings.cache.maxBytes, pinned });
  const ledger = createMemoryLedger({ clock, observer });
  const resolver = createResolver(systemAsk(settings.egress.dnsTtl), clock);
  const fetcher = createFetcher({ clock, resolver, limits: settings.limits, ownAddresses });
  const discovery: Discovery = createDiscovery({ clock, fetcher, store, ledger, observer }, rules);
  return {
    clock,
    observer,
    metrics,
    store,
    fetcher,
    discovery,
    async close() {
      await discovery.stop();
      await fetcher.close();
      await ledger.close();
      await store.close();
    },
  };
}

/** Starts the daemon: state, graph, listeners, then the prefetch. Throws what keeps it from starting, with nothing left open. */
export async function startDaemon(configured: Configured, world: World): Promise<Daemon> {
  const { settings, rules, listen } = configured;
  const { state } = settings;
  if (state.kept === 'folder') await makeStateFolder(state.path);
  const bound: BoundAddress[] = [];
  const graph = createGraph(configured, world, () => bound);
  await graph.discovery.ready;
  const status = createStatus(graph, rules);
  const listeners = createListeners(configured, graph, status);
  const addresses = await openAll(listeners, bound, graph);
  const started = startLine(addresses, listen);
  const stateFile = state.kept === 'folder' ? path.join(state.path, 'daemon.json') : undefined;
  if (stateFile !== undefined) await writeWhole(stateFile, `${JSON.stringify(started)}\n`, 0o600);
  const prefetched = prefetch(graph, rules).then(status.prefetchEnded);
  let draining: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    status.drain();
    await until(graph.clock, LAME_DUCK);
    const hardStop = until(graph.clock, HARD_STOP);
    await Promise.all(listeners.map((listener) => listener.drain(hardStop)));
    await graph.close();
    if (stateFile !== undefined) await removeFile(stateFile);
  };
  return {
    started,
    observer: graph.observer,
    prefetched,
    settled: () => graph.discovery.settled(),
    drain: () => (draining ??= drain()),
  };
}

interface Status {
  prefetchEnded(): void;
  drain(): void;
  startup(): Readiness;
  ready(require: string | undefined): Readiness;
}

/** Readiness never depends on an origin: an unready sidecar takes its whole Pod out of service. */
function createStatus(graph: Graph, rules: Rules): Status {
  let prefetched = false;
  let draining = false;
  const reasons = (): string[] => [
    ...(prefetched ? [] : ['the first prefetch is still running']),
    ...(draining ? ['draining'] : []),
  ];
  const wanting = (name: string): string[] => {
    const card = graph.discovery.statuses().find((each) => each.agent === agentName(name));
    if (card === undefined) return [`no agent ${JSON.stringify(name)}`];
    return card.state === 'fresh' || card.state === 'stale' ? [] : [`the card of ${name} is ${card.state}`];
  };
  const readiness = (found: readonly string[]): Readiness => ({ ok: found.length === 0, reasons: found });
  if (!rules.prefetch.enabled) prefetched = true;
  return {
    prefetchEnded: () => void (prefetched = true),
    drain: () => void (draining = true),
    startup: () => readiness(prefetched ? [] : ['the first prefetch is still running']),
    ready: (require) => readiness([...reasons(), ...(require === undefined ? [] : wanting(require))]),
  };
}

async function prefetch({ discovery, clock }: Graph, rules: Rules): Promise<void> {
  if (!rules.prefetch.enabled) return;
  await Promise.race([discovery.prefetch(rules.limits.concurrency), until(clock, rules.prefetch.timeout)]);
}

function createListeners({ settings, listen }: Configured, graph: Graph, status: Status): readonly Listener[] {
  const { clock, observer, discovery } = graph;
  const names = new Set(listen.names);
  const limits = { ...FRONT_LIMITS, connections: settings.limits.clientConnections };
  const ops = createOps({ ...status, metrics: (accept) => graph.metrics.scrape(accept) });
  const handlers = new Map([
    ['ops', ops],
    ['admin', answerClosed],
  ]);
  return listen.listeners.map(({ name, address }) => {
    const handle = handlers.get(name) ?? discovery.handle;
    return createListener({ name, host: address.host, port: address.port, names, limits, handle, clock, observer });
  });
}

type Addresses = ReadonlyMap<ListenerName, string>;

/** Opens all listeners or none: one that cannot be opened closes those that were. */
async function openAll(listeners: readonly Listener[], bound: BoundAddress[], graph: Graph): Promise<Addresses> {
  const addresses = new Map<ListenerName, string>();
  try {
    for (const listener of listeners) {
      const at = await listener.open();
      bound.push(at);
      addresses.set(
        listener.name,
        at.address.includes(':') ? `[${at.address}]:${at.port}` : `${at.address}:${at.port}`,
      );
    }
    return addresses;
  } catch (error) {
    const now = Promise.resolve();
    await Promise.all(listeners.filter(({ name }) => addresses.has(name)).map((listener) => listener.drain(now)));
    await graph.close();
    throw error;
  }
}

function startLine(addresses: Addresses, listen: ListenSettings): Started {
  const own: Record<string, string> = {};
  const at = (wanted: string): string[] =>
    [...addresses].filter(([name]) => name === wanted).map(([, address]) => address);
  for (const { name } of listen.listeners) {
    const address = addresses.get(name);
    if (address !== undefined && !DAEMON_LISTENERS.has(name)) own[name] = address;
  }
  return { msg: 'started', pid: process.pid, agents: at('agents'), ops: at('ops'), admin: at('admin'), listeners: own };
}

const DAEMON_LISTENERS: ReadonlySet<string> = new Set(['agents', 'ops', 'admin']);

const until = (clock: Clock, delay: Parameters<Clock['after']>[0]): Promise<void> =>
  new Promise((resolve) => void clock.after(delay, resolve));

/** The version in the package that this file is part of. */
function programVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '';
}
