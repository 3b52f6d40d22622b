import type { CardCheck, ValidConfig } from './cli/check.ts';
import type { FetchedCard } from './cli/fetch.ts';
import { alone, createGraph, type Graph, type World } from './daemon.ts';
import { permitTarget } from './egress/permit.ts';
import type { Sight } from './egress/sight.ts';
import type { EgressRule } from './kernel/egress-rule.ts';
import { type Target, matchOrigin, parseTarget } from './kernel/origins.ts';
import { type Refusal, refuse } from './kernel/refusal.ts';
import type { AgentRule, OriginRule } from './policy/rules.ts';
import type { WholeResponse } from './ports.ts';

/** The offline commands' use of the daemon's own graph: the same pipeline, with nothing listening. */

/** Fetches one card by the agent's name or by a URL, and says everything that was seen on the way; null for neither. */
export async function fetchOnce(config: ValidConfig, target: string, world: World): Promise<FetchedCard | null> {
  const agent = agentFor(config, target);
  if (agent !== undefined) return watched(target, agent.egress, world, (given) => fetchAgent(config, agent, given));
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(target) ? fetchUrl(config, target, world) : null;
}

/** Fetches every agent's card, one after the other. */
export async function* connectAll(config: ValidConfig, world: World): AsyncGenerator<CardCheck> {
  for (const agent of config.rules.agents.values()) {
    const fetched = await fetchAgent(config, agent, world);
    yield { agent: agent.name, ok: fetched.card !== null, line: fetched.lines.join(' ') };
  }
}

const agentFor = ({ rules }: ValidConfig, target: string): AgentRule | undefined =>
  [...rules.agents.values()].find((agent) => agent.name === target || agent.cards.some((url) => url === target));

/** A URL of no agent's card: on an agent's origin its rules hold, else those of the rule that covers it; a stranger is refused. */
async function fetchUrl(config: ValidConfig, url: string, world: World): Promise<FetchedCard> {
  const { agents, origins } = config.rules;
  const parsed = parseTarget(url);
  if (!parsed.ok) return strange(config, url);
  const target = parsed.value;
  const owner = [...agents.values()].find(({ egress }) => matchOrigin(target, egress.allowed) !== undefined);
  if (owner !== undefined) {
    const agent = { ...owner, cards: [target.url] };
    const asked = { ...config, rules: { ...config.rules, agents: new Map([...agents, [agent.name, agent]]) } };
    return watched(url, owner.egress, world, (given) => fetchAgent(asked, agent, given));
  }
  const covering = origins.filter(({ egress }) => matchOrigin(target, egress.allowed) !== undefined);
  const rule = covering.find(({ content }) => content !== 'none');
  if (rule?.content === 'card')
    return watched(url, rule.egress, world, (given) => fetchUnnamed(config, { rule, url }, given));
  if (rule !== undefined)
    return watched(url, rule.egress, world, (given) => fetchPlainly(config, { rule, target }, given));
  return covering[0] === undefined ? strange(config, url) : notForDiscovery(covering[0], target);
}

/** Fetches a card without a name, as the rule says that lets it. */
async function fetchUnnamed(given: ValidConfig, { rule, url }: Unnamed, world: World): Promise<FetchedCard> {
  const remarks = rule.card === null ? [] : firstUseLine(rule.card);
  const origins = given.rules.origins.map((each) => (each === rule ? openRule(rule) : each));
  return inGraph({ ...given, rules: { ...given.rules, origins } }, world, async (graph) => {
    const place = graph.discovery.find(url);
    switch (place.is) {
      case 'card':
        return fetchWith(graph, place.agent, remarks);
      case 'origin':
        return notForDiscovery(place.rule, { url: place.url });
      case 'refused':
        return refusedCard(url, place.why(null));
    }
  });
}

/** Refuses what nothing covers, with the line that would allow it or the host that it resembles. */
function strange({ rules }: ValidConfig, url: string): FetchedCard {
  const written = [...rules.agents.values(), ...rules.origins].flatMap(({ egress }) => egress.allowed);
  const everything: EgressRule = {
    name: 'this configuration',
    allowed: written,
    cleartext: false,
    unsafeAddresses: [],
    tls: null,
    proxy: null,
  };
  const permitted = permitTarget(url, everything);
  return refusedCard(url, permitted.ok ? refuse('origin-not-allowed', `No rule covers ${url}.`) : permitted.refusal);
}

const notForDiscovery = ({ name }: OriginRule, { url }: Pick<Target, 'url'>): FetchedCard =>
  refusedCard(
    url,
    refuse(
      'origin-not-allowed',
      `${name} is content: none: it serves URLs that are written in the configuration alone. To allow it as an agent's card, write agents: { NAME: { card: "${url}" } }.`,
    ),
  );

const refusedCard = (target: string, { code, detail }: Refusal): FetchedCard => ({
  target,
  report: { target, rule: null, ok: false, outcome: 'denied', code, detail },
  card: null,
  lines: [`refused: ${code}: ${detail}`],
});

/** Adds to what was fetched the rule and what was seen on the way: names, addresses with their classes, certificates. */
async function watched(
  target: string,
  rule: EgressRule,
  world: World,
  work: (world: World) => Promise<FetchedCard>,
): Promise<FetchedCard> {
  const sights: Sight[] = [];
  const fetched = await work({ ...world, saw: (sight) => void sights.push(sight) });
  return {
    ...fetched,
    report: { target, rule: rule.name, sights, ...fetched.report },
    lines: [`rule: ${rule.name}`, ...sights.flatMap(sightLines), ...fetched.lines],
  };
}

