/**
 * Every way in which Cardea says no, in one table. The code is the problem's `code`, the path below `/problems/`, the log field and
 * the metric's reason; nothing else in the program decides a status, a log level or a Proxy-Status type.
 */

/** RFC 9209 §2.3 error types that Cardea uses. */
export type ProxyError =
  | 'destination_ip_prohibited'
  | 'http_request_denied'
  | 'tls_certificate_error'
  | 'dns_error'
  | 'http_response_timeout'
  | 'connection_timeout'
  | 'connection_refused'
  | 'destination_unavailable'
  | 'http_response_body_size'
  | 'http_protocol_error'
  | 'proxy_loop_detected';

/** A2A's own errors: their JSON-RPC code and ErrorInfo reason, domain `a2a-protocol.org` (A2A 1.0 §5.4, §9.5). */
export interface A2aError {
  readonly jsonRpc: -32004 | -32007 | -32009;
  readonly reason: 'UNSUPPORTED_OPERATION' | 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' | 'VERSION_NOT_SUPPORTED';
}

export interface Fault {
  /** HTTP status of the refusal. */
  readonly status: number;
  readonly title: string;
  /** One sentence: what it means. Printed by `GET /problems/{code}` and in the docs. */
  readonly meaning: string;
  /** One sentence: what to change, and who can. */
  readonly mend: string;
  /** The level of the log line that records it. */
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** True where the same request may succeed later without anyone changing anything. */
  readonly retry: boolean;
  /** google.rpc.Code name used in `error.status` on A2A operation paths. */
  readonly rpc: RpcStatus;
  /** Default RFC 9209 error type, where an origin was involved. */
  readonly proxyError?: ProxyError;
  readonly a2a?: A2aError;
}

/** The google.rpc.Code names that Cardea answers with. */
export type RpcStatus =
  | 'INVALID_ARGUMENT'
  | 'FAILED_PRECONDITION'
  | 'NOT_FOUND'
  | 'PERMISSION_DENIED'
  | 'UNAUTHENTICATED'
  | 'UNAVAILABLE'
  | 'DEADLINE_EXCEEDED'
  | 'RESOURCE_EXHAUSTED'
  | 'ABORTED'
  | 'UNIMPLEMENTED'
  | 'INTERNAL';

const ours = (status: number, title: string, rpc: RpcStatus, meaning: string, mend: string): Fault => ({
  status,
  title,
  rpc,
  meaning,
  mend,
  level: 'info',
  retry: false,
});

/** A failure on the way to the origin: worth a warning, and worth another try later. */
const onTheWay = (status: 502 | 504, proxyError: ProxyError, title: string, meaning: string, mend: string): Fault => ({
  status,
  title,
  meaning,
  mend,
  level: 'warn',
  retry: true,
  rpc: status === 504 ? 'DEADLINE_EXCEEDED' : 'UNAVAILABLE',
  proxyError,
});

/** A card that arrived and is refused. */
const badCard = (title: string, meaning: string, mend: string): Fault => ({
  status: 502,
  title,
  meaning,
  mend,
  level: 'warn',
  retry: true,
  rpc: 'UNAVAILABLE',
  proxyError: 'http_protocol_error',
});

const token = (title: string, meaning: string, mend: string): Fault =>
  ours(401, title, 'UNAUTHENTICATED', meaning, mend);

const denied = (status: 403, title: string, meaning: string, mend: string): Fault => ({
  ...ours(status, title, 'PERMISSION_DENIED', meaning, mend),
  level: 'warn',
  proxyError: 'http_request_denied',
});

