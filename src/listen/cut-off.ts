import type { Exchange } from './exchange.ts';

/** Breaks an answer off so that nobody takes what has been sent for the whole of it. */
export function cutOff(exchange: Exchange): void {
  if (exchange.protocol === 'http/2') {
    // Only with an error is the stream reset before it is ended: `close(code)` and a bare `destroy()` say END_STREAM first.
    exchange.stream.destroy(new Error('the answer broke off'));
    return;
  }
  const { socket } = exchange.response;
  // A body that only the end of the connection ends (HTTP/1.0) looks whole unless the connection is reset.
  if (socket !== null && exchange.request.httpVersion === '1.0') socket.resetAndDestroy();
  else exchange.response.destroy();
}
