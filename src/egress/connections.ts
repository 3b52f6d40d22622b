import { Client } from 'undici';
import type { Socket } from 'node:net';

/** One connection, lent to one exchange (HTTP/1.1) or to several at once (HTTP/2). */
export interface Lease {
  readonly client: Client;
  readonly reused: boolean;
  /** The address at the other end, as the kernel has it. */
  readonly peer: string;
  /** The TLS alert that ended the connection, where one did: undici tells only that it was closed. */
  readonly alert: () => Error | null;
  /** Gives it back when the answer was read whole; otherwise undici has closed it, or closes it now. */
  release(outcome: 'whole' | 'broken'): void;
}

/** Connections by key: one origin, one rule, one TLS identity. Nothing else ever shares one. */
export interface Connections {
  take(key: string): Lease | undefined;
  add(key: string, origin: string, socket: Socket): Lease;
  close(): Promise<void>;
}

interface Held {
  readonly client: Client;
  readonly peer: string;
  readonly shared: boolean;
  leases: number;
  alert: Error | null;
}

// Kept open for the next exchange: a few per origin, since undici drops idle ones after 4 s (Node's and uvicorn's servers after 5).
const MAX_IDLE_PER_KEY = 16;
// "It is recommended that this value be no smaller than 100" — RFC 9113 §6.5.2
const MAX_STREAMS = 100;
const MAX_HEADER_BYTES = 65_536;

export function createConnections(): Connections {
  const held = new Map<string, Set<Held>>();
  const all = new Set<Client>();

  const forget = (key: string, one: Held): void => {
    all.delete(one.client);
    const set = held.get(key);
    set?.delete(one);
    if (set?.size === 0) held.delete(key);
  };
  const lend = (key: string, one: Held, reused: boolean): Lease => {
    one.leases += 1;
    let out = true;
    return {
      client: one.client,
      reused,
      peer: one.peer,
      alert: () => one.alert,
      release: (outcome) => {
        if (!out) return;
        out = false;
        one.leases -= 1;
        const crowded = !one.shared && idleOf(held.get(key)) > MAX_IDLE_PER_KEY;
        if ((outcome === 'broken' && !one.shared) || crowded) discard(key, one);
      },
    };
  };
  const discard = (key: string, one: Held): void => {
    forget(key, one);
    void one.client.destroy().catch(() => {});
  };
  return {
    take: (key) => {
      for (const one of held.get(key) ?? []) {
        const room = one.shared ? one.leases < MAX_STREAMS : one.leases === 0;
        if (room && !one.client.destroyed && !one.client.closed) return lend(key, one, true);
      }
      return undefined;
    },
    add: (key, origin, socket) => {
      const client = clientOver(origin, socket);
      const shared = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
      const one: Held = { client, peer: socket.remoteAddress ?? '', shared, leases: 0, alert: null };
      all.add(client);
      const set = held.get(key) ?? new Set();
      held.set(key, set.add(one));
      client.on('disconnect', () => discard(key, one));
      socket
        .once('close', () => discard(key, one))
        .once('error', (error: NodeJS.ErrnoException) => {
          if (error.code?.startsWith('ERR_SSL_')) one.alert = error;
        });
      return lend(key, one, false);
    },
    close: async () => {
      const clients = [...all];
      all.clear();
      held.clear();
      await Promise.allSettled(clients.map((client) => client.destroy()));
    },
  };
}

const idleOf = (set: ReadonlySet<Held> | undefined): number =>
  [...(set ?? [])].filter((one) => one.leases === 0).length;

/** An undici client that has this one socket and never gets another: a new connection is a new decision. */
function clientOver(origin: string, socket: Socket): Client {
  let given = false;
  return new Client(origin, {
    connect: (_options, callback) => {
      const first = !given;
      given = true;
      // Later, never at once: undici does not look at its queue again while it is still asking for the connection.
      queueMicrotask(() => {
        if (first && !socket.destroyed) callback(null, socket);
        else callback(Object.assign(new Error('the connection is gone'), { code: 'ECONNRESET' }), null);
      });
    },
    // Deadlines and silence are the watch's, one for the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    h2Options: { maxConcurrentStreams: MAX_STREAMS },
  });
}
