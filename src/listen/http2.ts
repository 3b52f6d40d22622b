import http2 from 'node:http2';
import { refuse } from '../kernel/refusal.ts';
import { Connection } from './connection.ts';
import { cutOff } from './cut-off.ts';
import {
  type ExchangeHandlers,
  type Expectation,
  type Http2Exchange,
  type Http2Head,
  type Leaver,
  isOver,
} from './exchange.ts';
import type { FrontLimits } from './limits.ts';
import { watchSession } from './session.ts';

/** The HTTP/2 side of a port; it gets its connections by `emit('connection')`. */
export interface Http2Side {
  readonly server: http2.Http2Server;
  /** Ends every session as soon as the streams that have arrived are answered; the client learns which those are (RFC 9113 §6.8). */
  close(): void;
}

export function createHttp2(handlers: ExchangeHandlers, limits: FrontLimits): Http2Side {
  const server = http2.createServer({
    maxHeaderListPairs: limits.headFields + PSEUDO_FIELDS,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    maxSettings: 16,
    // What is written has each of them once (`listen/head.ts`), and Node looks for every one among those before it.
    strictSingleValueFields: false,
    settings: { maxConcurrentStreams: limits.streams, maxHeaderListSize: limits.headBytes, enablePush: false },
    // Rapid reset (CVE-2023-44487): a client may reset this many streams at once, and then this many per second.
    streamResetBurst: 1_000,
    streamResetRate: 33,
  });
  const sessions = new Set<http2.ServerHttp2Session>();
  // What goes wrong with a session ends that session and concerns nobody else.
  server.on('sessionError', () => undefined);
  server.on('session', (session: http2.ServerHttp2Session) => {
    session.on('stream', takeStreams(session, handlers, limits));
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  return {
    server,
    close() {
      for (const session of sessions) session.close();
    },
  };
}

/** :method, :scheme, :authority, :path. */
const PSEUDO_FIELDS = 4;

type TakeStream = (
  stream: http2.ServerHttp2Stream,
  headers: http2.IncomingHttpHeaders,
  flags: number,
  rawHeaders: readonly string[],
) => void;

/** Floor: one object and two listeners a stream. Each further listener is told of to others of Node's own, and is felt. */
function takeStreams(session: http2.ServerHttp2Session, handlers: ExchangeHandlers, limits: FrontLimits): TakeStream {
  const connection = new Connection(session.socket);
  const { opened, closed } = watchSession(session, limits);
  return (stream, headers, _flags, rawHeaders) => {
    opened();
    const exchange = new StreamExchange(connection, stream, headers, rawHeaders);
    const over = (): void => {
      closed();
      exchange.end();
    };
    stream.on('close', over).on('error', ignore);
    if (!stream.endAfterHeaders) limitRequest(exchange, handlers, limits.requestTimeout);
    handlers.request(exchange);
  };
}

class StreamExchange implements Http2Exchange {
  readonly protocol = 'http/2';
  readonly connection: Connection;
  readonly request: Http2Head;
  readonly stream: http2.ServerHttp2Stream;
  readonly expects: Expectation;
  #last: Leaver | undefined;

  constructor(
    connection: Connection,
    stream: http2.ServerHttp2Stream,
    headers: http2.IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ) {
    this.connection = connection;
    this.stream = stream;
    this.request = { method: headers[':method'], url: headers[':path'], httpVersion: '2.0', rawHeaders, headers };
    this.expects = expectationOf(headers.expect);
  }

  whenOver(leaver: Leaver): void {
    this.#last = leaver;
  }

  end(): void {
    this.#last?.leave();
  }
}

const ignore = (): void => undefined;

function expectationOf(expect: string | undefined): Expectation {
  if (expect === undefined) return 'nothing';
  return expect === '100-continue' ? 'continue' : 'unknown';
}

/** HTTP/2 has no limit of its own for a body that never ends. */
function limitRequest(exchange: Http2Exchange, handlers: ExchangeHandlers, limit: number): void {
  const { stream } = exchange;
  const timer = setTimeout(() => {
    if (isOver(exchange)) cutOff(exchange);
    else handlers.refuse(exchange, refuse('request-timeout', 'The request did not arrive in time.'));
  }, limit).unref();
  stream.once('end', () => clearTimeout(timer));
  stream.once('close', () => clearTimeout(timer));
}
