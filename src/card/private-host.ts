/** Names that mean something only where they are written (RFC 6761, RFC 6762, RFC 8375, ICANN's .internal, Kubernetes). */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|lan|home\.arpa|test|invalid|svc|cluster\.local)\.?$/i;

/** Loopback, RFC 1918, link-local, shared and unspecified addresses. */
const LOCAL_IPV4 =
  /^(?:0|10|127)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;

/** `::`, `::1`, unique local (fc00::/7) and link-local (fe80::/10), as WHATWG URLs write them. */
const LOCAL_IPV6 = /^\[(?:::1?\]|f[cd]|fe[89ab])/i;

/** Tells whether nobody elsewhere can reach this host of a WHATWG URL; good enough for advice, not for a gate. */
export function isPrivateHost(host: string): boolean {
  const isSingleLabel = !host.includes('.') && !host.startsWith('[');
  const isIpv4 = /^\d+\.\d+\.\d+\.\d+$/.test(host);
  return isSingleLabel || LOCAL_NAME.test(host) || (isIpv4 && LOCAL_IPV4.test(host)) || LOCAL_IPV6.test(host);
}
