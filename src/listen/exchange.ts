import type http from 'node:http';
import type http2 from 'node:http2';
import type net from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Refusal } from '../kernel/refusal.ts';
import type { Connection } from './connection.ts';
import type { Known } from './standing-answers.ts';

/** A request that waits for its answer, in the protocol of its connection. */
export type Exchange = Http1Exchange | Http2Exchange;

export interface Http1Exchange {
  readonly protocol: 'http/1';
  readonly connection: Connection;
  readonly request: http.IncomingMessage;
  readonly response: http.ServerResponse;
  readonly expects: Expectation;
  /** Says that this is the connection's last exchange: whatever was sent behind it is not read as a request. */
  readonly endConnection: () => void;
}

export interface Http2Exchange {
  readonly protocol: 'http/2';
  readonly connection: Connection;
  readonly request: Http2Head;
  /** Both ways of the exchange. Node's objects that look like HTTP/1 around it cost more than the rest of a hit. */
  readonly stream: http2.ServerHttp2Stream;
  readonly expects: Expectation;
  /** Has somebody leave when the stream is over: one listener of Node's for all that hears of it, as each further one is felt. */
  whenOver(leaver: Leaver): void;
}

export interface Leaver {
  leave(): void;
}

/** What the head of an HTTP/2 request says, by the names that it has on HTTP/1. */
export interface Http2Head {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly httpVersion: '2.0';
  /** All lines in the order received, pseudo-fields too. */
  readonly rawHeaders: readonly string[];
  readonly headers: http2.IncomingHttpHeaders;
}

/** What `Expect` asks for: nothing, `100-continue`, or what nobody knows (RFC 9110 §10.1.1). */
export type Expectation = 'nothing' | 'continue' | 'unknown';

/** What the protocols' servers hand on. */
export interface ExchangeHandlers {
  /** Answers a request whose head is read; says by what, where the same bytes may be answered so again. */
  request(exchange: Exchange): Known | undefined;
  /** Answers a request whose head came in bytes that are known, on a connection where no answer is due; false where it must be read. */
  repeat(head: string, connection: Connection, socket: net.Socket): boolean;
  /** Hears in which bytes a request came that was answered by an answer that stands. */
  learn(head: string, known: Known): void;
  /** Answers a request with a refusal for the way it came in. */
  refuse(exchange: Exchange, refusal: Refusal): void;
  /** Hears of bytes that became no request and were refused. */
  unread(refusal: Refusal): void;
}

/** Where the answer's bytes go. */
export const sinkOf = (exchange: Exchange): Writable =>
  exchange.protocol === 'http/2' ? exchange.stream : exchange.response;

/** Where the request's bytes come from. */
export const sourceOf = (exchange: Exchange): Readable =>
  exchange.protocol === 'http/2' ? exchange.stream : exchange.request;

/** True once the head of the answer is out. */
export const isAnswered = (exchange: Exchange): boolean =>
  exchange.protocol === 'http/2' ? exchange.stream.headersSent : exchange.response.headersSent;

/** True once nothing can be answered any more: the head is out, or the client is gone. */
export const isOver = (exchange: Exchange): boolean => isAnswered(exchange) || sinkOf(exchange).destroyed;
