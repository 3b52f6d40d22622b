import http from 'node:http';
import type { Duplex } from 'node:stream';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { seconds } from '../kernel/units.ts';
import { type ExchangeHandlers, type Expectation, type Http1Exchange, isOver } from './exchange.ts';
import type { FrontLimits } from './limits.ts';
import { noTunnel, nonsense, refuseRaw } from './raw-refusal.ts';

/** How often Node looks for requests that take too long, in ms, at most. */
const CHECK_INTERVAL = 1_000;

/**
 * Makes the HTTP/1.1 side of a port. It never listens: it gets its connections by `emit('connection')`, and the checks of slow
 * requests start with `emit('listening')`, which a server that listens would emit itself.
 */
export function createHttp1(handlers: ExchangeHandlers, limits: FrontLimits): http.Server {
  const server = http.createServer({
    headersTimeout: limits.headTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.idleTimeout,
    maxHeaderSize: limits.headBytes,
    connectionsCheckingInterval: Math.min(CHECK_INTERVAL, limits.headTimeout),
    // Missing and doubled Host fields get our own answer, with a reason.
    requireHostHeader: false,
  });
  server.maxHeadersCount = limits.headFields;
  const latest = new WeakMap<Duplex, Http1Exchange>();
  const take = takeRequests(handlers, limits, latest);
  server.on('request', take('nothing')).on('checkContinue', take('continue')).on('checkExpectation', take('unknown'));
  server.on('clientError', refuseNonsense(handlers, limits, latest));
  server.on('connect', (_request, socket: Duplex) => {
    // An answer that is still due comes first on the wire; a tunnel asked for behind it gets none.
    if (isOpen(latest.get(socket))) socket.destroy();
    else refuseRaw(socket, noTunnel(), limits.linger);
    handlers.unread(noTunnel());
  });
  return server;
}

type Latest = WeakMap<Duplex, Http1Exchange>;

/** Hands requests on; a client that sends ever more requests without waiting for answers is stopped. */
function takeRequests(handlers: ExchangeHandlers, limits: FrontLimits, latest: Latest) {
  const unanswered = new WeakMap<Duplex, number>();
  const ended = new WeakSet<Duplex>();
  return (expects: Expectation) =>
    (request: http.IncomingMessage, response: http.ServerResponse): void => {
      const { socket } = request;
      if (ended.has(socket)) return;
      const endConnection = (): void => void ended.add(socket);
      const exchange = { protocol: 'http/1', request, response, expects, endConnection } as const;
      const count = unanswered.get(socket) ?? 0;
      latest.set(socket, exchange);
      unanswered.set(socket, count + 1);
      response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
      // Writing to a client that has gone is no fault of ours; it must not surface as one.
      response.on('error', ignore);
      request.on('error', ignore);
      if (count < limits.streams) handlers.request(exchange);
      else handlers.refuse(exchange, tooManyRequests(limits.streams));
    };
}

const ignore = (): void => undefined;

const tooManyRequests = (most: number): Refusal =>
  refuse('overloaded', `This connection has ${most} requests without an answer; wait for some.`, {
    retryAfter: seconds(1),
  });

/** Answers what Node's parser gave up on, in its turn and once. */
function refuseNonsense(handlers: ExchangeHandlers, limits: FrontLimits, latest: Latest) {
  const given = new WeakSet<Duplex>();
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    // Node tells of a broken connection again with everything that still arrives on it.
    if (given.has(socket)) return;
    given.add(socket);
    const refusal = nonsense(error);
    if (refusal === undefined) {
      socket.destroy();
      return;
    }
    const exchange = latest.get(socket);
    if (exchange !== undefined && !exchange.request.complete) {
      return refuseBody(handlers, exchange, refusal, limits.linger);
    }
    handlers.unread(refusal);
    const answer = (): void => refuseRaw(socket, refusal, limits.linger);
    if (exchange !== undefined && isOpen(exchange)) exchange.response.once('close', answer);
    else answer();
  };
}

/** The body of the latest request is what broke: that request is refused, or its answer, on the way already, is the last thing sent. */
function refuseBody(handlers: ExchangeHandlers, exchange: Http1Exchange, refusal: Refusal, linger: number): void {
  if (!isOver(exchange)) return handlers.refuse(exchange, refusal);
  const { response } = exchange;
  exchange.endConnection();
  const timer = setTimeout(() => response.destroy(), linger).unref();
  response.once('close', () => clearTimeout(timer));
}

const isOpen = (exchange: Http1Exchange | undefined): boolean =>
  exchange !== undefined && !exchange.response.writableFinished && !exchange.response.destroyed;
