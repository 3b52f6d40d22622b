import { cache, ownCache } from './schema-cache.ts';
import { extended, noCredential, ownCredentials, principals, visibleTo } from './schema-callers.ts';
import { choice, group, type Infer, list, named, optional, required, section, setting, short } from './table.ts';
import { review } from './review-table.ts';
import { cidr, dnsServer, listenAddress } from './types/addresses.ts';
import { filePath, secret, secretFile, statePlace } from './types/files.ts';
import { keyId, keyText, setName } from './types/keys.ts';
import { duration, size } from './types/quantities.ts';
import { agentBase, cardUrl, hostName, originMatch, pageOrigin, proxyUrl, uri } from './types/web.ts';
import { agentNameType, boolean, integer, oneOf, principalName } from './types/words.ts';
import { registries } from './registry-table.ts';

/**
 * The table: every setting there is, with type, bounds, default and a line of documentation. The types, the validation,
 * flags and environment, config.schema.json and docs/configuration.md all come from it.
 */

const tls = section({
  ca: optional(filePath, "Certificates (PEM) that are trusted instead of the system's."),
  cert: optional(filePath, 'Client certificate (PEM) with its chain, shown to the origin.'),
  key: optional(secretFile, 'Private key (PEM) of the client certificate.'),
  crl: optional(filePath, 'Certificate revocation list (PEM).'),
});

const listenerTls = optional(
  section({
    cert: required(filePath, 'Certificate (PEM) with its chain, shown to clients.'),
    key: required(secretFile, 'Private key (PEM) of the certificate.'),
    clientCa: optional(
      filePath,
      'Certificates (PEM) of those who vouch for clients. Who has no certificate of theirs gets no connection.',
    ),
    crl: optional(filePath, 'Revocation list (PEM) for certificates of clients.'),
  }),
  'TLS instead of cleartext.',
);
const address = required(listenAddress, 'Where it is opened.');

/** A listener: an address, or a section with more. */
const listener = short('address', { address, tls: listenerTls });

/** A listener for callers, which may be known by it. */
const callersListener = short('address', {
  address,
  principal: optional(
    principalName,
    'Who speaks on this listener, as stops and receipts name them: a socket does not tell who is at its other end.',
  ),
  tls: listenerTls,
});

/** How an origin is reached; the same for an agent and for a rule. */
const reach = {
  listen: optional(
    callersListener,
    'A listener of its own that serves it at the root, for clients that drop base paths.',
  ),
  maxStale: optional(
    duration(),
    'How long past its freshness it may be served; instead of `cache.maxStale`. `0s` = never stale.',
  ),
  cache: group(ownCache, 'Caching, instead of the settings of the same names at `cache`.'),
  tls: optional(tls, 'TLS towards the origin.'),
  proxy: optional(proxyUrl, 'Instead of `egress.proxy`; `null` for none.'),
  unsafeCleartext: setting(boolean, 'false', 'Allows `http://`, where anyone on the way can change what is read.'),
  unsafeAddresses: group(
    list(cidr),
    'Private, loopback or other special addresses that may be dialled although they are special.',
  ),
} as const;

/** What a card must be to be served. */
const trust = {
  signature: setting(
    oneOf('off', 'if-present', 'require'),
    'if-present',
    '`if-present`: an unsigned card is served, a signed one must verify where `keys` or `jku` are written. `require`: no card without a trusted signature.',
  ),
  signatures: setting(integer(1, 16), '1', 'Distinct trusted keys that must have signed.'),
  keys: group(list(setName), 'Key sets (`keys` at the top) whose keys may sign this card.'),
  jku: group(
    list(cardUrl),
    "Exact URLs that a signature's `jku` may name; their keys vouch only for signatures that do.",
  ),
  uncovered: setting(
    oneOf('drop', 'refuse'),
    'drop',
    'What happens to members outside the signature: they are not served, or the card is refused.',
  ),
  versions: group(
    list(oneOf('0.2', '0.3', '1.0')),
    'Card versions that are accepted; where nothing is written, all of them. A card that states none is read by its shape.',
  ),
  schema: setting(
    oneOf('strict', 'compatible', 'off'),
    'compatible',
    '`compatible`: whatever at least one official SDK reads without guessing. `strict`: the letter of the specification.',
  ),
  interfaces: setting(
    oneOf('same-origin', 'same-site', 'allowed', 'any'),
    'same-site',
    'Hosts that the card may send callers to. `same-site`: the same registrable domain, or an origin written in this file.',
  ),
  extensions: group(
    list(uri),
    'Required extensions that local clients can honour; a card that requires another is refused.',
  ),
} as const;

