import type { CachePolicy } from '../kernel/cache-policy.ts';
import type { CardRule } from '../kernel/card-rule.ts';
import type { OriginPattern } from '../kernel/egress-rule.ts';
import { formatPattern } from '../kernel/origins.ts';
import {
  type AgentName,
  agentName,
  listenerName,
  type ListenerName,
  policyDigest,
  type Url,
  urlId,
} from '../kernel/ids.ts';
import type { ListenAddress } from '../kernel/listen-address.ts';
import { ms } from '../kernel/units.ts';
import type { ReviewRule } from '../kernel/review.ts';
import type { AgentRule, KeySetRule, Limits, ListenerRole, OriginRule, Rules } from '../policy/rules.ts';
import { egressRule } from './compile-egress.ts';
import { ownCredential } from './compile-credentials.ts';
import { extendedRule } from './compile-extended.ts';
import { compileKeySets, egressOf, jkuSets } from './compile-keys.ts';
import { compileIssuers, compileVisibleTo } from './compile-principals.ts';
import { compileRegistries, registrationOf } from './compile-registries.ts';
import { agentReview, reviewText, unnamedReview, urlPins } from './compile-review.ts';
import { digestOf } from './digest.ts';
import type { KeyDocuments } from './key-documents.ts';
import { type PinFiles, pinsText } from './pins.ts';
import type { AgentSettings, ListenerTlsSettings, OriginSettings, Settings } from './schema.ts';
import { type CardUrl, WELL_KNOWN_PATHS } from './types/web.ts';

/** One listener to open. */
export interface ListenerSettings {
  readonly name: ListenerName;
  readonly address: ListenAddress;
  /** Who speaks on it; null where the configuration does not say. */
  readonly principal: string | null;
  /** Absolute paths; null for cleartext. */
  readonly tls: ListenerTlsSettings | null;
  /** Host names of agents that it answers for. */
  readonly aliases: readonly string[];
  /** True where callers may use it as their HTTP proxy. */
  readonly isProxy: boolean;
}

/** Every listener to open, and the host names that they answer for besides their addresses. */
export interface ListenSettings {
  readonly listeners: readonly ListenerSettings[];
  readonly names: readonly string[];
}

/** Part of every policy digest: a release that judges cards otherwise changes it, so that stored verdicts are reached again. */
const JUDGEMENT = 1;

const VERSIONS = ['0.2', '0.3', '1.0'] as const;

/** Turns settings, and the keys that they name, into the snapshot that the rest of the program reads. */
export function compileRules(settings: Settings, documents: KeyDocuments, pins: PinFiles): Rules {
  const decoder = new TextDecoder();
  const places = settings.origins.map((rule, index) => originRule(`origins[${index}]`, rule, settings));
  const named = compileKeySets(settings, places, documents);
  const allowlist = allowlistOf(settings);
  const listed = digestOf(allowlist.map(formatPattern).toSorted());
  const whole = { settings, listed, named, pins, origins: places };
  const agents = [...settings.agents].map(([name, agent]) =>
    agentRule({ name, place: `agents.${name}`, review: agentReview(agent.review, name, pins) }, agent, whole),
  );
  const origins = places.map((rule, index) => withCardRule(rule, settings.origins[index], whole));
  const unnamed = origins.flatMap(({ card }) => (card === null ? [] : [card]));
  return {
    digest: digestOf({
      settings,
      documents: [...documents].map(([name, text]) => [name, decoder.decode(text)]),
      pins: pinsText(pins),
    }),
    agents: new Map(agents.map((agent) => [agent.name, agent])),
    origins,
    keySets: [...new Set([...named.values(), ...[...agents, ...unnamed].flatMap((agent) => agent.keySets)])],
    keysMaxStale: settings.cache.keysMaxStale,
    allowlist,
    listeners: new Map(listenerRoles(settings, origins)),
    aliases: new Map([...settings.agents].flatMap(([name, { hosts }]) => hosts.map((host) => [host, name]))),
    cors: new Set(settings.listen.cors),
    issuers: compileIssuers(settings, origins),
    registries: compileRegistries(settings, places),
    limits: limitsOf(settings),
    prefetch: { enabled: settings.cache.prefetch, timeout: settings.cache.prefetchTimeout },
  };
}

