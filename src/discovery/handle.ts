import { problemAnswer } from '../bindings/problem.ts';
import { problemIndex, problemPage } from '../bindings/problem-page.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import { refuse } from '../kernel/refusal.ts';
import type { RouteTable } from '../policy/route.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { ListAgents } from './list-agents.ts';
import { refuseLoop } from './loop.ts';
import type { RefuseOperation } from './operation.ts';
import type { ServeOrigin } from './serve-origin.ts';
import type { ServeCard } from './serve-card.ts';

/** Answers whatever comes in on the agents' side. This is the order of the whole program: route, then policy, then the cache. */
export type Handle = (ask: Ask) => Answer | Promise<Answer>;

export interface Services {
  readonly routes: () => RouteTable;
  readonly serveCard: ServeCard;
  readonly serveOrigin: ServeOrigin;
  readonly refuseOperation: RefuseOperation;
  readonly listAgents: ListAgents;
}

export function createHandle(services: Services): Handle {
  return (ask) => {
    const route = services.routes().route(ask.listener, ask.target);
    switch (route.to) {
      case 'card':
        return serveRead(services, ask, route.agent);
      case 'operation':
        return services.refuseOperation(ask, route.agent);
      case 'origin':
        return services.serveOrigin(ask, route.rule);
      case 'agents':
        return isRead(ask) ? services.listAgents(ask) : wrongMethod('other', null);
      case 'problem':
        if (!isRead(ask)) return wrongMethod('other', null);
        return route.code === '' ? problemIndex() : problemPage(route.code);
      case 'nowhere':
        return problemAnswer(route.refusal, { kind: 'other', agent: null });
    }
  };
}

function serveRead({ serveCard }: Services, ask: Ask, agent: AgentRule): Answer | Promise<Answer> {
  if (!isRead(ask)) return wrongMethod('public', agent.name);
  const loop = refuseLoop(ask.field('via'));
  return loop === undefined ? serveCard(ask, agent) : problemAnswer(loop, { kind: 'public', agent: agent.name });
}

const isRead = (ask: Ask): boolean => ask.method === 'GET' || ask.method === 'HEAD';

function wrongMethod(kind: 'public' | 'other', agent: Parameters<typeof problemAnswer>[1]['agent']): Answer {
  const refusal = refuse('method-not-allowed', 'Only GET and HEAD are served here.', { allow: ['GET', 'HEAD'] });
  return problemAnswer(refusal, { kind, agent });
}
