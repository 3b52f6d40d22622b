import type http from 'node:http';
import type http2 from 'node:http2';
import type { Writable } from 'node:stream';
import type { Refusal } from '../kernel/refusal.ts';

/** A request that waits for its answer, in the protocol of its connection. */
export type Exchange = Http1Exchange | Http2Exchange;

export interface Http1Exchange {
  readonly protocol: 'http/1';
  readonly request: http.IncomingMessage;
  readonly response: http.ServerResponse;
  readonly expects: Expectation;
  /** Says that this is the connection's last exchange: whatever was sent behind it is not read as a request. */
  readonly endConnection: () => void;
}

export interface Http2Exchange {
  readonly protocol: 'http/2';
  readonly request: http2.Http2ServerRequest;
  readonly response: http2.Http2ServerResponse;
  readonly expects: Expectation;
}

/** What `Expect` asks for: nothing, `100-continue`, or what nobody knows (RFC 9110 §10.1.1). */
export type Expectation = 'nothing' | 'continue' | 'unknown';

/** What the protocols' servers hand on. */
export interface ExchangeHandlers {
  /** Answers a request whose head is read. */
  request(exchange: Exchange): void;
  /** Answers a request with a refusal for the way it came in. */
  refuse(exchange: Exchange, refusal: Refusal): void;
  /** Hears of bytes that became no request and were refused. */
  unread(refusal: Refusal): void;
}

/** Where the answer's bytes go; Node's HTTP/2 response object is no Writable, its stream is. */
export const sinkOf = (exchange: Exchange): Writable =>
  exchange.protocol === 'http/2' ? exchange.response.stream : exchange.response;

/** True once nothing can be answered any more: the head is out, or the client is gone. */
export const isOver = (exchange: Exchange): boolean => exchange.response.headersSent || sinkOf(exchange).destroyed;
