import type { Socket } from 'node:net';
import { RefusalError, refuse } from '../kernel/refusal.ts';
import type { Target } from '../kernel/origins.ts';

/** Asked for by its name: an import would load all that `node:http` exports, as in `listen/node-http.ts`. */
const { request } = process.getBuiltinModule('node:http');

/** Asks an HTTP proxy for a tunnel to a target over a socket that leads to the proxy (RFC 9110 §9.3.6). */
export function openTunnel(socket: Socket, target: Target, signal: AbortSignal): Promise<Socket> {
  const host = target.host.includes(':') ? `[${target.host}]` : target.host;
  const authority = `${host}:${target.port}`;
  return new Promise((resolve, reject) => {
    const asking = request({
      method: 'CONNECT',
      path: authority,
      headers: { host: authority },
      createConnection: () => socket,
      insecureHTTPParser: false,
      signal,
    });
    const fail = (error: unknown): void => {
      socket.destroy();
      reject(signal.aborted ? signal.reason : error);
    };
    asking.once('error', fail);
    asking.once('response', (response) => {
      response.destroy();
      fail(refusedBy(response.statusCode));
    });
    asking.once('connect', (response, tunnel: Socket, head) => {
      const { statusCode = 0 } = response;
      // "any 2xx response indicates that the sender will switch to tunnel mode"; bytes that come with it are nobody's.
      if (statusCode < 200 || statusCode > 299 || head.length > 0) return fail(refusedBy(statusCode));
      resolve(tunnel);
    });
    asking.end();
  });
}

const refusedBy = (status: number | undefined): RefusalError =>
  new RefusalError(
    refuse(
      'origin-unreachable',
      `The egress proxy answered CONNECT with ${status}; its own rules must allow the origin.`,
      {
        proxyError: 'http_request_denied',
      },
    ),
  );
