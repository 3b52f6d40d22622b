/** Who is at the other end of a connection, as far as the connection itself tells. Nothing of it is read from a request. */
export interface Peer {
  /** Whom the configuration says that this listener is for (`principal`); null where it says nothing. */
  readonly principal: string | null;
  /** The certificate that the client has shown and the listener's `clientCa` vouches for; null without one. */
  readonly certificate: PeerCertificate | null;
}

/** What a client certificate says of its holder. */
export interface PeerCertificate {
  /** The subject's attributes, one a line: `CN=planner`. */
  readonly subject: string;
  /** Its subjectAltName entries with their kinds: `URI:spiffe://example.org/planner`, `DNS:planner.example.org`. */
  readonly names: readonly string[];
  /** SHA-256 of the certificate, lower-case hex without colons. */
  readonly fingerprint: string;
}

/**
 * What a certificate's holder is called: by its URI name (a SPIFFE id), else by its host name, else by its subject's common name, each
 * with its kind before it, so that no name of one kind passes for another's.
 */
export function nameOfHolder(certificate: PeerCertificate | null): string {
  if (certificate === null) return '';
  const { names, subject, fingerprint } = certificate;
  const common = subject.split('\n').find((line) => line.startsWith('CN='));
  const kinds = ['URI:', 'DNS:'].map((kind) => names.find((name) => name.startsWith(kind)));
  return kinds.find((name) => name !== undefined) ?? common ?? `sha256:${fingerprint}`;
}
