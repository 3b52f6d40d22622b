import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Origin, Url } from '../kernel/ids.ts';
import { classifyAddress, vetAddress } from './addresses.ts';

/** What is seen on the way to an origin: for whoever wants to know why, never for a decision. */
export type Sight =
  | { readonly kind: 'resolved'; readonly host: string; readonly addresses: readonly SeenAddress[] }
  | { readonly kind: 'proxied'; readonly host: string; readonly proxy: Url }
  | {
      readonly kind: 'connected';
      readonly origin: Origin;
      readonly address: string;
      readonly protocol: string;
      readonly certificate: SeenCertificate | null;
    };

export interface SeenAddress {
  readonly address: string;
  /** `global unicast`, or the range with its name and RFC. */
  readonly class: string;
  /** True where the rule lets it be dialled. */
  readonly allowed: boolean;
}

export interface SeenCertificate {
  readonly subject: string;
  readonly issuer: string;
  /** The names that it is for, as OpenSSL writes them: `DNS:weather.example.com`. */
  readonly names: string;
  readonly notAfter: string;
  readonly sha256: string;
}

/** Says what an address is, and whether a rule lets it be dialled. */
export function seeAddress(address: string, unsafe: readonly string[]): SeenAddress {
  const found = classifyAddress(address);
  const text = found.allowed ? 'global unicast' : `${found.range} (${found.name}, ${found.rfc})`;
  return { address, class: text, allowed: vetAddress(address, unsafe).allowed };
}

/** Says what stands at the other end of a connection. */
export function seeConnection(origin: Origin, socket: Socket | TLSSocket): Sight {
  const secure = 'getPeerX509Certificate' in socket ? socket : undefined;
  const certificate = secure?.getPeerX509Certificate();
  const negotiated = secure?.alpnProtocol;
  return {
    kind: 'connected',
    origin,
    address: socket.remoteAddress ?? '',
    protocol: typeof negotiated === 'string' ? negotiated : 'http/1.1',
    certificate:
      certificate === undefined
        ? null
        : {
            subject: oneLine(certificate.subject),
            issuer: oneLine(certificate.issuer),
            names: certificate.subjectAltName ?? '',
            notAfter: certificate.validTo,
            sha256: certificate.fingerprint256,
          },
  };
}

/** Node writes one attribute a line. */
const oneLine = (name: string): string => name.replaceAll('\n', ', ');
