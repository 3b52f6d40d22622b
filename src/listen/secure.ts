import { constants } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type SecureContextOptions, type Server, createSecureContext, createServer } from 'node:tls';
import type { Acceptor } from './front.ts';
import type { FrontLimits } from './limits.ts';

/** The files of a listener's TLS identity, and of what it asks its clients for. Absolute paths, PEM. */
export interface ListenerTls {
  readonly cert: string;
  readonly key: string;
  /** Whoever has no certificate of one of these gets no connection; null where clients need none. */
  readonly clientCa: string | null;
  /** Certificates of clients that are revoked. */
  readonly crl: string | null;
}

/** The TLS side of a listener. */
export interface Secured {
  readonly acceptor: Acceptor;
  /** Reads the files; connections from now on get what they say. Throws an Error that says which one is wrong, and changes nothing. */
  renew(): Promise<void>;
}

/** Without an identity until `renew` was called; every handshake fails till then. */
export function createSecured(files: ListenerTls, limits: FrontLimits): Secured {
  let server: Server | undefined;
  return {
    acceptor(accept) {
      server = createServer(optionsOf(files, limits), accept);
      // A client that breaks the handshake off, or has no certificate to show, concerns nobody else.
      return server.on('tlsClientError', () => undefined);
    },
    async renew() {
      const identity = await readIdentity(files);
      server?.setSecureContext(identity);
    },
  };
}

const optionsOf = ({ clientCa }: ListenerTls, limits: FrontLimits) =>
  ({
    allowHalfOpen: true,
    noDelay: true,
    ALPNProtocols: ['h2', 'http/1.1'],
    requestCert: clientCa !== null,
    rejectUnauthorized: clientCa !== null,
    handshakeTimeout: limits.headTimeout,
  }) as const;

/** Who resumes a session shows no certificate again: one that is revoked meanwhile would be let in by its ticket. */
const WITHOUT_TICKETS = constants.SSL_OP_NO_TICKET;

async function readIdentity({ cert, key, clientCa, crl }: ListenerTls): Promise<SecureContextOptions> {
  const identity = {
    minVersion: 'TLSv1.2',
    cert: await read('cert', cert),
    key: await read('key', key),
    ...(clientCa === null ? {} : { ca: await read('clientCa', clientCa), secureOptions: WITHOUT_TICKETS }),
    ...(crl === null ? {} : { crl: await read('crl', crl) }),
  } as const;
  try {
    createSecureContext(identity);
    return identity;
  } catch (error) {
    throw new Error('tls: its files make no TLS identity; are they PEM, and is the key that of the certificate?', {
      cause: error,
    });
  }
}

async function read(role: string, file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Error(`tls.${role}: ${file} cannot be read`, { cause: error });
  }
}
