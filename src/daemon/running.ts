import type { Daemon, Graph } from '../daemon.ts';
import type { Killing } from './killing.ts';
import type { Listeners } from './listeners.ts';
import type { Reload } from './reload.ts';

interface Parts extends Pick<Daemon, 'prefetched' | 'token'> {
  readonly graph: Pick<Graph, 'observer' | 'discovery' | 'store'>;
  readonly listeners: Pick<Listeners, 'started'>;
  readonly killing: Pick<Killing, 'killSwitch' | 'stopAll'>;
  readonly reload: Reload;
  readonly draining: Draining;
}

/** What the process may do with a daemon that runs. */
export const running = ({ graph, listeners, killing, reload, draining, prefetched, token }: Parts): Daemon => ({
  get started() {
    return listeners.started();
  },
  observer: graph.observer,
  killSwitch: killing.killSwitch,
  prefetched,
  settled: () => graph.discovery.settled(),
  stopAll: (reason) => void killing.stopAll('signal', reason),
  reload: reload.run.bind(reload),
  token,
  storedBytes: () => graph.store.size().bytes,
  drained: draining.ended,
  drain() {
    draining.begin();
    return draining.ended;
  },
});

interface Draining {
  readonly begin: () => void;
  readonly ended: Promise<void>;
}

/** A drain that whoever orders it first begins, and everybody can wait for. */
export function createDrain(drain: () => Promise<void>): Draining {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let begun = false;
  const begin = (): void => {
    if (begun) return;
    begun = true;
    drain().then(resolve, reject);
  };
  return { begin, ended: promise };
}
