import type http from 'node:http';
import net from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Duplex } from 'node:stream';
import { refuse, type Refusal } from '../kernel/refusal.ts';
import { seconds } from '../kernel/units.ts';
import { hasContent } from './body.ts';
import { Connection } from './connection.ts';
import { type ExchangeHandlers, type Expectation, type Http1Exchange, isOver } from './exchange.ts';
import type { FrontLimits } from './limits.ts';
import { createServer } from './node-http.ts';
import { noTunnel, nonsense, refuseRaw } from './raw-refusal.ts';
import type { Known } from './standing-answers.ts';
import { type Verbatim, standBefore } from './verbatim.ts';

/** How often Node looks for requests that take too long, in ms, at most. */
const CHECK_INTERVAL = 1_000;

/**
 * Makes the HTTP/1.1 side of a port. It never listens: it gets its connections by `emit('connection')`, and the checks of slow
 * requests start with `emit('listening')`, which a server that listens would emit itself.
 */
export function createHttp1(handlers: ExchangeHandlers, limits: FrontLimits): http.Server {
  const server = createServer({
    headersTimeout: limits.headTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.idleTimeout,
    maxHeaderSize: limits.headBytes,
    // Whatever --insecure-http-parser says: a lenient reading is how requests are smuggled.
    insecureHTTPParser: false,
    connectionsCheckingInterval: Math.min(CHECK_INTERVAL, limits.headTimeout),
    // Missing and doubled Host fields get our own answer, with a reason.
    requireHostHeader: false,
  });
  server.maxHeadersCount = limits.headFields;
  const lines = createLines();
  const take = takeRequests(handlers, limits, lines);
  server.on('request', take('nothing')).on('checkContinue', take('continue')).on('checkExpectation', take('unknown'));
  server.on('clientError', refuseNonsense(handlers, limits, lines));
  server.on('connect', (_request, socket: Duplex) => {
    const { latest, verbatim } = lines.of(socket);
    verbatim?.end();
    // An answer that is still due comes first on the wire; a tunnel asked for behind it gets none.
    if (isOpen(latest)) socket.destroy();
    else refuseRaw(socket, noTunnel(), limits.linger);
    handlers.unread(noTunnel());
  });
  return server;
}

/** What is known of one connection while it is open. */
interface Line {
  readonly connection: Connection;
  /** While something of it is on its way: what a connection waits with holds no credential. */
  latest: Http1Exchange | undefined;
  unanswered: number;
  /** True once an answer has said that it is the last. */
  ended: boolean;
  /** Since its first answer that stands; null where nobody can stand before Node. */
  verbatim: Verbatim | null | undefined;
  /** Both are made once per connection: a hit makes no function. */
  readonly end: () => void;
  readonly answered: () => void;
}

interface Lines {
  of(socket: Duplex): Line;
}

function createLines(): Lines {
  const known = new WeakMap<Duplex, Line>();
  const begin = (socket: Duplex): Line => {
    const line: Line = {
      connection: new Connection(socket instanceof net.Socket ? socket : {}),
      latest: undefined,
      unanswered: 0,
      ended: false,
      verbatim: undefined,
      end: () => void (line.ended = true),
      answered: () => {
        line.unanswered -= 1;
        if (line.unanswered === 0) forgetLatest(line);
      },
    };
    known.set(socket, line);
    return line;
  };
  return { of: (socket) => known.get(socket) ?? begin(socket) };
}

/** A body that still comes may turn out to be nonsense; then it must be known whose it is. */
function forgetLatest(line: Line): void {
  const { latest } = line;
  if (latest === undefined || latest.request.complete || !hasContent(latest)) {
    line.latest = undefined;
    return;
  }
  latest.request.once('close', () => {
    if (line.latest === latest) line.latest = undefined;
  });
}

/** Hands requests on; a client that sends ever more requests without waiting for answers is stopped. */
function takeRequests(handlers: ExchangeHandlers, limits: FrontLimits, lines: Lines) {
  return (expects: Expectation) =>
    (request: http.IncomingMessage, response: http.ServerResponse): void => {
      const line = lines.of(request.socket);
      if (line.ended) return;
      const exchange: Http1Exchange = {
        protocol: 'http/1',
        connection: line.connection,
        request,
        response,
        expects,
        endConnection: line.end,
      };
      line.latest = exchange;
      line.unanswered += 1;
      if (line.unanswered <= limits.streams) watchRepeats(handlers, exchange, line, handlers.request(exchange));
      else handlers.refuse(exchange, tooManyRequests(limits.streams));
      // Nearly every hit is with the system by now, and nothing more can come of it.
      if (response.writableFinished) line.answered();
      else follow(request, response, line);
    };
}

/** A client that was given an answer that stands may ask for it again. */
function watchRepeats(handlers: ExchangeHandlers, exchange: Http1Exchange, line: Line, known: Known | undefined): void {
  if (known !== undefined && line.verbatim === undefined) line.verbatim = standByBytes(handlers, exchange, line);
  line.verbatim?.read(exchange, known);
}

/** A certificate says who the client is, which no bytes of a request do. */
function standByBytes(handlers: ExchangeHandlers, { request: { socket } }: Http1Exchange, line: Line): Verbatim | null {
  if (socket instanceof TLSSocket) return null;
  return standBefore(socket, {
    isBusy: () => line.unanswered > 0 || line.ended || socket.writableLength > 0,
    repeat: (head) => handlers.repeat(head, line.connection, socket),
    learn: (head, known) => handlers.learn(head, known),
  });
}

function follow(request: http.IncomingMessage, response: http.ServerResponse, line: Line): void {
  response.on('close', line.answered);
  // Writing to a client that has gone is no fault of ours; it must not surface as one.
  response.on('error', ignore);
  request.on('error', ignore);
}

const ignore = (): void => undefined;

const tooManyRequests = (most: number): Refusal =>
  refuse('overloaded', `This connection has ${most} requests without an answer; wait for some.`, {
    retryAfter: seconds(1),
  });

/** Answers what Node's parser gave up on, in its turn and once. */
function refuseNonsense(handlers: ExchangeHandlers, limits: FrontLimits, lines: Lines) {
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
    const exchange = lines.of(socket).latest;
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
