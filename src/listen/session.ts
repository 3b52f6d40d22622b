import http2 from 'node:http2';
import type { FrontLimits } from './limits.ts';

/** SETTINGS and PING frames of one session within a second; each costs us an answer, and honest clients send a handful. */
const CONTROL_FRAMES = 100;

/** Ends a session that has no stream for too long, whatever else it sends, and one that floods with frames that are no request. */
export function watchSession(session: http2.ServerHttp2Session, limits: FrontLimits): void {
  let open = 0;
  let idle = endAfter(limits.headTimeout);
  function endAfter(delay: number): NodeJS.Timeout {
    return setTimeout(() => endIdle(session, limits.linger), delay).unref();
  }
  session.on('stream', (stream) => {
    open += 1;
    clearTimeout(idle);
    stream.once('close', () => {
      open -= 1;
      if (open === 0 && !session.destroyed) idle = endAfter(limits.idleTimeout);
    });
  });
  session.once('close', () => clearTimeout(idle));
  // A client that has closed its side asks nothing more.
  session.socket.once('end', () => session.close());
  countControlFrames(session);
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
