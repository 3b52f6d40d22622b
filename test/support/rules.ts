import type { CachePolicy } from '../../src/kernel/cache-policy.ts';
import type { CardRule } from '../../src/kernel/card-rule.ts';
import type { EgressRule } from '../../src/kernel/egress-rule.ts';
import { agentName, listenerName, policyDigest, urlId } from '../../src/kernel/ids.ts';
import type { ReviewRule } from '../../src/kernel/review.ts';
import { bytes, ms } from '../../src/kernel/units.ts';
import type { AgentRule, Limits, ListenerRole, OriginRule, Rules } from '../../src/policy/rules.ts';

/** The defaults, as rules: what tests change is named at the test. */
export const CARD_CACHE: CachePolicy = {
  content: 'card',
  defaultTtl: ms(300_000),
  minTtl: ms(0),
  maxTtl: ms(86_400_000),
  staleWhileRevalidate: ms(30_000),
  staleIfError: ms(3_600_000),
  maxStale: ms(86_400_000),
  negativeTtl: ms(10_000),
  clientMaxAge: ms(30_000),
};

export const LIMITS: Limits = {
  cardBytes: bytes(1_048_576),
  redirects: 3,
  jsonDepth: 32,
  connect: ms(3_000),
  response: ms(10_000),
  concurrency: 8,
  forwardConcurrency: 256,
  streamIdle: ms(300_000),
  clientConnections: 1_024,
};

/** The defaults of a named agent. */
export const REVIEW: ReviewRule = { firstUse: 'allow', maxHold: ms(604_800_000), pins: new Set(), actions: new Map() };

const CARD_RULE: Omit<CardRule, 'agent'> = {
  maxBytes: LIMITS.cardBytes,
  maxDepth: LIMITS.jsonDepth,
  schema: 'compatible',
  versions: ['0.2', '0.3', '1.0'],
  signature: 'off',
  signatures: 1,
  uncovered: 'drop',
  keys: [],
  jku: [],
  interfaces: 'any',
  route: 'direct',
  cleartext: true,
  extensions: [],
};

const egress = (name: string, host: string): EgressRule => ({
  name,
  allowed: [{ scheme: 'https', host, wildcard: false, port: 443 }],
  cleartext: false,
  unsafeAddresses: [],
  tls: null,
  proxy: null,
});

/** An agent at `https://NAME.example.com`. */
export function exampleAgent(name: string, over: Partial<AgentRule> = {}): AgentRule {
  const origin = `https://${name}.example.com/.well-known`;
  return {
    name: agentName(name),
    by: null,
    cards: [urlId(`${origin}/agent-card.json`), urlId(`${origin}/agent.json`)],
    egress: egress(`agents.${name}`, `${name}.example.com`),
    cache: CARD_CACHE,
    policy: policyDigest(`policy of ${name}`),
    card: { ...CARD_RULE, agent: agentName(name) },
    review: REVIEW,
    keySets: [],
    visibleTo: null,
    credentials: 'none',
    extended: {
      credentials: 'forward',
      audience: [`https://${name}.example.com`],
      opaque: 'allow',
      session: ms(28_800_000),
      replacePublic: false,
    },
    registered: null,
    ...over,
  };
}

const IDP: OriginRule = {
  name: 'origins[0]',
  match: { scheme: 'https', host: 'idp.example.com', wildcard: false, port: 443 },
  content: 'any',
  card: null,
  pins: new Map(),
  egress: egress('origins[0]', 'idp.example.com'),
  cache: { ...CARD_CACHE, content: 'any', staleWhileRevalidate: ms(0) },
  policy: policyDigest('policy of origins[0]'),
};

/** Two agents, one with a listener of its own, and one origin with `content: any`. */
export function exampleRules(over: { readonly agents?: readonly AgentRule[] } = {}): Rules {
  const agents = over.agents ?? [exampleAgent('weather'), exampleAgent('planner')];
  const listeners: [string, ListenerRole][] = [
    ['agents', { serves: 'agents' }],
    ['planner', { serves: 'agent', agent: agentName('planner') }],
    ['origin:https://idp.example.com', { serves: 'origin', origin: IDP }],
  ];
  return {
    digest: 'rules',
    agents: new Map(agents.map((agent) => [agent.name, agent])),
    origins: [IDP],
    keySets: [],
    keysMaxStale: ms(86_400_000),
    allowlist: [],
    aliases: new Map(),
    listeners: new Map(listeners.map(([name, role]) => [listenerName(name), role])),
    cors: new Set(),
    issuers: [],
    registries: [],
    limits: LIMITS,
    prefetch: { enabled: true, timeout: ms(10_000) },
  };
}
