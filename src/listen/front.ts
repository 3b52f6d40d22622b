import http from 'node:http';
import http2 from 'node:http2';
import net from 'node:net';

/** Either protocol's request and response: Node's compatibility classes have what is used here in common. */
export type Incoming = http.IncomingMessage | http2.Http2ServerRequest;
export type Outgoing = http.ServerResponse | http2.Http2ServerResponse;

export interface FrontLimits {
  /** Connections at one time; further ones are closed at once. */
  readonly connections: number;
  /** Longest time for a request head, in ms. */
  readonly headTimeout: number;
  /** Longest time for a whole request, in ms. */
  readonly requestTimeout: number;
  /** Longest idle time of a kept connection or session, in ms. */
  readonly idleTimeout: number;
  /** Longest request head, in bytes. */
  readonly headBytes: number;
  /** Most header fields. */
  readonly headFields: number;
  /** Streams of one HTTP/2 session at one time. */
  readonly streams: number;
}

export const FRONT_LIMITS: Omit<FrontLimits, 'connections'> = {
  headTimeout: 10_000,
  requestTimeout: 60_000,
  idleTimeout: 60_000,
  headBytes: 16 * 1024,
  headFields: 100,
  streams: 128,
};

export interface FrontHandlers {
  request(request: Incoming, response: Outgoing): void;
  /** Writes the answer to bytes that are no request; the connection ends after it. */
  nonsense(error: NodeJS.ErrnoException, socket: net.Socket): void;
  connect(socket: net.Socket): void;
}

/** One port for HTTP/1.1 and for HTTP/2 with prior knowledge: the first bytes of a connection say which (RFC 9113 §3.3). */
export interface Front {
  readonly server: net.Server;
  /** True once `drain` was called: answers then say that the connection ends. */
  draining(): boolean;
  /** Stops accepting, lets what was accepted finish, resolves when the last connection is gone. */
  drain(hardStop: Promise<void>): Promise<void>;
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
/** How often idle kept connections are looked for while draining, in ms. */
const SWEEP = 50;

/** Opens nothing yet: the caller binds `server` to an address. */
export function createFront(handlers: FrontHandlers, limits: FrontLimits): Front {
  const one = createHttp1(handlers, limits);
  const two = createHttp2(handlers, limits);
  const sniffing = new Set<net.Socket>();
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sniffing.add(socket);
    sniff(socket, limits.headTimeout, (isHttp2) => {
      sniffing.delete(socket);
      if (isHttp2 === undefined) return;
      (isHttp2 ? two.server : one).emit('connection', socket);
      // http reads by itself only after resume; http2 takes the buffered bytes over and must not be resumed.
      if (!isHttp2) socket.resume();
    });
  });
  server.maxConnections = limits.connections;
  let draining = false;
  return {
    server,
    draining: () => draining,
    async drain(hardStop) {
      draining = true;
      const gone = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const socket of sniffing) socket.destroy();
      two.server.close();
      one.closeIdleConnections();
      const sweep = setInterval(() => one.closeIdleConnections(), SWEEP);
      const forced = hardStop.then(() => {
        one.closeAllConnections();
        for (const session of two.sessions) session.destroy();
        return gone;
      });
      await Promise.race([gone, forced]);
      clearInterval(sweep);
      one.close();
    },
  };
}

/** Collects the first bytes for as long as they could be the HTTP/2 preface, then hands the socket over with them unread. */
function sniff(socket: net.Socket, timeout: number, decided: (isHttp2: boolean | undefined) => void): void {
  let head: Buffer = Buffer.alloc(0);
  const detach = (): void => {
    socket.off('data', read).off('error', fail).off('end', fail).off('timeout', fail).off('close', fail).setTimeout(0);
  };
  const fail = (): void => {
    detach();
    socket.destroy();
    decided(undefined);
  };
  const read = (chunk: Buffer): void => {
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const compared = Math.min(head.length, PREFACE.length);
    const isHttp2 = head.compare(PREFACE, 0, compared, 0, compared) === 0;
    if (isHttp2 && compared < PREFACE.length) return;
    detach();
    socket.pause();
    socket.unshift(head);
    decided(isHttp2);
  };
  socket.on('data', read).on('error', fail).on('end', fail).on('close', fail).setTimeout(timeout, fail);
}

function createHttp1(handlers: FrontHandlers, limits: FrontLimits): http.Server {
  const server = http.createServer(
    {
      headersTimeout: limits.headTimeout,
      requestTimeout: limits.requestTimeout,
      keepAliveTimeout: limits.idleTimeout,
      maxHeaderSize: limits.headBytes,
      connectionsCheckingInterval: Math.min(1_000, limits.headTimeout),
      // Missing and doubled Host fields get our own answer, with a reason.
      requireHostHeader: false,
    },
    handlers.request,
  );
  server.maxHeadersCount = limits.headFields * 2;
  server.on('clientError', (error: NodeJS.ErrnoException, socket: net.Socket) => handlers.nonsense(error, socket));
  server.on('connect', (_request, socket: net.Socket) => handlers.connect(socket));
  // This server never listens itself, and only its own 'listening' starts the checks behind headersTimeout and requestTimeout.
  server.emit('listening');
  return server;
}

function createHttp2(
  handlers: FrontHandlers,
  limits: FrontLimits,
): { readonly server: http2.Http2Server; readonly sessions: ReadonlySet<http2.Http2Session> } {
  const sessions = new Set<http2.Http2Session>();
  const server = http2.createServer(
    {
      maxHeaderListPairs: limits.headFields,
      maxSessionInvalidFrames: 100,
      maxSessionRejectedStreams: 100,
      maxSettings: 16,
      settings: { maxConcurrentStreams: limits.streams, maxHeaderListSize: limits.headBytes, enablePush: false },
      streamResetBurst: 1_000,
      streamResetRate: 33,
    },
    handlers.request,
  );
  // HTTP/2 has no idle limit of its own: a client that only sends the preface would stay for ever.
  server.setTimeout(limits.idleTimeout);
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('sessionError', () => undefined);
  return { server, sessions };
}
