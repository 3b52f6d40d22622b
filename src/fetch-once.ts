import type { CardCheck, ValidConfig } from './cli/check.ts';
import type { FetchedCard } from './cli/fetch.ts';
import { alone, createGraph, type World } from './daemon.ts';
import type { AgentRule } from './policy/rules.ts';

/** The offline commands' use of the daemon's own graph: the same pipeline, with nothing listening. */

/** Fetches one card by the agent's name or by one of its card URLs; null where there is no such agent. */
export async function fetchOnce(config: ValidConfig, target: string, world: World): Promise<FetchedCard | null> {
  const agent = agentFor(config, target);
  return agent === undefined ? null : fetchAgent(config, agent, world);
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

async function fetchAgent(config: ValidConfig, agent: AgentRule, world: World): Promise<FetchedCard> {
  const graph = await createGraph(config, world, await alone(world));
  try {
    const { refreshed } = await graph.discovery.fetchOnce(agent);
    if (!refreshed.ok) {
      const { code, detail } = refreshed.refusal;
      return {
        target: agent.name,
        report: { agent: agent.name, ok: false, outcome: refreshed.outcome, code, detail },
        card: null,
        lines: [`refused: ${code}: ${detail}`],
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
        `accepted: ${admission?.facts.name ?? ''} ${admission?.facts.version ?? ''} (A2A ${admission?.facts.protocolVersion ?? '?'}) from ${entry.url}`,
        `signature: ${admission?.verdict.signature ?? 'off'}; digest: ${admission?.digest ?? ''}; fresh for ${lifetime.freshSeconds} s`,
        ...(admission?.warnings ?? []).map((warning) => `warning: ${warning}`),
      ],
    };
  } finally {
    await graph.close();
  }
}
