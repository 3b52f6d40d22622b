import type net from 'node:net';
import type { Http1Exchange } from './exchange.ts';
import type { Known } from './standing-answers.ts';

/**
 * Requests that come in the very bytes of one that was read before. At the start of a message the same bytes are the same request,
 * whoever reads them: no second reader has to agree with Node's. Everything else is Node's, as if nobody stood before it.
 */
export interface Verbatim {
  /** Hears of each request that Node reads, and by what it was answered, where that stands. */
  read(exchange: Http1Exchange, known: Known | undefined): void;
  /** Leaves the connection to Node for good. */
  end(): void;
}

/** What stands behind. */
export interface Repeats {
  /** True while an answer is due: another one must not come before it. */
  isBusy(): boolean;
  /** Answers the request with this head, where the same one has an answer that stands; false where it must be read. */
  repeat(head: string): boolean;
  /** Hears in which bytes a request came. */
  learn(head: string, known: Known): void;
}

/** Longer heads are compared with nothing. In bytes. */
const LONGEST = 4_096;
const BLANK_LINE = '\r\n\r\n';
const CR = 13;
const LF = 10;

/** A request that Node has read, and by what it was answered, where that stands. */
interface Read {
  readonly exchange: Http1Exchange;
  readonly known: Known | undefined;
}

/**
 * Takes a connection's bytes before Node does; null where Node does not take them as it is known to: then nothing is changed.
 * Floor of a request that is known: its bytes as text, and one look-up.
 */
export function standBefore(socket: net.Socket, repeats: Repeats): Verbatim | null {
  const [feed, ...others] = socket.listeners('data');
  if (feed === undefined || others.length > 0) return null;
  let latest: Read | undefined;
  let count = 0;
  /** True where the next byte begins a message. */
  let isStart = false;
  const take = (chunk: Buffer): void => {
    const head = isStart && chunk.length <= LONGEST && !repeats.isBusy() ? chunk.toString('latin1') : undefined;
    if (head !== undefined && repeats.repeat(head)) return;
    [latest, count] = [undefined, 0];
    Reflect.apply(feed, socket, [chunk]);
    const read = takeLatest();
    isStart = read?.exchange.request.complete === true && endsBlank(chunk);
    if (read?.known === undefined || head === undefined || !isStart) return;
    if (count === 1 && isOneHead(head) && isRepeatable(read.exchange)) repeats.learn(head, read.known);
  };
  /** A connection that waits keeps nothing of a request. */
  function takeLatest(): Read | undefined {
    const read = latest;
    latest = undefined;
    return read;
  }
  // Node reads by itself until somebody else wants the bytes.
  socket.on('data', take);
  socket.off('data', feed as (chunk: Buffer) => void);
  return {
    read(exchange, known) {
      latest = { exchange, known };
      count += 1;
    },
    end: () => void socket.off('data', take),
  };
}

/**
 * With the latest request complete this is the end of a message: whatever came behind it would be the head of another one, which a blank
 * line makes complete, or empty lines, which are none (RFC 9112 §2.2).
 */
function endsBlank(chunk: Buffer): boolean {
  const { length } = chunk;
  return chunk[length - 4] === CR && chunk[length - 3] === LF && chunk[length - 2] === CR && chunk[length - 1] === LF;
}

const isOneHead = (head: string): boolean => head.indexOf(BLANK_LINE) === head.length - BLANK_LINE.length;

/** A GET after which the connection goes on: all that an answer is written for without Node. */
const isRepeatable = ({ request, response }: Http1Exchange): boolean =>
  request.method === 'GET' && request.httpVersion === '1.1' && response.shouldKeepAlive;
