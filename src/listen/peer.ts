import type { X509Certificate } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import type { Peer, PeerCertificate } from '../kernel/peer.ts';
import type { Exchange } from './exchange.ts';

/** Tells who is at the other end of an exchange's connection. */
export type FindPeer = (exchange: Exchange) => Peer;

/** Makes the look-up for one listener; a certificate is read once for all requests of its connection. */
export function createFindPeer(principal: string | null, asksForCertificates: boolean): FindPeer {
  const nobody: Peer = { principal, certificate: null };
  if (!asksForCertificates) return () => nobody;
  const known = new WeakMap<object, Peer>();
  return (exchange) => {
    const connection = connectionOf(exchange);
    if (connection === undefined) return nobody;
    let peer = known.get(connection);
    if (peer === undefined) known.set(connection, (peer = { principal, certificate: certificateOf(exchange) }));
    return peer;
  };
}

/** What all requests of one connection share; HTTP/2 gives each stream a socket object of its own. */
const connectionOf = (exchange: Exchange): object | undefined =>
  exchange.protocol === 'http/2' ? exchange.stream.session : exchange.request.socket;

function certificateOf(exchange: Exchange): PeerCertificate | null {
  const socket: unknown = exchange.protocol === 'http/2' ? exchange.stream.session?.socket : exchange.request.socket;
  if (!(socket instanceof TLSSocket) || !socket.authorized) return null;
  const certificate = socket.getPeerX509Certificate();
  return certificate === undefined ? null : describe(certificate);
}

const describe = ({ subject, subjectAltName, fingerprint256 }: X509Certificate): PeerCertificate => ({
  subject,
  names: altNames(subjectAltName ?? ''),
  fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(),
});

/**
 * Cuts the text that Node makes of subjectAltName into its entries. A name that holds a comma or a quote stands there as a JSON string,
 * so that no name can pass for two.
 */
export function altNames(text: string): readonly string[] {
  return [...text.matchAll(/([A-Za-z ]+:)("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/g)].map(([, kind = '', value = '']) =>
    value.startsWith('"') ? `${kind}${String(JSON.parse(value))}` : `${kind}${value}`,
  );
}
