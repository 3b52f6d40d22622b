import { AI_CATALOG, aiCatalog } from '../bindings/ai-catalog.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { EpochMs } from '../kernel/units.ts';
import { isVisible } from '../policy/principals.ts';
import type { Rules } from '../policy/rules.ts';
import type { Caller } from './callers.ts';
import type { CardBook } from './card-book.ts';
import { cardStatus } from './card-status.ts';

/** What the caller may see, where its card is served here, and how it stands. */
export type ListAgents = (ask: Ask, caller: Caller) => Answer;

/** The two forms of one list: `GET /agents`, and the AI Catalog. */
export interface AgentLists {
  readonly agents: ListAgents;
  readonly catalog: ListAgents;
}

export function createAgentLists(book: CardBook, rules: () => Rules, now: () => EpochMs): AgentLists {
  const list = ({ base }: Ask, { principal }: Caller) => {
    const at = now();
    const visible = [...rules().agents.values()].filter((agent) => isVisible(agent, principal));
    return visible.map((agent) => ({
      name: agent.name,
      card: `${base}/agents/${agent.name}/.well-known/agent-card.json`,
      state: cardStatus(book, agent, at).state,
    }));
  };
  return {
    agents: (ask, caller) => listAnswer('application/json', { agents: list(ask, caller) }),
    catalog: (ask, caller) => listAnswer(AI_CATALOG, aiCatalog(list(ask, caller))),
  };
}

/** Never stored: the next caller may see others, and in the next moment they may stand otherwise. */
const listAnswer = (type: string, list: object): Answer => ({
  status: 200,
  fields: ['Content-Type', type, 'Cache-Control', 'no-store'],
  body: new TextEncoder().encode(`${JSON.stringify(list)}\n`),
  trace: { kind: 'other', result: 'hit', agent: null },
});
