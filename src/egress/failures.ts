import type { EgressRule } from '../kernel/egress-rule.ts';
import type { ProxyError } from '../kernel/faults.ts';
import { type Refusal, RefusalError, refuse } from '../kernel/refusal.ts';
import type { Target } from '../kernel/origins.ts';

/** Turns what Node, OpenSSL and undici throw into refusals with a reason that a person can act on. */

interface Place {
  readonly target: Target;
  readonly rule: EgressRule;
}

/** Reads the code of an error, through the wrappings that libraries put around it. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause === undefined ? 'unknown' : codeOf(error.cause);
}

/** Explains why no connection stands. */
export function connectFailure(error: unknown, { target, rule }: Place): RefusalError {
  if (error instanceof RefusalError) return error;
  const code = codeOf(error);
  const tls = tlsReason(code, error, { target, rule });
  if (tls !== null) return new RefusalError(refuse('tls-failed', `${target.origin}: ${tls}`), error);
  const [type, what] = REACH[code] ?? ['destination_unavailable', `no connection could be made (${code})`];
  return new RefusalError(refuse('origin-unreachable', `${target.origin}: ${what}.`, { proxyError: type }), error);
}

const REACH: Readonly<Record<string, readonly [ProxyError, string]>> = {
  ECONNREFUSED: ['connection_refused', 'nothing listens there (connection refused)'],
  ETIMEDOUT: ['connection_timeout', 'the network gave up connecting'],
  EHOSTUNREACH: ['destination_unavailable', 'no route to its address'],
  ENETUNREACH: ['destination_unavailable', 'no route to its network'],
  ECONNRESET: ['destination_unavailable', 'the connection was reset'],
};

/** Certificate problems by Node's names; each says who can mend it. */
const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired; its owner must renew it',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet; compare the clocks',
  CERT_REVOKED: 'its certificate is revoked by the list in tls.crl',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed; trust its issuer by tls.ca',
  SELF_SIGNED_CERT_IN_CHAIN: 'its chain ends in a root that is not trusted; a private CA goes into tls.ca',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its chain is incomplete or of an unknown CA; a private CA goes into tls.ca',
  UNABLE_TO_GET_ISSUER_CERT: 'its chain is incomplete; the origin must send the intermediate certificates',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its issuer is not trusted; a private CA goes into tls.ca',
  UNABLE_TO_GET_CRL: 'tls.crl holds no list of its issuer',
  CRL_HAS_EXPIRED: 'the list in tls.crl is out of date',
  INVALID_PURPOSE: 'its certificate is not meant for a server',
  ERR_TLS_CLOSED: 'it closed the connection during the TLS handshake',
};

function tlsReason(code: string, error: unknown, { target, rule }: Place): string | null {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `its certificate is not for ${target.host}.`;
  const known = CERTIFICATE[code];
  if (known !== undefined) return `${known.replace('tls.', `${rule.name}.tls.`)}.`;
  if (isClientCertificateAlert(code))
    return `it wants a client certificate; set ${rule.name}.tls.cert and ${rule.name}.tls.key.`;
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return `the TLS handshake failed (${sslReason(code, error)}).`;
  // OpenSSL's verify results have no common prefix; every other one is a chain that does not verify.
  if (/CERT|CRL|SIGNATURE/.test(code)) return `its certificate does not verify (${code}).`;
  return null;
}

const isClientCertificateAlert = (code: string): boolean =>
  /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE)/.test(code) &&
  !code.includes('UNSUPPORTED');

const sslReason = (code: string, error: unknown): string =>
  error instanceof Error && 'reason' in error && typeof error.reason === 'string' ? error.reason : code;

/** Explains why an exchange broke after its connection stood. */
export function exchangeFailure(error: unknown, place: Place, signal: AbortSignal): Refusal {
  if (error instanceof RefusalError) return error.refusal;
  if (signal.aborted) return abortRefusal(signal.reason, place.target);
  const code = codeOf(error);
  const { target } = place;
  const tls = tlsReason(code, error, place);
  if (tls !== null) return refuse('tls-failed', `${target.origin}: ${tls}`);
  if (
    code === 'UND_ERR_INVALID_ARG' ||
    code === 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH' ||
    code === 'UND_ERR_NOT_SUPPORTED'
  ) {
    return refuse('bad-request', `The request to ${target.origin} cannot be sent as it is: ${messageOf(error)}.`);
  }
  if (isProtocolError(code)) {
    const detail = `${target.origin} does not speak HTTP correctly (${messageOf(error)}).`;
    return refuse('origin-unreachable', detail, { proxyError: 'http_protocol_error' });
  }
  const [type, what] = BROKEN[code] ?? ['destination_unavailable', `the connection broke (${code})`];
  return refuse('origin-unreachable', `${target.origin}: ${what}.`, { proxyError: type });
}

const BROKEN: Readonly<Record<string, readonly [ProxyError, string]>> = {
  UND_ERR_SOCKET: ['destination_unavailable', 'the connection was closed before the answer was complete'],
  UND_ERR_HEADERS_OVERFLOW: ['http_protocol_error', 'the header section of its answer is too large'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['http_protocol_error', 'its answer is not as long as its Content-Length says'],
  ECONNRESET: ['destination_unavailable', 'the connection was reset before the answer was complete'],
  EPIPE: ['destination_unavailable', 'the connection was closed while the request was sent'],
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown');

/** What an abort means: the watch and the connector say why; a caller that left says nothing. */
function abortRefusal(reason: unknown, target: Target): Refusal {
  if (reason instanceof RefusalError) return reason.refusal;
  return refuse('origin-unreachable', `The exchange with ${target.origin} was ended by its caller.`);
}

/** Parser errors of HTTP/1.1 have codes of their own (HPE_…). */
const isProtocolError = (code: string): boolean => code.startsWith('HPE_') || code.startsWith('ERR_HTTP2_');
