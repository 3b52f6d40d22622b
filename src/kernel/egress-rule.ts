import type { Url } from './ids.ts';

/** One line of an allowlist, parsed: `https://weather.example.com`, `https://*.agents.example.com:8443`. */
export interface OriginPattern {
  readonly scheme: 'https' | 'http';
  /** Lower-case A-labels or an address literal (IPv6 without brackets); for a wildcard the part after `*.`. */
  readonly host: string;
  /** True for `*.host`: exactly one further label. */
  readonly wildcard: boolean;
  readonly port: number;
}

/** Files that make a TLS identity of our own and the trust in the other side's; read again when they change. */
export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly crl?: string;
}

/** The permission that an exchange is made under. Nothing leaves the process without one. */
export interface EgressRule {
  /** Where the rule stands in the configuration, for messages: `agents.weather`, `origins[2]`. */
  readonly name: string;
  /** Every origin that may be dialled under it, redirects included. */
  readonly allowed: readonly OriginPattern[];
  /** True where http:// is allowed. */
  readonly cleartext: boolean;
  /** CIDR ranges (or single addresses) that may be dialled though they are special. */
  readonly unsafeAddresses: readonly string[];
  readonly tls: TlsFiles | null;
  /** An HTTP CONNECT proxy that resolves names for us; null for none. */
  readonly proxy: Url | null;
}
