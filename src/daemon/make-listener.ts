import type { ListenerSettings, ListenSettings } from '../config/compile.ts';
import type { Settings } from '../config/schema.ts';
import type { Graph } from '../daemon.ts';
import type { Handle } from '../discovery/handle.ts';
import { FRONT_LIMITS } from '../listen/limits.ts';
import { createListener, type Listener, type Manners } from '../listen/listener.ts';
import { createOps } from '../listen/ops.ts';
import type { Wanted } from './listeners.ts';
import type { Status } from './status.ts';

/** Makes one listener of the daemon, closed so far. */
export type MakeListener = (settings: ListenerSettings, manners: Manners, admitted: Promise<void>) => Listener;

/** @param admin makes the handler of an administrators' listener: who has authority depends on where it is. */
export function listenerMaker(graph: Graph, status: Status, admin: (at: ListenerSettings) => Handle): MakeListener {
  const { clock, observer, discovery } = graph;
  const ops = createOps({ ...status, metrics: (accept) => graph.metrics.scrape(accept) });
  const handlerOf = (settings: ListenerSettings): Handle => {
    if (settings.name === 'ops') return ops;
    return settings.name === 'admin' ? admin(settings) : discovery.handle;
  };
  return (settings, { names, connections }, admitted) => {
    const handle = onceAdmitted(handlerOf(settings), admitted);
    const limits = { ...FRONT_LIMITS, connections };
    return createListener({ ...settings, names, limits, handle, clock, observer });
  };
}

/** Who comes before the configuration that opened the door is in force waits for it: to the old one this door does not exist. */
function onceAdmitted(handle: Handle, admitted: Promise<void>): Handle {
  let isAdmitted = false;
  void admitted.then(() => (isAdmitted = true));
  return (ask) => (isAdmitted ? handle(ask) : admitted.then(() => handle(ask)));
}

/** What a configuration wants to have open. */
export const wantedOf = (configured: { readonly listen: ListenSettings; readonly settings: Settings }): Wanted => ({
  listeners: configured.listen.listeners,
  manners: {
    names: new Set(configured.listen.names),
    connections: configured.settings.limits.clientConnections,
  },
});
