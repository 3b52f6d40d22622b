import http2 from 'node:http2';
import type { FrontLimits } from './limits.ts';

/** SETTINGS and PING frames of one session within a second; each costs us an answer, and honest clients send a handful. */
const CONTROL_FRAMES = 100;

/** Hears of a session's streams. */
export interface SessionWatch {
  opened(): void;
  closed(): void;
}

/** Ends a session that has no stream for too long, whatever else it sends, and one that floods with frames that are no request. */
export function watchSession(session: http2.ServerHttp2Session, limits: FrontLimits): SessionWatch {
  let open = 0;
  const endUnused = (): void => {
    if (open === 0) endIdle(session, limits.linger);
  };
  let idle = setTimeout(endUnused, limits.headTimeout).unref();
  let isUsed = false;
  session.once('close', () => clearTimeout(idle));
  // A client that has closed its side asks nothing more.
  session.socket.once('end', () => session.close());
  countControlFrames(session);
  return {
    opened() {
      open += 1;
      if (isUsed) return;
      isUsed = true;
      clearTimeout(idle);
      idle = setTimeout(endUnused, limits.idleTimeout).unref();
    },
    // The timer runs while there are streams too, and ends nothing then: to set one anew for each stream costs more than the rest.
    closed() {
      open -= 1;
      if (open === 0 && !session.destroyed) idle.refresh();
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
