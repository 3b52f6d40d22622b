import { type RpcId, refuseHttpJson, refuseJsonRpc } from '../bindings/operation.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { pathOf } from '../policy/route.ts';
import type { AgentRule } from '../policy/rules.ts';
import { type ReadHead, readRpc } from './call-body.ts';
import type { CardBook } from './card-book.ts';
import { CARD_REQUESTS } from './card-request.ts';

/**
 * Refuses an A2A operation in the form that the caller's SDK reads: because of `why`, or because Cardea does not carry the
 * agent's traffic.
 */
export type RefuseOperation = (
  ask: Ask,
  agent: AgentRule,
  why?: Refusal,
  /** What was read of it already. */
  read?: ReadHead,
) => Answer | Promise<Answer>;

export function createRefuseOperation(book: CardBook): RefuseOperation {
  return (ask, agent, why, read) => {
    const refusal = why ?? notRouted(book, agent);
    const kind = agent.card.route === 'through' ? 'forwarded' : 'other';
    const trace = { kind, agent: agent.name } as const;
    if (ask.method !== 'POST' || !isBase(ask, agent)) return refuseHttpJson(refusal, trace);
    return refuseRpc(read ?? readRpc(ask.body), (id) => refuseJsonRpc(refusal, id, trace));
  };
}

const refuseRpc = async (read: ReadHead | Promise<ReadHead>, refuseIn: (id: RpcId) => Answer): Promise<Answer> =>
  refuseIn(await (await read).lateId());

function notRouted(book: CardBook, agent: AgentRule): Refusal {
  const entry = book.current(agent, CARD_REQUESTS['1.0']) ?? book.variants(agent)[0];
  const url = entry?.admission?.facts.interfaceUrl;
  const direct = url === undefined ? 'Call the interface that its card names' : `Call ${url} directly`;
  return refuse(
    'not-routed',
    `${direct}; Cardea serves this agent's card, at /.well-known/agent-card.json below its base URL.`,
    {
      agent: agent.name,
    },
  );
}

/** JSON-RPC is spoken at the base URL itself, with or without its slash; HTTP+JSON below it. */
function isBase(ask: Ask, agent: AgentRule): boolean {
  const path = pathOf(ask.target);
  const rest = path.startsWith('/agents/') ? path.slice(`/agents/${agent.name}`.length) : path;
  return rest === '' || rest === '/';
}