export const FAULTS = {
  'bad-request': ours(
    400,
    'Malformed request',
    'INVALID_ARGUMENT',
    'The request is not well-formed HTTP, or a field that must stand once is missing or stands twice.',
    'Send exactly one Host field and a well-formed target; the detail names what was found.',
  ),
  'not-found': ours(
    404,
    'No such path',
    'NOT_FOUND',
    'Nothing is served at this path.',
    'Use one of the paths that GET /agents lists.',
  ),
  'method-not-allowed': ours(
    405,
    'Method not allowed',
    'UNIMPLEMENTED',
    'This path exists, but not for this method.',
    'Use a method from the Allow field.',
  ),
  'request-timeout': ours(
    408,
    'The request came too slowly',
    'DEADLINE_EXCEEDED',
    'The client did not finish its request in time.',
    'Send the whole request head and body without long pauses.',
  ),
  misdirected: ours(
    421,
    'Host is not served here',
    'NOT_FOUND',
    'The Host field names none of the names that this listener answers for.',
    "Use localhost or the listener's address, or add the name to listen.names or to an agent's hosts.",
  ),
  'request-too-large': ours(
    413,
    'Request too large',
    'INVALID_ARGUMENT',
    'The body (413), the target (414) or the fields (431) are longer than Cardea takes.',
    'Send a smaller request.',
  ),
  conflict: ours(
    409,
    'State has moved on',
    'ABORTED',
    'What the request refers to is no longer so.',
    'Read the current state and decide again.',
  ),
  internal: {
    ...ours(
      500,
      'Internal error',
      'INTERNAL',
      'Cardea met a condition that it does not expect; this is a bug.',
      'Report it with the log line of the same receipt or time.',
    ),
    level: 'error',
  },
  'not-routed': {
    ...ours(
      400,
      'This agent is called directly',
      'FAILED_PRECONDITION',
      "Cardea serves this agent's card but does not carry its traffic.",
      'Call the interface that the card names, or set route: through for the agent.',
    ),
    a2a: { jsonRpc: -32004, reason: 'UNSUPPORTED_OPERATION' },
  },
  unauthorized: {
    ...token(
      'Authority needed',
      'The admin API answers only to the admin token, or to whoever signed in to the console with it.',
      'Send Authorization: Bearer with the content of the admin token file; in a browser, open the link that `cardea console` prints.',
    ),
    level: 'warn',
  },
  'unknown-agent': ours(
    404,
    'No such agent',
    'NOT_FOUND',
    'No agent of this name or tenant is served to this caller.',
    'Compare the name with GET /agents.',
  ),
  'origin-not-allowed': denied(
    403,
    'Origin is not on the allowlist',
    'No rule allows this origin.',
    'Add it to origins, if it is meant to be reached.',
  ),
  'lookalike-origin': denied(
    403,
    'Origin resembles an allowed one',
    'The host is not allowed and looks like one that is.',
    'Check the spelling; an allowed host must be written exactly.',
  ),
  'address-forbidden': {
    ...onTheWay(
      502,
      'destination_ip_prohibited',
      'Address is forbidden',
      "The origin's name resolves to an address that Cardea does not dial.",
      'If the address is meant, list it in unsafeAddresses of the agent or rule.',
    ),
    retry: false,
  },
  'redirect-refused': {
    ...onTheWay(
      502,
      'http_request_denied',
      'Redirect refused',
      'The origin answered with a redirect that is not followed.',
      'Configure the URL that the redirect leads to.',
    ),
    retry: false,
  },
  'tls-failed': onTheWay(
    502,
    'tls_certificate_error',
    'TLS failed',
    'No verified TLS connection to the origin could be made.',
    'Check the certificate, its name and its issuer; a private CA goes into tls.ca.',
  ),
  'dns-failed': onTheWay(
    502,
    'dns_error',
    'Name not resolved',
    "The origin's name could not be resolved.",
    'Check the name and the resolver of this machine or Pod.',
  ),
  'origin-unreachable': onTheWay(
    502,
    'destination_unavailable',
    'Origin unreachable',
    'No connection to the origin could be made, or it broke.',
    'Check that the origin runs and that this machine or Pod can reach it.',
  ),
  'origin-status': onTheWay(
    502,
    'http_protocol_error',
    'Origin answered with an error',
    'The origin answered with a status that is no card.',
    'Check the configured URL and the origin; the detail has its status and challenge. Where it wants a credential for the public card, write credentials for the agent.',
  ),
  'origin-timeout': onTheWay(
    504,
    'http_response_timeout',
    'Origin too slow',
    'The origin did not answer completely in time.',
    'Check the origin; limits.response and limits.connect are the bounds.',
  ),
  'card-too-large': {
    ...badCard(
      'Card too large',
      'The card is larger than limits.cardBytes.',
      'Make the card smaller, or raise limits.cardBytes.',
    ),
    proxyError: 'http_response_body_size',
  },
  'card-not-json': badCard(
    'Card is not JSON',
    'The body is not strict JSON in UTF-8 within the depth limit.',
    'Serve one JSON object; the detail says where parsing stopped.',
  ),
  'card-content-type': badCard(
    'Card has the wrong content type',
    'The answer is not declared as JSON.',
    'Serve the card as application/json or application/a2a+json.',
  ),
  'card-invalid': badCard(
    'Card is invalid',
    'The document is no Agent Card that a client could use.',
    'Mend the member that the detail names.',
  ),
  'card-ambiguous': badCard(
    'Card contradicts itself',
    'Two members say the same thing with different values.',
    'Make the members that the detail names agree, or drop one.',
  ),
  'unsupported-version': badCard(
    'A2A version not supported',
    'The card is for an A2A version that is not accepted.',
    'Publish a version that the detail lists, or widen versions for the agent.',
  ),
  'unsupported-extension': badCard(
    'Required extension not supported',
    'The card requires an extension that no local client honours.',
    'Add its URI to extensions of the agent if the local clients honour it.',
  ),
  'unknown-security-scheme': badCard(
    'Unknown security scheme',
    'The card requires a security scheme of a kind that is not known.',
    "Declare the scheme as one of A2A's kinds.",
  ),
  'interface-not-allowed': badCard(
    'Interface on a host that is not allowed',
    "The card names an interface on a host outside the agent's rule.",
    "Serve interfaces from the agent's own site, or widen interfaces for the agent.",
  ),
  'signature-required': badCard(
    'Signature required',
    "The agent's card must be signed and is not.",
    'Sign the card, or relax signature for the agent.',
  ),
  'signature-invalid': badCard(
    'Signature does not hold',
    'No signature of a trusted key holds over the card.',
    'Sign the card as served; cardea verify shows which bytes differ.',
  ),
  'signature-untrusted': badCard(
    'Signature by no trusted key',
    "The card is signed, but by no key of the agent's key sets.",
    'Add the key set to keys of the agent, if its owner may vouch for this agent.',
  ),
  'key-revoked': badCard(
    'Signing key revoked',
    'The card is signed by a key that has been revoked.',
    'Sign with a current key.',
  ),
  'keys-unavailable': badCard(
    'Keys unavailable',
    'The key set is too old or could not be had, so nothing can be verified.',
    "Check the key set's URL; cache.keysMaxStale is the bound.",
  ),
  'change-held': {
    ...ours(
      503,
      'A change waits for review',
      'UNAVAILABLE',
      'The card has changed, and the change waits for a person.',
      'Review it: cardea review AGENT.',
    ),
    level: 'warn',
    retry: true,
  },
  'first-use-held': {
    ...ours(
      503,
      'First use waits for review',
      'UNAVAILABLE',
      'No card of this agent has been approved yet; one without a name, whose host a wildcard covers, waits by default.',
      'Approve its card: cardea review AGENT, or cardea review URL; with firstUse: pinned add its digest to the file of review.pins.',
    ),
    level: 'warn',
    retry: true,
  },
  'version-not-supported': {
    ...ours(
      400,
      'A2A version not supported',
      'FAILED_PRECONDITION',
      'The caller asked for an A2A version that is not known here.',
      'Send A2A-Version 1.0 or 0.3.',
    ),
    a2a: { jsonRpc: -32009, reason: 'VERSION_NOT_SUPPORTED' },
  },
  'principal-required': token(
    'Credential needed',
    'The request needs a caller that can be named.',
    'Send a bearer token.',
  ),
  'token-invalid': token(
    'Token does not verify',
    'The token is malformed or no configured issuer signed it.',
    'Get a fresh token from a configured issuer.',
  ),
  'token-audience': token(
    'Token is for another audience',
    'The token is not meant for this agent.',
    "Ask the issuer for a token with the agent's audience.",
  ),
  'token-issuer': token(
    'Token of an unknown issuer',
    'The token is for Cardea, and its issuer is none of those that name callers here, so that it may not go to the agent.',
    "Get a token of a configured issuer, or add the issuer to principals.issuers; a token for the agent itself has the agent's audience.",
  ),
  'token-expired': token('Token expired', "The token's time is over or has not come.", 'Get a fresh token.'),
  'token-revoked': token(
    'Token revoked',
    'The caller, or its tenant, was revoked here after this token was issued.',
    'Get a new token from the issuer; a credential that does not say when it was issued stays refused: ask whoever runs Cardea.',
  ),
  'extended-not-supported': {
    ...ours(
      400,
      'No extended card',
      'FAILED_PRECONDITION',
      "The agent's public card declares no extended card.",
      'Use the public card.',
    ),
    a2a: { jsonRpc: -32004, reason: 'UNSUPPORTED_OPERATION' },
  },
  'extended-not-configured': {
    ...ours(
      400,
      'Extended card not configured',
      'FAILED_PRECONDITION',
      'The agent declares an extended card but has none.',
      "Ask the agent's owner.",
    ),
    a2a: { jsonRpc: -32007, reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' },
  },
  'extended-refused': ours(
    403,
    'Extended card refused',
    'PERMISSION_DENIED',
    'The agent refused what it was shown: 401 or 403, as it said.',
    "Show a credential that the agent accepts; where extended.credentials is Cardea's own, whoever runs Cardea must mend it.",
  ),
  killed: {
    ...ours(
      503,
      'Stopped by the kill switch',
      'UNAVAILABLE',
      'A person or a file has stopped this.',
      'Wait until the switch is lifted.',
    ),
    level: 'warn',
    retry: true,
  },
  'registry-revoked': {
    ...denied(
      403,
      'Revoked by its registry',
      'The registry that the agent is named in says that it is revoked or retired, and the configuration blocks that. `detail` says which.',
      'Ask whoever keeps the registry. When it says otherwise, that counts within `refresh`, or at once by POST /registries/{name}/refresh.',
    ),
  },
  'loop-detected': {
    ...ours(
      508,
      'Request loops',
      'ABORTED',
      'The request has passed a Cardea already.',
      'Point the agent at its real origin, not at Cardea.',
    ),
    level: 'warn',
    proxyError: 'proxy_loop_detected',
  },
  overloaded: {
    ...ours(
      503,
      'Too busy',
      'UNAVAILABLE',
      'A limit on concurrent work has been reached, or a decision could not be written down.',
      'Try again after Retry-After; the detail names the bound, or what is wrong with the state folder.',
    ),
    level: 'warn',
    retry: true,
  },
  'rate-limited': {
    ...ours(
      429,
      'Too many requests',
      'RESOURCE_EXHAUSTED',
      'This client asks too often.',
      'Try again after Retry-After.',
    ),
    retry: true,
  },
} as const satisfies Record<string, Fault>;

/** One of the problem codes that clients may rely on. */
export type FaultCode = keyof typeof FAULTS;

export const FAULT_CODES = Object.keys(FAULTS) as readonly FaultCode[];

/** Reads the table with the wide type, so that optional members may be asked for. */
export const fault = (code: FaultCode): Fault => FAULTS[code];
