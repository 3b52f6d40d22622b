import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { EpochMs } from '../kernel/units.ts';
import { isVisible } from '../policy/principals.ts';
import type { Rules } from '../policy/rules.ts';
import type { Caller } from './callers.ts';
import type { CardBook } from './card-book.ts';
import { cardStatus } from './card-status.ts';

/** `GET /agents`: what the caller may see, where its card is served here, and how it stands. */
export type ListAgents = (ask: Ask, caller: Caller) => Answer;

export function createListAgents(book: CardBook, rules: () => Rules, now: () => EpochMs): ListAgents {
  return (ask, { principal }) => {
    const at = now();
    const visible = [...rules().agents.values()].filter((agent) => isVisible(agent, principal));
    const agents = visible.map((agent) => ({
      name: agent.name,
      card: `${ask.base}/agents/${agent.name}/.well-known/agent-card.json`,
      state: cardStatus(book, agent, at).state,
    }));
    return {
      status: 200,
      fields: ['Content-Type', 'application/json', 'Cache-Control', 'no-store'],
      body: new TextEncoder().encode(`${JSON.stringify({ agents })}\n`),
      trace: { kind: 'other', result: 'hit', agent: null },
    };
  };
}
