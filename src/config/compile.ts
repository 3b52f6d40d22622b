import type { CachePolicy } from '../kernel/cache-policy.ts';
import type { CardRule } from '../kernel/card-rule.ts';
import type { EgressRule, OriginPattern, TlsFiles } from '../kernel/egress-rule.ts';
import { type AgentName, listenerName, type ListenerName, policyDigest, type Url, urlId } from '../kernel/ids.ts';
import { ms } from '../kernel/units.ts';
import type { AgentRule, Limits, ListenerRole, OriginRule, Rules } from '../policy/rules.ts';
import { digestOf } from './digest.ts';
import type { AgentSettings, OriginSettings, Settings, TlsSettings } from './schema.ts';
import type { ListenAddress } from './types/addresses.ts';
import { WELL_KNOWN_PATHS } from './types/web.ts';

/** One listener to open. */
export interface ListenerSettings {
  readonly name: ListenerName;
  readonly address: ListenAddress;
}

/** Every listener to open, and the host names that they answer for besides their addresses. */
export interface ListenSettings {
  readonly listeners: readonly ListenerSettings[];
  readonly names: readonly string[];
}

/** Part of every policy digest: a release that judges cards otherwise changes it, so that stored verdicts are reached again. */
const JUDGEMENT = 1;

/** What is not configurable yet: the contract's default for signatures, and any interface, until their keys are rows of the table. */
const SIGNATURE: CardRule['signature'] = 'if-present';
const INTERFACES: CardRule['interfaces'] = 'any';
const VERSIONS = ['0.2', '0.3', '1.0'] as const;

/** Turns settings into the snapshot that the rest of the program reads. */
export function compileRules(settings: Settings): Rules {
  const origins = settings.origins.map((rule, index) => originRule(`origins[${index}]`, rule, settings));
  const agents = [...settings.agents].map(([name, agent]) => [name, agentRule(name, agent, settings)] as const);
  return {
    digest: digestOf(settings),
    agents: new Map(agents),
    origins,
    listeners: new Map(listenerRoles(settings, origins)),
    limits: limitsOf(settings),
    prefetch: { enabled: settings.cache.prefetch, timeout: settings.cache.prefetchTimeout },
  };
}

/** Lists the listeners to open, under the names that the rules know them by. */
export function compileListeners({ listen, agents, origins }: Settings): ListenSettings {
  const own = [...agents].map(([name, agent]) => [listenerName(name), agent.listen] as const);
  const rules = origins.map((rule) => [originListener(rule), rule.listen] as const);
  const daemon = (['agents', 'ops', 'admin'] as const).map((name) => [listenerName(name), listen[name]] as const);
  const listeners = [...daemon, ...own, ...rules].flatMap(([name, address]) =>
    address === null ? [] : [{ name, address }],
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

function agentRule(name: AgentName, agent: AgentSettings, settings: Settings): AgentRule {
  const card = cardRule(name, agent, settings);
  return {
    name,
    cards: cardUrls(agent),
    egress: egressRule(`agents.${name}`, agent, patternOf(agent)),
    cache: cachePolicy('card', agent, settings),
    policy: policyDigest(digestOf({ judgement: JUDGEMENT, card })),
    card,
  };
}

/** The well-known path, then the one of A2A 0.2 and 0.3; a written card URL is used alone. */
function cardUrls({ origin, card }: AgentSettings): readonly Url[] {
  if (card !== null) return [card.url];
  return origin === null ? [] : WELL_KNOWN_PATHS.map((path) => urlId(`${origin.href}${path}`));
}

function patternOf({ origin, card }: AgentSettings): readonly OriginPattern[] {
  return [origin, card].flatMap((place) => (place === null ? [] : [place.pattern]));
}

function cardRule(agent: AgentName, { unsafeCleartext }: AgentSettings, { limits }: Settings): CardRule {
  return {
    agent,
    maxBytes: limits.cardBytes,
    maxDepth: limits.jsonDepth,
    schema: 'compatible',
    versions: VERSIONS,
    signature: SIGNATURE,
    signatures: 1,
    uncovered: 'drop',
    keys: [],
    jku: [],
    interfaces: INTERFACES,
    cleartext: unsafeCleartext,
    extensions: [],
  };
}

function originRule(name: string, rule: OriginSettings, settings: Settings): OriginRule {
  return {
    name,
    match: rule.match.pattern,
    content: rule.content,
    egress: egressRule(name, rule, [rule.match.pattern]),
    cache: cachePolicy(rule.content, rule, settings),
  };
}

type Reach = Pick<AgentSettings, 'tls' | 'unsafeCleartext' | 'unsafeAddresses'>;

function egressRule(
  name: string,
  { tls, unsafeCleartext, unsafeAddresses }: Reach,
  allowed: readonly OriginPattern[],
): EgressRule {
  return {
    name,
    allowed,
    cleartext: unsafeCleartext,
    unsafeAddresses,
    tls: tls === null ? null : tlsFiles(tls),
    proxy: null,
  };
}

function tlsFiles({ ca, cert, key, crl }: TlsSettings): TlsFiles {
  return {
    ...(ca === null ? {} : { ca }),
    ...(cert === null ? {} : { cert }),
    ...(key === null ? {} : { key }),
    ...(crl === null ? {} : { crl }),
  };
}

function cachePolicy(
  content: CachePolicy['content'],
  own: Pick<AgentSettings, 'maxStale'>,
  { cache }: Settings,
): CachePolicy {
  return {
    content,
    defaultTtl: cache.defaultTtl,
    minTtl: cache.minTtl,
    maxTtl: cache.maxTtl,
    // An old card is still a card; an old answer of anything else is stale unless its origin says that it may be.
    staleWhileRevalidate: content === 'card' ? cache.staleWhileRevalidate : ms(0),
    staleIfError: cache.staleIfError,
    maxStale: own.maxStale ?? cache.maxStale,
    negativeTtl: cache.negativeTtl,
    clientMaxAge: cache.clientMaxAge,
  };
}

const limitsOf = ({ limits }: Settings): Limits => ({ ...limits });
