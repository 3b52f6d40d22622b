import { problemAnswer } from '../bindings/problem.ts';
import { problemIndex, problemPage } from '../bindings/problem-page.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { Tag } from '../kernel/ids.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import { decide, type Subject } from '../policy/decide.ts';
import type { Route, RouteTable } from '../policy/route.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { Evidence, KillBook } from '../ports.ts';
import { agentTags, ruleTags } from './key.ts';
import type { ListAgents } from './list-agents.ts';
import { refuseLoop } from './loop.ts';
import type { RefuseOperation } from './operation.ts';
import type { ServeOrigin } from './serve-origin.ts';
import type { ServeCard } from './serve-card.ts';

/** Answers whatever comes in on the agents' side. This is the order of the whole program: route, then policy, then the cache. */
export type Handle = (ask: Ask) => Answer | Promise<Answer>;

export interface Services {
  readonly routes: () => RouteTable;
  readonly kills: KillBook;
  readonly ledger: Pick<Evidence, 'refused'>;
  readonly serveCard: ServeCard;
  readonly serveOrigin: ServeOrigin;
  readonly refuseOperation: RefuseOperation;
  readonly listAgents: ListAgents;
}

export function createHandle(services: Services): Handle {
  return (ask) => {
    const route = services.routes().route(ask.listener, ask.target);
    const refusal = decideOn(services, route, undefined);
    if (refusal !== undefined) return refuseAt(services, ask, route, refusal);
    const answer = perform(services, ask, route);
    if (!(answer instanceof Promise)) return noted(services, answer);
    return answer.then(async (late) => noted(services, await decideAgain(services, ask, route, late)));
  };
}

function perform(services: Services, ask: Ask, route: Route): Answer | Promise<Answer> {
  switch (route.to) {
    case 'card':
      return serveRead(services, ask, route.agent);
    case 'operation':
      return services.refuseOperation(ask, route.agent);
    case 'origin':
      return tagged(services.serveOrigin(ask, route.rule), ruleTags(route.rule.match));
    case 'agents':
      return isRead(ask) ? services.listAgents(ask) : wrongMethod('other', null);
    case 'problem':
      if (!isRead(ask)) return wrongMethod('other', null);
      return route.code === '' ? problemIndex() : problemPage(route.code);
    case 'nowhere':
      return problemAnswer(route.refusal, { kind: 'other', agent: null });
  }
}

function serveRead({ serveCard }: Services, ask: Ask, agent: AgentRule): Answer | Promise<Answer> {
  if (!isRead(ask)) return wrongMethod('public', agent.name);
  const loop = refuseLoop(ask.field('via'));
  return loop === undefined ? serveCard(ask, agent) : problemAnswer(loop, { kind: 'public', agent: agent.name });
}

/** A rule is for one origin, so all that it answers can be killed by that origin's name. */
const tagged = (answer: Answer | Promise<Answer>, tags: readonly Tag[]): Answer | Promise<Answer> =>
  answer instanceof Promise ? answer.then((late) => ({ ...late, tags })) : { ...answer, tags };

/** The pages that explain refusals are part of the program, and never more wanted than while everything is stopped. */
function decideOn({ kills }: Services, route: Route, answer: Answer | undefined): Refusal | undefined {
  const active = kills.active();
  if (active.length === 0 || route.to === 'problem') return undefined;
  const { agent, tags } = subjectOf(route);
  return decide(active, { agent, tags: answer?.tags === undefined ? tags : [...tags, ...answer.tags] });
}

/** What was killed while its answer was being made is not handed out: this is the last look before the first byte. */
async function decideAgain(services: Services, ask: Ask, route: Route, late: Answer): Promise<Answer> {
  const refusal = late.trace.code === 'killed' ? undefined : decideOn(services, route, late);
  if (refusal === undefined) return late;
  if (late.body !== null && !(late.body instanceof Uint8Array)) await late.body[Symbol.asyncIterator]().return?.();
  return refuseAt(services, ask, route, refusal);
}

/**
 * Counts a refusal that no exchange has a receipt of: one receipt a minute, however many there are. `unknown-agent` leaves none,
 * so that what is asked for in vain fills no disk.
 */
function noted({ ledger }: Services, answer: Answer): Answer {
  const { code, receipt, agent } = answer.trace;
  if (code !== undefined && receipt === undefined && code !== 'unknown-agent')
    ledger.refused({ agent, code, principal: null, tenant: null });
  return answer;
}

function refuseAt(services: Services, ask: Ask, route: Route, why: Refusal): Answer | Promise<Answer> {
  const { agent } = subjectOf(route);
  const receipt = services.ledger.refused({ agent, code: why.code, principal: null, tenant: null });
  const refusal = { ...why, receipt };
  if (route.to === 'operation') return services.refuseOperation(ask, route.agent, refusal);
  return problemAnswer(refusal, { kind: route.to === 'card' ? 'public' : 'other', agent });
}

function subjectOf(route: Route): Subject {
  switch (route.to) {
    case 'card':
    case 'operation':
      return { agent: route.agent.name, tags: agentTags(route.agent) };
    case 'origin':
      return { agent: null, tags: ruleTags(route.rule.match) };
    case 'agents':
    case 'problem':
    case 'nowhere':
      return { agent: null, tags: [] };
  }
}

const isRead = (ask: Ask): boolean => ask.method === 'GET' || ask.method === 'HEAD';

function wrongMethod(kind: 'public' | 'other', agent: Parameters<typeof problemAnswer>[1]['agent']): Answer {
  const refusal = refuse('method-not-allowed', 'Only GET and HEAD are served here.', { allow: ['GET', 'HEAD'] });
  return problemAnswer(refusal, { kind, agent });
}