/** What a card must be, who may see it and what becomes of a changed one; the same for an agent and for a rule with `content: card`. */
const cardKeys = {
  ...trust,
  visibleTo: group(
    list(visibleTo),
    'Callers that may see the agent: one line must fit, and all that it names. Where nothing is written, every local caller.',
  ),
  review: group(
    review,
    'How a changed card is decided: per class of change `allow`, `signed-additive`, `report`, `hold` or `block`.',
  ),
} as const;

const agent = section({
  origin: optional(
    agentBase,
    'Where the agent lives; the well-known path is appended, once. Either this, `card`, or `registry` with `id`.',
  ),
  card: optional(cardUrl, 'The whole URL of the card, used as it is.'),
  registry: optional(
    setName,
    'The registry (`registries` at the top) that says where the card is and whether it may be used.',
  ),
  id: optional(uri, "The identifier of the agent's entry in that registry."),
  risk: setting(
    oneOf('normal', 'high'),
    'normal',
    '`high`: its card is never served stale, and what its registry says holds for no longer than `refresh`: an unknown or unreachable registry holds.',
  ),
  hosts: group(
    list(hostName),
    'Host names that are its own on the agents listener: its paths stand at their root, for clients that drop base paths.',
  ),
  ...cardKeys,
  ...reach,
  credentials: choice(
    noCredential,
    ownCredentials,
    'none',
    "What is shown to the agent's origin when its public card is fetched.",
  ),
  extended: group(extended, 'The extended card, which each caller has of its own.'),
  route: setting(
    oneOf('direct', 'through'),
    'direct',
    "`direct`: callers get the agent's own URLs from its card and call it themselves. `through`: the card names Cardea's, and calls pass by here.",
  ),
});

const originRule = section({
  match: required(originMatch, 'The origin, or by `https://*.HOST` every host exactly one label below HOST.'),
  content: required(
    oneOf('card', 'any', 'none'),
    '`card`: cards at any path, each judged by these keys; under a wildcard the first of each waits for review. `any`: plain HTTP caching (RFC 9111), every method, no card rules. `none`: only for URLs written in this file.',
  ),
  ...cardKeys,
  ...reach,
});

const keySet = section({
  jwks: optional(
    cardUrl,
    'A JWK Set at a URL; fetched, kept fresh, used while it is not older than `cache.keysMaxStale`.',
  ),
  file: optional(filePath, 'A file with a JWK Set, one JWK, or `{ "kid": "PEM" }`.'),
  inline: optional(keyText, 'The same as text.'),
  revoked: group(list(keyId), 'Keys that vouch for nothing any more: their `kid` or RFC 7638 thumbprint.'),
});

const listen = section({
  agents: setting(
    callersListener,
    '127.0.0.1:8642',
    'For local agents: cards, extended cards and calls that pass through.',
  ),
  ops: setting(
    listener,
    { usual: '127.0.0.1:9464', kubernetes: '0.0.0.0:9464' },
    "For operators: health and metrics. In Kubernetes the kubelet and Prometheus dial the Pod's address.",
  ),
  admin: setting(listener, '127.0.0.1:8643', 'For administrators.'),
  names: group(
    list(hostName),
    'Further host names that callers may use for these listeners; others are refused, against DNS rebinding.',
  ),
  cors: group(
    list(pageOrigin),
    'Origins of web pages whose scripts may read what the agents listeners answer; where nothing is written, none.',
  ),
});

