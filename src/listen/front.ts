import net from 'node:net';
import { TLSSocket } from 'node:tls';
import type { ExchangeHandlers } from './exchange.ts';
import { createHttp1 } from './http1.ts';
import { createHttp2 } from './http2.ts';
import type { FrontLimits } from './limits.ts';
import { type Spoken, sniff } from './sniff.ts';

export interface FrontHandlers extends ExchangeHandlers {
  /** Hears that the port itself has trouble: connections that cannot be accepted. */
  trouble(error: Error): void;
}

/** Makes the server that accepts: TCP here, TLS or a unix socket elsewhere. */
export type Acceptor = (accept: (socket: net.Socket) => void) => net.Server;

/** One port for HTTP/1.1 and for HTTP/2 with prior knowledge: the first bytes of a connection say which (RFC 9113 §3.3). */
export interface Front {
  /** The caller binds it to an address; nothing runs before. */
  readonly server: net.Server;
  /** True once `drain` was called: answers then say that the connection ends. */
  isEnding(): boolean;
  /** Stops accepting, lets what was accepted finish, resolves when the last connection is gone; `hardStop` cuts the rest. */
  drain(hardStop: Promise<void>): Promise<void>;
}

/** Half-open, as Node's own HTTP servers are: a client may end its side and still wait for its answer. */
const acceptTcp: Acceptor = (accept) => net.createServer({ allowHalfOpen: true, noDelay: true }, accept);
/** How often connections that have become idle are looked for while draining, in ms. */
const SWEEP = 50;

export function createFront(handlers: FrontHandlers, limits: FrontLimits, acceptor: Acceptor = acceptTcp): Front {
  const one = createHttp1(handlers, limits);
  const two = createHttp2(handlers, limits);
  const silent = new Set<net.Socket>();
  let ending = false;
  const server = acceptor((socket) => {
    silent.add(socket);
    sniff(socket, limits.headTimeout, (spoken) => {
      silent.delete(socket);
      if (spoken === 'gone') return;
      const protocol = isAgreed(socket, spoken) ? spoken : 'http/1';
      (protocol === 'http/2' ? two.server : one).emit('connection', socket);
      // http reads on only when told; http2 takes the unread bytes over by itself and must not be told.
      if (protocol === 'http/1') socket.resume();
    });
  });
  const sockets = connectionsOf(server);
  server.maxConnections = limits.connections;
  server.once('listening', () => {
    // Unheard, running out of file descriptors would end the process. What happens before concerns whoever opens the port.
    server.on('error', (error) => handlers.trouble(error));
    // The inner server never listens, and only its own 'listening' starts the checks behind its time limits.
    one.emit('listening');
  });
  return {
    server,
    isEnding: () => ending,
    async drain(hardStop) {
      ending = true;
      const gone = new Promise<void>((resolve) => void server.close(() => resolve()));
      // A request may be on its way on a connection that is idle now: it is answered, and on HTTP/1 ends the connection.
      const patience = setTimeout(() => {
        destroyAll(silent);
        two.close();
        sweep = setInterval(() => one.closeIdleConnections(), SWEEP);
      }, limits.farewell);
      let sweep: NodeJS.Timeout | undefined;
      void hardStop.then(() => destroyAll(sockets));
      await gone;
      clearTimeout(patience);
      clearInterval(sweep);
      // Last, for it also ends the checks that a slow request is found by.
      one.close();
    },
  };
}

/** The connections themselves, those that are still at their TLS handshake too. */
function connectionsOf(server: net.Server): ReadonlySet<net.Socket> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** "HTTP/2 over TLS uses the "h2" protocol identifier" (RFC 9113 §3.2): without it the preface is no HTTP. */
const isAgreed = (socket: net.Socket, spoken: Spoken): boolean =>
  spoken === 'http/1' || !(socket instanceof TLSSocket) || socket.alpnProtocol === 'h2';

function destroyAll(sockets: ReadonlySet<net.Socket>): void {
  for (const socket of sockets) socket.destroy();
}
