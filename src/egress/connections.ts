import type { Socket } from 'node:net';
import type { Client } from 'undici';
import UndiciClient from 'undici/lib/dispatcher/client.js';
import type { ConnectionKey } from './connection-key.ts';
import { between, type EpochMs, type Ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

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

/** One connection to hold. */
export interface Made {
  readonly origin: string;
  readonly socket: Socket;
  /** True where nobody else may ever use it. */
  readonly alone: boolean;
}

/** Connections by key, which says who may share one (`connection-key.ts`). */
export interface Connections {
  /**
   * Lends a kept connection that has room.
   * @param mostIdle how long it may have been idle; the longer, the likelier the other side is just closing it.
   */
  take(key: ConnectionKey, mostIdle: Ms): Lease | undefined;
  add(key: ConnectionKey, made: Made): Lease;
  close(): Promise<void>;
}

interface Held {
  readonly client: Client;
  readonly peer: string;
  readonly shared: boolean;
  readonly alone: boolean;
  leases: number;
  /** When the last lease ended. */
  idleSince: EpochMs;
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
  readonly now: () => EpochMs;
}

export function createConnections(clock: Clock): Connections {
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
    const shelf: Shelf = { held, discard, now: () => clock.now() };
    shelves.set(key, shelf);
    return shelf;
  };
  const takeFrom = (key: string, fits: (one: Held) => boolean): Lease | undefined => {
    const shelf = shelves.get(key);
    if (shelf === undefined) return undefined;
    for (const one of shelf.held) if (hasRoom(one) && fits(one)) return lend(shelf, one, 'kept');
    return undefined;
  };
  return {
    take: ({ http1, http2 }, mostIdle) => {
      const isFresh = (one: Held): boolean => idleFor(one, clock) <= mostIdle;
      const found = takeFrom(http1, isFresh);
      if (found !== undefined || http1 === http2) return found;
      return takeFrom(http2, (one) => one.shared && isFresh(one));
    },
    add: (key, made) => {
      const { socket } = made;
      const one = hold(made, clock.now());
      const shelf = shelfOf(one.shared ? key.http2 : key.http1);
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

function hold({ origin, socket, alone }: Made, idleSince: EpochMs): Held {
  const shared = !alone && 'alpnProtocol' in socket && socket.alpnProtocol === 'h2';
  const peer = socket.remoteAddress ?? '';
  return { client: clientOver(origin, socket), peer, shared, alone, leases: 0, idleSince, alert: null };
}

const idleFor = ({ leases, idleSince }: Held, clock: Clock): number =>
  leases > 0 ? 0 : between(idleSince, clock.now());

const hasRoom = ({ client, shared, alone, leases }: Held): boolean =>
  !alone && (shared ? leases < MAX_STREAMS : leases === 0) && !client.destroyed && !client.closed;

function lend({ held, discard, now }: Shelf, one: Held, state: 'kept' | 'new'): Lease {
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
      one.idleSince = now();
      // An HTTP/2 connection outlives a stream that broke; one of HTTP/1.1 has lost its place in the bytes.
      if (one.shared) return;
      if (one.alone || outcome === 'broken' || idleOf(held) > MAX_IDLE_PER_KEY) discard(one);
    },
  };
}

function idleOf(held: ReadonlySet<Held>): number {
  let idle = 0;
  for (const { leases } of held) if (leases === 0) idle += 1;
  return idle;
}

/** An undici client that has this one socket and never gets another: a new connection is a new decision. */
function clientOver(origin: string, socket: Socket): Client {
  let given = false;
  return new UndiciClient(origin, {
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
