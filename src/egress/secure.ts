import { type Socket, isIP } from 'node:net';
import { type TLSSocket, connect } from 'node:tls';
import type { TlsIdentity } from './tls-files.ts';

/** A handshake to make over a connected socket. */
export interface Handshake {
  readonly socket: Socket;
  /** Whose certificate is expected: the name (or literal) from the URL, never the address that was dialled. */
  readonly host: string;
  readonly identity: TlsIdentity;
  readonly alpn: readonly string[];
  readonly signal: AbortSignal;
}

/** Makes TLS over a socket: certificate, name and chain verified whatever the environment says. */
export function secure({ socket, host, identity, alpn, signal }: Handshake): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const tls = connect({
      socket,
      host,
      // "Literal IPv4 and IPv6 addresses are not permitted in HostName" — RFC 6066 §3
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: [...alpn],
      secureContext: identity.context,
      minVersion: 'TLSv1.2',
      // NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment must not decide whom agents trust.
      rejectUnauthorized: true,
    });
    const abort = (): void => fail(signal.reason);
    const settle = (): void => {
      signal.removeEventListener('abort', abort);
      tls.off('error', fail).off('close', closed);
    };
    const fail = (error: unknown): void => {
      settle();
      tls.on('error', () => {}).destroy();
      socket.on('error', () => {}).destroy();
      reject(error);
    };
    const closed = (): void =>
      fail(Object.assign(new Error('closed during the TLS handshake'), { code: 'ERR_TLS_CLOSED' }));
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    tls.once('error', fail).once('close', closed);
    tls.once('secureConnect', () => {
      settle();
      resolve(tls);
    });
  });
}
