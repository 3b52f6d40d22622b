import { refuseHttpJson, refuseJsonRpc, rpcId } from '../bindings/operation.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { pathOf } from '../policy/route.ts';
import type { AgentRule } from '../policy/rules.ts';
import { readSome } from './bytes.ts';
import type { CardBook } from './card-book.ts';
import { CARD_REQUESTS } from './card-request.ts';

/**
 * Refuses an A2A operation in the form that the caller's SDK reads: because of `why`, or because Cardea does not carry the
 * agent's traffic.
 */
export type RefuseOperation = (ask: Ask, agent: AgentRule, why?: Refusal) => Answer | Promise<Answer>;

/** No JSON-RPC request needs more to show its id; the rest of a larger body is not read. */
const LONGEST_READ = 64 * 1024;

export function createRefuseOperation(book: CardBook): RefuseOperation {
  return (ask, agent, why) => {
    const refusal = why ?? notRouted(book, agent);
    const kind = agent.card.route === 'through' ? 'forwarded' : 'other';
    const trace = { kind, agent: agent.name } as const;
    if (ask.method !== 'POST' || !isBase(ask, agent)) return refuseHttpJson(refusal, trace);
    return readSome(ask.body, LONGEST_READ).then((body) => refuseJsonRpc(refusal, rpcId(body), trace));
  };
}

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
