import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, type Socket, createServer as createTcp } from 'node:net';
import type { TlsOptions } from 'node:tls';

/** An origin on loopback whose behaviour a test writes. */
export interface OriginServer {
  readonly port: number;
  /** `http://127.0.0.1:PORT` or `https://…`, without trailing slash. */
  readonly url: string;
  /** `METHOD target` of every request, in order. */
  readonly asked: readonly string[];
  /** The raw header list of every request, in order. */
  readonly headers: readonly (readonly string[])[];
  /** Connections accepted so far. */
  readonly connections: () => number;
  close(): Promise<void>;
}

export type Behave = (request: IncomingMessage, response: ServerResponse) => void;

export interface OriginOptions {
  /** Makes it https. */
  readonly tls?: TlsOptions;
  /** Makes it speak HTTP/2 to whoever offers it; needs `tls`. */
  readonly http2?: boolean;
  readonly host?: string;
  readonly port?: number;
}

/** Starts an origin; `behave` writes each answer. */
export async function startOrigin(behave: Behave, options: OriginOptions = {}): Promise<OriginServer> {
  const asked: string[] = [];
  const headers: (readonly string[])[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const handle: Behave = (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    headers.push(request.rawHeaders);
    behave(request, response);
  };
  const server = serverFor(handle, options);
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket.once('close', () => sockets.delete(socket)).on('error', () => {}));
  });
  server.on('tlsClientError', () => {});
  const port = await listen(server, options);
  return {
    port,
    url: `${options.tls === undefined ? 'http' : 'https'}://${options.host ?? '127.0.0.1'}:${port}`,
    asked,
    headers,
    connections: () => connections,
    close: () => closeAll(server, sockets),
  };
}

function serverFor(handle: Behave, { tls, http2 }: OriginOptions): Server {
  if (tls === undefined) return createServer(handle);
  if (http2 !== true) return createHttps(tls, handle);
  // The compatibility layer hands over objects that a test's handler may treat as HTTP/1.1's.
  return createSecureServer({ ...tls, allowHTTP1: true }, handle as never) as unknown as Server;
}

/** Starts a bare TCP origin: `speak` gets each connection when the first bytes of a request have come. */
export async function startRawOrigin(speak: (socket: Socket, count: number) => void, port = 0): Promise<OriginServer> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createTcp((socket) => {
    connections += 1;
    const count = connections;
    sockets.add(socket.once('close', () => sockets.delete(socket)).on('error', () => {}));
    socket.once('data', (chunk) => {
      asked.push(chunk.toString('latin1'));
      speak(socket, count);
    });
  });
  const bound = await listen(server, { port });
  return {
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    asked,
    headers: [],
    connections: () => connections,
    close: () => closeAll(server, sockets),
  };
}

interface Listening {
  listen(port: number, host: string, done: () => void): unknown;
  address(): AddressInfo | string | null;
  close(done: () => void): unknown;
}

async function listen(server: Listening, { host = '127.0.0.1', port = 0 }: OriginOptions): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the origin has no port');
  return address.port;
}

async function closeAll(server: Listening, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of sockets) socket.destroy();
  await closed;
}