/** Lists the listeners to open, under the names that the rules know them by. */
export function compileListeners({ listen, agents, origins }: Settings): ListenSettings {
  const none = { principal: null, aliases: [], isProxy: false } as const;
  const aliases = [...agents.values()].flatMap(({ hosts }) => hosts);
  const own = [...agents].map(([name, { listen: at, hosts }]) => at && { ...none, ...at, name, aliases: hosts });
  const rules = origins.map((rule) => rule.listen && { ...none, ...rule.listen, name: originListener(rule) });
  const daemon = [
    { ...listen.agents, name: 'agents', aliases, isProxy: true },
    { ...none, ...listen.ops, name: 'ops' },
    { ...none, ...listen.admin, name: 'admin' },
  ];
  const listeners = [...daemon, ...own, ...rules].flatMap((listener) =>
    listener === null ? [] : [{ ...listener, name: listenerName(listener.name) }],
  );
  return { listeners, names: listen.names };
}

const originListener = (rule: OriginSettings): ListenerName => listenerName(`origin:${rule.match.origin}`);

function* listenerRoles(
  { agents, origins }: Settings,
  rules: readonly OriginRule[],
): Generator<[ListenerName, ListenerRole]> {
  yield [listenerName('agents'), { serves: 'agents' }];
  for (const [name, { listen }] of agents)
    if (listen !== null) yield [listenerName(name), { serves: 'agent', agent: name }];
  for (const [index, origin] of rules.entries()) {
    const rule = origins[index];
    if (rule !== undefined && rule.listen !== null) yield [originListener(rule), { serves: 'origin', origin }];
  }
}

interface Whole {
  readonly settings: Settings;
  /** The allowlist by its digest: of ten thousand agents each depends on all. */
  readonly listed: string;
  readonly named: ReadonlyMap<string, KeySetRule>;
  readonly pins: PinFiles;
  readonly origins: readonly OriginRule[];
}

/** Whose rule it is, where it stands in the configuration, and how changed cards are decided. */
interface Owner {
  readonly name: AgentName;
  readonly place: string;
  readonly review: ReviewRule;
}

function agentRule({ name, place, review }: Owner, agent: AgentSettings, whole: Whole): AgentRule {
  const { settings, listed, named, origins } = whole;
  const card = cardRule(name, agent, settings);
  const tokens = {
    name: place,
    egressOf: (tokenUrl: CardUrl) => egressOf(tokenUrl, { users: [[name, agent]], origins, egress: settings.egress }),
  };
  const isOthersConcern = card.interfaces === 'same-site' || card.interfaces === 'allowed';
  return {
    name,
    by: null,
    cards: cardUrls(agent),
    egress: egressRule({ name: place, reach: agent, egress: settings.egress }, patternOf(agent)),
    cache: cachePolicy('card', agent.risk === 'high' ? { ...agent, maxStale: ms(0) } : agent, settings),
    policy: policyDigest(
      digestOf({ judgement: JUDGEMENT, card, allowlist: isOthersConcern ? listed : null, review: reviewText(review) }),
    ),
    card,
    review,
    keySets: [
      ...card.keys.flatMap((set) => named.get(set) ?? []),
      ...jkuSets(place, agent, { origins, egress: settings.egress }),
    ],
    visibleTo: compileVisibleTo(agent),
    credentials: typeof agent.credentials === 'string' ? agent.credentials : ownCredential(agent.credentials, tokens),
    extended: extendedRule(agent.extended, patternOf(agent), tokens),
    registered: registrationOf(agent, settings),
  };
}

/** What a card without a name has none of: it has no base URL to call. */
const OF_AGENTS_ALONE = {
  origin: null,
  card: null,
  registry: null,
  id: null,
  risk: 'normal',
  hosts: [],
  route: 'direct',
  credentials: 'none',
  extended: { credentials: 'forward', audience: null, opaque: null, session: ms(0), replacePublic: false },
} as const;