function sightLines(sight: Sight): readonly string[] {
  switch (sight.kind) {
    case 'resolved':
      return sight.addresses.map(
        ({ address, class: range, allowed }) => `${sight.host}: ${address}, ${range}${allowed ? '' : ', refused'}`,
      );
    case 'proxied':
      return [`${sight.host}: by the proxy ${sight.proxy}, which resolves it`];
    case 'connected': {
      const { certificate } = sight;
      const connected = `connected: ${sight.address} by ${sight.protocol}`;
      if (certificate === null) return [`${connected}, in cleartext`];
      const { subject, names, issuer, notAfter, sha256 } = certificate;
      return [
        connected,
        `certificate: ${[subject, names].filter((text) => text !== '').join('; ')}; by ${issuer}; until ${notAfter}; sha256 ${sha256}`,
      ];
    }
  }
}

interface Unnamed {
  readonly rule: OriginRule;
  readonly url: string;
}

interface Plain {
  readonly rule: OriginRule;
  readonly target: Target;
}

/** Fetches what a rule with \`content: any\` covers: there are no card rules to go through. */
async function fetchPlainly(config: ValidConfig, { rule, target }: Plain, world: World): Promise<FetchedCard> {
  const { limits } = config.rules;
  return inGraph(config, world, async (graph) => {
    const result = await graph.fetcher.fetch({
      purpose: 'any',
      agent: null,
      url: target.url,
      method: 'GET',
      fields: [],
      body: null,
      rule: rule.egress,
      limits: {
        connect: limits.connect,
        total: limits.response,
        idle: limits.response,
        bytes: limits.cardBytes,
        redirects: 0,
      },
      signal: new AbortController().signal,
    });
    return result.ok ? plainAnswer(target.url, result.response) : refusedCard(target.url, result.refusal);
  });
}

const plainAnswer = (target: string, { status, body }: WholeResponse): FetchedCard => ({
  target,
  report: { ok: true, outcome: 'forwarded', status, bytes: body.length },
  card: body,
  lines: [`answered: ${status}, ${body.length} bytes; content: any has no card rules`],
});

async function inGraph(
  config: ValidConfig,
  world: World,
  use: (graph: Graph) => Promise<FetchedCard>,
): Promise<FetchedCard> {
  const graph = await createGraph(config, world, await alone(config, world));
  try {
    return await use(graph);
  } finally {
    await graph.close();
  }
}

/** What was approved is in the daemon's ledger, where no other command looks: without it every card is a first one, and is shown. */
function asFirstUse(config: ValidConfig, agent: AgentRule): [ValidConfig, AgentRule] {
  const open = openAgent(agent);
  return [
    { ...config, rules: { ...config.rules, agents: new Map([...config.rules.agents, [open.name, open]]) } },
    open,
  ];
}

const openAgent = (agent: AgentRule): AgentRule => ({ ...agent, review: { ...agent.review, firstUse: 'allow' } });
const openRule = (rule: OriginRule): OriginRule => ({ ...rule, card: rule.card && openAgent(rule.card) });

const firstUseLine = ({ review }: AgentRule): readonly string[] =>
  review.firstUse === 'allow'
    ? []
    : [
        `review: firstUse is ${review.firstUse}: the daemon serves this card once it is approved; "cardea explain" knows`,
      ];

async function fetchAgent(given: ValidConfig, rule: AgentRule, world: World): Promise<FetchedCard> {
  const [config, agent] = asFirstUse(given, rule);
  return inGraph(config, world, (graph) => fetchWith(graph, agent, firstUseLine(rule)));
}

async function fetchWith({ discovery }: Graph, agent: AgentRule, remarks: readonly string[]): Promise<FetchedCard> {
  const { refreshed } = await discovery.fetchOnce(agent);
  const registry = registryLines(discovery.rules().agents.get(agent.name));
  if (!refreshed.ok) {
    const { code, detail } = refreshed.refusal;
    return {
      target: agent.name,
      report: { agent: agent.name, ok: false, outcome: refreshed.outcome, code, detail },
      card: null,
      lines: [...registry, `refused: ${code}: ${detail}`],
    };
  }
  const { entry, outcome } = refreshed;
  const admission = entry.admission;
  const lifetime = { freshSeconds: entry.lifetime.fresh / 1000, storable: outcome !== 'uncacheable' };
  return {
    target: agent.name,
    report: { agent: agent.name, ok: true, outcome, url: entry.url, ...lifetime, ...admission },
    card: entry.body,
    lines: [
      ...registry,
      `accepted: ${admission?.facts.name ?? ''} ${admission?.facts.version ?? ''} (A2A ${admission?.facts.protocolVersion ?? '?'}) from ${entry.url}`,
      `signature: ${admission?.verdict.signature ?? 'off'}; digest: ${admission?.digest ?? ''}; fresh for ${lifetime.freshSeconds} s`,
      ...remarks,
      ...(admission?.warnings ?? []).map((warning) => `warning: ${warning}`),
    ],
  };
}

/** What was found in the agent's registry. */
function registryLines(agent: AgentRule | undefined): readonly string[] {
  const registered = agent?.registered ?? null;
  if (registered === null) return [];
  const { registry, id, status, action, said } = registered;
  const place = agent?.cards[0] ?? 'no place that may be used';
  return [`registry: ${registry} says of ${id}: ${status} (${said}), ${action}; card: ${place}`];
}
