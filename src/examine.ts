import type { ValidConfig } from './cli/check.ts';
import type { Examine } from './cli/doctor.ts';
import type { Answered, Asked, Refused } from './cli/findings.ts';
import type { LookedAt } from './cli/registry-findings.ts';
import { type Graph, type World, alone, createGraph } from './daemon.ts';
import type { Fields } from './kernel/fields.ts';
import type { Url } from './kernel/ids.ts';
import type { AgentRule } from './policy/rules.ts';
import type { FetchResult, WholeResponse } from './ports.ts';

/** `cardea doctor`'s use of the daemon's own graph: each origin is asked plainly, to see what it says, and then as for a card. */

/** As much as tells an HTML page from a card. */
const START = 200;

export const examineBy = (world: World): Examine => ({
  async *agents(config) {
    const graph = await createGraph(config, world, await alone(config, world));
    try {
      await lookUpAll(graph);
      for (const agent of graph.discovery.rules().agents.values()) {
        const [url] = agent.cards;
        if (url !== undefined) yield await askAgent(config, { agent, url }, graph);
      }
    } finally {
      await graph.close();
    }
  },
  async registries(config) {
    const graph = await createGraph(config, world, await alone(config, world));
    try {
      await lookUpAll(graph);
      return graph.discovery.registries.list().map(({ name, lastSuccess }) => ({
        name,
        had: lastSuccess > 0,
        agents: [...graph.discovery.rules().agents.values()].flatMap((agent) => standingIn(agent, name)),
      }));
    } finally {
      await graph.close();
    }
  },
  async keys(config) {
    const graph = await createGraph(config, world, await alone(config, world));
    try {
      await graph.discovery.trust.prefetch();
      await graph.discovery.trust.settled();
      return graph.discovery.trust.sets().map(({ name, lastSuccess }) => ({ name, had: lastSuccess > 0 }));
    } finally {
      await graph.close();
    }
  },
});

/** One card of one agent. */
interface Wanted {
  readonly agent: AgentRule;
  readonly url: Url;
}

/** Where agents of registries are is known when those have been had. */
async function lookUpAll({ discovery }: Graph): Promise<void> {
  for (const { name } of discovery.registries.list()) await discovery.registries.lookUp(name);
}

async function askAgent(config: ValidConfig, wanted: Wanted, graph: Graph): Promise<Asked> {
  const { agent, url } = wanted;
  const result = await askPlainly(config, wanted, graph);
  const { refreshed } = await graph.discovery.fetchOnce(agent);
  const refused = refreshed.ok ? null : { code: refreshed.refusal.code, detail: refreshed.refusal.detail };
  const addresses = [...new Set(result.trail.addresses)];
  return { agent: agent.name, url, addresses, answer: answerOf(result, graph.clock.now()), refused };
}

function standingIn({ name: agent, registered }: AgentRule, registry: string): LookedAt['agents'] {
  if (registered?.registry !== registry) return [];
  const { status, action, said, misplaced } = registered;
  return [{ agent, status, action, said, misplaced: misplaced?.detail ?? null }];
}

function askPlainly({ rules }: ValidConfig, { agent, url }: Wanted, graph: Graph): Promise<FetchResult<WholeResponse>> {
  const { connect, response, cardBytes, redirects } = rules.limits;
  return graph.fetcher.fetch({
    purpose: 'card',
    agent: agent.name,
    url,
    method: 'GET',
    fields: ['Accept', 'application/json'],
    body: null,
    rule: agent.egress,
    limits: { connect, total: response, idle: response, bytes: cardBytes, redirects },
    signal: new AbortController().signal,
  });
}

function answerOf(result: FetchResult<WholeResponse>, now: number): Answered | Refused {
  if (!result.ok) return { kind: 'refused', code: result.refusal.code, detail: result.refusal.detail };
  const { status, fields, body } = result.response;
  const date = Date.parse(valueOf(fields, 'date'));
  return {
    kind: 'answered',
    status,
    finalUrl: result.trail.finalUrl,
    contentType: valueOf(fields, 'content-type'),
    start: new TextDecoder().decode(body.subarray(0, START)),
    ahead: Number.isNaN(date) ? null : now - date,
  };
}

function valueOf(fields: Fields, name: string): string {
  const at = fields.findIndex((field, index) => index % 2 === 0 && field.toLowerCase() === name);
  return at === -1 ? '' : (fields[at + 1] ?? '');
}
