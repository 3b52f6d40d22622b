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

/** The connections of one key, and how one leaves them. */
interface Shelf {
  readonly held: Set<Held>;
  readonly discard: (one: Held) => void;
}

export function createConnections(): Connections {
  const shelves = new Map<string, Shelf>();

  const shelfOf = (key: string): Shelf => {
    const known = shelves.get(key);
    if (known !== undefined) return known;
    const held = new Set<Held>();
    const discard = (one: Held): void => {
      held.delete(one);
      if (held.size === 0 && shelves.get(key) === shelf) shelves.delete(key);
      // Rejects only where it was destroyed before.
      one.client.destroy().catch(() => {});
    };
    const shelf: Shelf = { held, discard };
    shelves.set(key, shelf);
    return shelf;
  };
  return {
    take: (key) => {
      const shelf = shelves.get(key);
      const free = [...(shelf?.held ?? [])].find(hasRoom);
      return shelf === undefined || free === undefined ? undefined : lend(shelf, free, 'kept');
    },
    add: (key, origin, socket) => {
      const shelf = shelfOf(key);
      const one = hold(origin, socket);
      shelf.held.add(one);
      one.client.on('disconnect', () => shelf.discard(one));
      socket
        .once('close', () => shelf.discard(one))
        .once('error', (error: NodeJS.ErrnoException) => {
          if (error.code?.startsWith('ERR_SSL_')) one.alert = error;
        });
      return lend(shelf, one, 'new');
    },
    close: async () => {
      const clients = [...shelves.values()].flatMap(({ held }) => [...held].map(({ client }) => client));
      shelves.clear();
      await Promise.allSettled(clients.map((client) => client.destroy()));
    },
  };
}

function hold(origin: string, socket: Socket): Held {
  const shared = 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
  return { client: clientOver(origin, socket), peer: socket.remoteAddress ?? '', shared, leases: 0, alert: null };
}

const hasRoom = ({ client, shared, leases }: Held): boolean =>
  (shared ? leases < MAX_STREAMS : leases === 0) && !client.destroyed && !client.closed;

function lend({ held, discard }: Shelf, one: Held, state: 'kept' | 'new'): Lease {
  one.leases += 1;
  let out = true;
  return {
    client: one.client,
    reused: state === 'kept',
    peer: one.peer,
    alert: () => one.alert,
    release: (outcome) => {
      if (!out) return;
      out = false;
      one.leases -= 1;
      // An HTTP/2 connection outlives a stream that broke; one of HTTP/1.1 has lost its place in the bytes.
      if (!one.shared && (outcome === 'broken' || idleOf(held) > MAX_IDLE_PER_KEY)) discard(one);
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