/** "A rule in `origins` takes an agent's keys too": what cards without a name are judged by, each with its own name and URL. */
function withCardRule(rule: OriginRule, settings: OriginSettings | undefined, whole: Whole): OriginRule {
  if (settings?.content !== 'card') return rule;
  const review = unnamedReview(settings.review, rule.match.wildcard);
  const pins = urlPins(settings.review, whole.pins);
  const card = agentRule(
    { name: agentName(rule.name), place: rule.name, review },
    { ...OF_AGENTS_ALONE, ...settings },
    whole,
  );
  // Whatever is pinned of its cards is in the digest of each: a verdict under other pins is another verdict.
  const policy = policyDigest(digestOf({ policy: card.policy, pins: [...pins] }));
  return { ...rule, pins, card: { ...card, policy } };
}

/** Whoever is written in the configuration may be pointed at by a card, apart from those that are there for their tokens and keys alone. */
const allowlistOf = ({ agents, origins }: Settings): readonly OriginPattern[] => [
  ...[...agents.values()].flatMap(patternOf),
  ...origins.filter(({ content }) => content !== 'none').map(({ match }) => match.pattern),
];

/** The well-known path, then the one of A2A 0.2 and 0.3; a written card URL is used alone. */
function cardUrls({ origin, card }: AgentSettings): readonly Url[] {
  if (card !== null) return [card.url];
  return origin === null ? [] : WELL_KNOWN_PATHS.map((path) => urlId(`${origin.href}${path}`));
}

function patternOf({ origin, card }: AgentSettings): readonly OriginPattern[] {
  return [origin, card].flatMap((place) => (place === null ? [] : [place.pattern]));
}

function cardRule(agent: AgentName, settings: AgentSettings, { limits }: Settings): CardRule {
  const { schema, versions, signature, signatures, uncovered, keys, jku, interfaces, extensions } = settings;
  return {
    agent,
    maxBytes: limits.cardBytes,
    maxDepth: limits.jsonDepth,
    schema,
    versions: versions.length === 0 ? VERSIONS : versions,
    signature,
    signatures,
    uncovered,
    keys: [...new Set(keys)],
    jku: [...new Set(jku.map(({ url }) => url))],
    interfaces,
    route: settings.route,
    cleartext: settings.unsafeCleartext,
    extensions,
  };
}

function originRule(name: string, rule: OriginSettings, settings: Settings): OriginRule {
  const { content, match } = rule;
  const egress = egressRule({ name, reach: rule, egress: settings.egress }, [match.pattern]);
  const cache = cachePolicy('any', rule, settings);
  // Its place in the list says nothing about it.
  const policy = policyDigest(digestOf({ match: match.pattern, content, cache, egress: { ...egress, name: '' } }));
  return { name, match: match.pattern, content, card: null, pins: new Map(), egress, cache, policy };
}

function cachePolicy(
  content: CachePolicy['content'],
  { cache: own, maxStale }: Pick<AgentSettings, 'cache' | 'maxStale'>,
  { cache }: Settings,
): CachePolicy {
  return {
    content,
    defaultTtl: own.defaultTtl ?? cache.defaultTtl,
    minTtl: own.minTtl ?? cache.minTtl,
    maxTtl: own.maxTtl ?? cache.maxTtl,
    // An old card is still a card; an old answer of anything else is stale unless its origin, or its own rule, says that it may be.
    staleWhileRevalidate: own.staleWhileRevalidate ?? (content === 'card' ? cache.staleWhileRevalidate : ms(0)),
    staleIfError: own.staleIfError ?? cache.staleIfError,
    maxStale: maxStale ?? cache.maxStale,
    negativeTtl: own.negativeTtl ?? cache.negativeTtl,
    clientMaxAge: own.clientMaxAge ?? cache.clientMaxAge,
  };
}

const limitsOf = ({ limits }: Settings): Limits => ({ ...limits });
