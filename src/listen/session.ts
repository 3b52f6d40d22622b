import http2 from 'node:http2';
import type { FrontLimits } from './limits.ts';

/** One HTTP/2 connection under the limits that the protocol itself does not have. */
export interface WatchedSession {
  /** Says GOAWAY for streams that come later, which are still answered (RFC 9113 §6.8), and stays only while it is used. */
  retire(): void;
  /** Takes no further stream and ends when the open ones are answered. */
  close(): void;
}

/** "An endpoint that initiates a graceful shutdown … SHOULD send an initial GOAWAY frame with … 2^31-1" — RFC 9113 §6.8. */
const ALL_STREAMS = 2 ** 31 - 1;
/** How long a retired session may go without a stream, in ms: one round trip of a slow client. */
const RETIRED_IDLE = 250;
/** SETTINGS and PING frames of one session within a second; each costs us an answer, and honest clients send a handful. */
const CONTROL_FRAMES = 100;

/** Ends a session that has no stream for too long, whatever else it sends, and one that floods with frames that are no request. */
export function watchSession(session: http2.ServerHttp2Session, limits: FrontLimits): WatchedSession {
  let open = 0;
  let retired = false;
  let idle = after(limits.headTimeout);
  function after(delay: number): NodeJS.Timeout {
    return setTimeout(() => endIdle(session, limits.linger), delay).unref();
  }
  const rest = (): void => {
    clearTimeout(idle);
    if (open === 0) idle = after(retired ? RETIRED_IDLE : limits.idleTimeout);
  };
  session.on('stream', (stream) => {
    open += 1;
    clearTimeout(idle);
    stream.once('close', () => {
      open -= 1;
      if (!session.destroyed) rest();
    });
  });
  session.once('close', () => clearTimeout(idle));
  // A client that has closed its side asks nothing more.
  session.socket.once('end', () => session.close());
  countControlFrames(session);
  return {
    retire() {
      if (retired || session.destroyed || session.closed) return;
      retired = true;
      session.goaway(http2.constants.NGHTTP2_NO_ERROR, ALL_STREAMS);
      rest();
    },
    close() {
      if (!session.destroyed) session.close();
    },
  };
}

/** Ends a session without streams; the connection is cut if the client does not end it. */
function endIdle(session: http2.ServerHttp2Session, linger: number): void {
  if (session.destroyed) return;
  session.close();
  const timer = setTimeout(() => session.destroy(), linger).unref();
  session.once('close', () => clearTimeout(timer));
}

function countControlFrames(session: http2.ServerHttp2Session): void {
  let since = performance.now();
  let count = 0;
  const tally = (): void => {
    const now = performance.now();
    if (now - since > 1_000) [since, count] = [now, 0];
    count += 1;
    if (count > CONTROL_FRAMES && !session.destroyed) {
      session.destroy(undefined, http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
  };
  session.on('remoteSettings', tally).on('ping', tally);
}
