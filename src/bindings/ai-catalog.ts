import type { AgentName } from '../kernel/ids.ts';

/** One agent as `GET /agents` lists it. */
export interface ListedAgent {
  readonly name: AgentName;
  /** Where its card is served, for whoever asked. */
  readonly card: string;
}

/** The media type of a catalog, and of what its entries lead to. */
export const AI_CATALOG = 'application/ai-catalog+json';
const A2A_CARD = 'application/a2a-agent-card+json';
/** The published version of the format that this is: AI Catalog 0.9, its release candidate for 1.0. */
const SPEC_VERSION = '0.9';

/**
 * Writes agents as an AI Catalog. An operator that is not the publisher must not hand out a `urn:air` name, and its own must not
 * change with where a card is fetched: so it is the agent's name here, under a scheme of ours. What a card says itself (its name, its
 * version) is not said again, where it could drift from it.
 */
export const aiCatalog = (agents: readonly ListedAgent[]) => ({
  specVersion: SPEC_VERSION,
  host: { displayName: 'Cardea' },
  entries: agents.map(({ name, card }) => ({ identifier: `cardea:agent:${name}`, type: A2A_CARD, url: card })),
});