const limits = section({
  cardBytes: setting(size('1KiB', '64MiB'), '1MiB', 'The largest card.'),
  jsonDepth: setting(integer(4, 256), '32', 'The deepest nesting of a card.'),
  redirects: setting(integer(0, 10), '3', 'How many redirects an exchange may follow.'),
  connect: setting(duration('1ms', '5m'), '3s', 'Until a connection to an origin stands, TLS included.'),
  response: setting(duration('1ms', '1h'), '10s', 'A whole exchange for a card, an extended card, keys or a token.'),
  concurrency: setting(
    integer(1, 10_000),
    '8',
    'Exchanges for cards, keys and the like at one time; one origin has three quarters of them at most, and origins take turns.',
  ),
  forwardConcurrency: setting(integer(1, 100_000), '256', 'Streamed exchanges at one time.'),
  streamIdle: setting(duration('1ms', '24h'), '5m', 'The longest silence of a stream.'),
  clientConnections: setting(integer(1, 1_000_000), '1024', 'Connections of local clients at one time.'),
});

const egress = section({
  proxy: setting(
    proxyUrl,
    'null',
    'An HTTP proxy that is asked to CONNECT to every origin. It resolves the names; the allowlist holds all the same.',
  ),
  dns: group(
    list(dnsServer, 'system'),
    'Who resolves names: `system` as other programs here (hosts files and search domains count), or queries to these servers, whose answers are kept for their TTL (1 s to 5 min).',
  ),
  dnsTtl: setting(duration('0s', '1h'), '10s', 'How long a name that the system resolved is used again.'),
});

const admin = section({
  token: optional(
    secret,
    'The token that administrators show. Else it is made at the first start, in the state folder.',
  ),
});

const receipts = section({
  keep: setting(duration('1h', '3650d'), '30d', 'How long receipts are kept.'),
  max: setting(integer(100, 10_000_000), '100000', 'How many receipts are kept.'),
});

const kill = section({
  file: optional(filePath, 'A file whose presence stops everything. It may be missing, its folder too.'),
});

const log = section({
  level: setting(oneOf('debug', 'info', 'warn', 'error'), 'info', 'The least severe log line that is written.'),
  hits: setting(boolean, 'false', 'Writes a line for plain cache hits too.'),
});

export const SCHEMA = section({
  listen: group(listen, 'Listeners.'),
  state: setting(statePlace, './state', 'Folder for what outlives a restart; `memory` for none.'),
  agents: group(named(agentNameType, agent), 'The agents that are served, by name.'),
  origins: group(list(originRule), 'Origins that are reached without the name of an agent.'),
  keys: group(
    named(setName, keySet),
    'Keys that may sign cards, by the name that agents list them under. Each is `jwks`, `file` or `inline`.',
  ),
  principals: group(principals, 'Who is calling.'),
  registries: group(registries, 'Lists that say where the cards of agents are, and whether they may be used.'),
  cache: group(cache, 'Caching, where the origin does not say otherwise.'),
  limits: group(limits, 'Bounds.'),
  egress: group(egress, 'The way out.'),
  admin: group(admin, 'Administration.'),
  receipts: group(receipts, 'Evidence of every exchange, verdict and order.'),
  kill: group(kill, 'The kill switch.'),
  log: group(log, 'Logging.'),
});

/** What a rule says of cards, which means nothing where it is for something else. */
export const CARD_KEYS = section(cardKeys);

export type Settings = Infer<typeof SCHEMA>;
export type AgentSettings = Settings['agents'] extends ReadonlyMap<string, infer Agent> ? Agent : never;
export type IssuerSettings = Settings['principals']['issuers'][number];
export type RegistrySettings = Settings['registries'][number];
export type KeySetSettings = Settings['keys'] extends ReadonlyMap<string, infer Keys> ? Keys : never;
export type OriginSettings = Settings['origins'][number];
export type TlsSettings = Infer<typeof tls>;
export type ListenerTlsSettings = NonNullable<Settings['listen']['agents']['tls']>;
