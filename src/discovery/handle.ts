import { problemAnswer } from '../bindings/problem.ts';
import { problemIndex, problemPage } from '../bindings/problem-page.ts';
import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { AgentName, Tag } from '../kernel/ids.ts';
import { plainPrincipal } from '../kernel/principal.ts';
import { type Outcome, type Refusal, refuse } from '../kernel/refusal.ts';
import { seconds } from '../kernel/units.ts';
import { type Stopped, isStop } from '../policy/kills.ts';
import { decide, decideForAll } from '../policy/decide.ts';
import { checkAudience } from '../policy/principals.ts';
import { type Route, type RouteOfCaller, type RouteTable, routeFor } from '../policy/route.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { Evidence } from '../ports.ts';
import { letGo } from './bytes.ts';
import type { Caller, Callers } from './callers.ts';
import type { Cors } from './cors.ts';
import type { IsInForce } from './in-force.ts';
import { agentTags, originTags } from './key.ts';
import type { AgentLists } from './list-agents.ts';
import { refuseLoop } from './loop.ts';
import type { Logout } from './logout.ts';
import type { Operate } from './operate.ts';
import type { RefuseOperation } from './operation.ts';
import type { ServeOrigin } from './serve-origin.ts';
import type { ServeCard } from './serve-card.ts';
import type { ServeKeys } from './serve-keys.ts';
import { type ServeWellKnown, dependingOnCaller } from './serve-well-known.ts';

/** Answers whatever comes in on the agents' side. This is the order of the whole program: route, who asks, policy, the cache. */
export type Handle = (ask: Ask) => Answer | Promise<Answer>;

export interface Services {
  readonly routes: () => RouteTable;
  readonly isInForce: IsInForce;
  readonly kills: Stopped;
  readonly callers: Callers;
  readonly ledger: Pick<Evidence, 'refused'>;
  readonly serveCard: ServeCard;
  readonly serveKeys: ServeKeys;
  readonly serveWellKnown: ServeWellKnown;
  readonly serveOrigin: ServeOrigin;
  readonly operate: Operate;
  readonly refuseOperation: RefuseOperation;
  readonly logout: Logout;
  readonly lists: AgentLists;
  readonly cors: Cors;
}

export const createHandle =
  (services: Services): Handle =>
  (ask) =>
    services.cors(
      ask,
      () => routeOf(services, ask),
      () => answerOn(services, ask, MOST_TURNS),
    );

/** A request that was overtaken by so many changes of the configuration while it waited for an origin is sent away. */
const MOST_TURNS = 32;

function answerOn(services: Services, ask: Ask, turnsLeft: number): Answer | Promise<Answer> {
  const route = routeOf(services, ask);
  // The pages that explain refusals are part of the program, and never more wanted than while everything is stopped.
  if (route.to === 'problem') return explain(ask, route.code);
  const active = services.kills.active();
  if (active.length > 0) {
    const turn = toNobody(ask, route);
    const stopped = decideForAll(active, agentOf(turn.route));
    if (stopped !== undefined) return refuseAt(services, turn, stopped);
  }
  const identified = services.callers.identify(ask);
  // The rules may be others when it is known at last who asks.
  return identified instanceof Promise
    ? identified.then((late) => serve({ services, ask, asked: routeOf(services, ask), turnsLeft }, late))
    : serve({ services, ask, asked: route, turnsLeft }, identified);
}

const routeOf = ({ routes }: Services, ask: Ask): Route => routes().route(ask);

/** A request on its way through, once it is known who asks. */
interface Turn {
  readonly ask: Ask;
  readonly route: RouteOfCaller;
  /** Null where it is not known. */
  readonly caller: Caller | null;
}

/** Whoever is refused before it is known who asks is told of no agent that is not for everybody. */
const toNobody = (ask: Ask, route: Route): Turn => ({ ask, route: routeFor(route, NOBODY), caller: null });
const NOBODY = plainPrincipal('anonymous', '');

/** A request that was routed. */
interface Routed {
  readonly services: Services;
  readonly ask: Ask;
  readonly asked: Route;
  readonly turnsLeft: number;
}

function serve({ services, ask, asked, turnsLeft }: Routed, identified: Outcome<Caller>): Answer | Promise<Answer> {
  if (!identified.ok) return refuseAt(services, toNobody(ask, asked), identified.refusal);
  const caller = identified.value;
  const revoked = services.callers.standing(ask, caller);
  if (revoked !== undefined) return refuseAt(services, { ...toNobody(ask, asked), caller }, revoked);
  const route = routeFor(asked, caller.principal);
  const turn: Turn = { ask, route, caller };
  const refusal = wrongAudience(route, caller) ?? decideOn(services, turn, undefined);
  if (refusal !== undefined) return refuseAt(services, turn, refusal);
  const answer = perform(services, ask, route, caller);
  if (!(answer instanceof Promise)) return told(services, turn, answer);
  return answer.then(async (late) => {
    if (isOvertaken(services, route))
      return turnsLeft > 1 ? answerOn(services, ask, turnsLeft - 1) : told(services, turn, unsteady(turn));
    return told(services, turn, await decideAgain(services, turn, late));
  });
}

/**
 * True where the rule that a card was asked for under was replaced while its answer was made: that answer is not handed out, the
 * request is handled again under today's rules. Other requests have been sent on, and are finished as they began.
 */
const isOvertaken = ({ isInForce }: Services, route: RouteOfCaller): boolean =>
  (route.to === 'card' || route.to === 'origin-card') && !isInForce(route.agent);

const unsteady = ({ route }: Turn): Answer =>
  problemAnswer(
    refuse('overloaded', 'The configuration changed again and again while this was answered; ask again.', {
      retryAfter: seconds(1),
    }),
    { kind: 'public', agent: agentOf(route) },
  );

/** A token for one agent is none for another. */
function wrongAudience(route: Route, { principal, issuer }: Caller): Refusal | undefined {
  if (issuer === null || (route.to !== 'card' && route.to !== 'origin-card' && route.to !== 'operation'))
    return undefined;
  const { audience } = route.agent.extended;
  const meant = checkAudience(principal, issuer.rule, (each) => audience.includes(each));
  return meant.ok ? undefined : meant.refusal;
}

function perform(services: Services, ask: Ask, route: RouteOfCaller, caller: Caller): Answer | Promise<Answer> {
  switch (route.to) {
    case 'card':
      return serveRead(services, { ask, caller }, route.agent);
    case 'origin-card':
      return serveRead(services, { ask, caller: null }, route.agent);
    case 'operation':
      return services.operate({ ask, caller }, route);
    case 'keys':
      return isRead(ask) ? services.serveKeys(ask) : wrongMethod('other', null);
    case 'origin':
      return tagged(services.serveOrigin(ask, route), originTags(route.url));
    case 'agents':
      return isRead(ask) ? services.lists.agents(ask, caller) : wrongMethod('other', null);
    case 'catalog':
      return isRead(ask) ? services.lists.catalog(ask, caller) : wrongMethod('other', null);
    case 'logout':
      return services.logout(ask, caller);
    case 'problem':
      return explain(ask, route.code);
    case 'nowhere':
      return problemAnswer(route.refusal, { kind: 'other', agent: null });
  }
}

function explain(ask: Ask, code: string): Answer {
  if (!isRead(ask)) return wrongMethod('other', null);
  return code === '' ? problemIndex() : problemPage(code);
}

/** @param caller null where the public card in its origin's bytes is wanted, whoever asks. */
function serveRead(
  { serveCard, serveWellKnown }: Services,
  { ask, caller }: { readonly ask: Ask; readonly caller: Caller | null },
  agent: AgentRule,
): Answer | Promise<Answer> {
  if (!isRead(ask)) return wrongMethod('public', nameOf(agent));
  const loop = refuseLoop(ask.field('via'));
  if (loop !== undefined) return problemAnswer(loop, { kind: 'public', agent: nameOf(agent) });
  return caller === null ? serveCard(ask, agent) : serveWellKnown(ask, agent, caller);
}

/** All that an origin answers can be killed by the origin's name. */
const tagged = (answer: Answer | Promise<Answer>, tags: readonly Tag[]): Answer | Promise<Answer> =>
  answer instanceof Promise ? answer.then((late) => ({ ...late, tags })) : { ...answer, tags };

/** Everything that a kill or a registry could stop of the request, of whoever makes it, and of what answers it. */
function decideOn({ kills }: Services, { route, caller }: Turn, answer: Answer | undefined): Refusal | undefined {
  const active = kills.active();
  if (active.length === 0) return undefined;
  const tags = [...tagsOf(route), ...(caller?.tags ?? []), ...(answer?.tags ?? [])];
  return decide(active, { agent: agentOf(route), tags });
}

/** What was killed, or revoked, while its answer was being made is not handed out: this is the last look before the first byte. */
async function decideAgain(services: Services, turn: Turn, late: Answer): Promise<Answer> {
  if (late.trace.code !== undefined && isStop(late.trace.code)) return late;
  const refusal = decideOn(services, turn, late) ?? revokedSince(services, turn);
  if (refusal === undefined) return late;
  if (late.body !== null && !(late.body instanceof Uint8Array)) void letGo(late.body);
  return refuseAt(services, turn, refusal);
}

const revokedSince = ({ callers }: Services, { ask, caller }: Turn): Refusal | undefined =>
  caller === null ? undefined : callers.standing(ask, caller);

/** What is done with every answer to somebody who is known, last of all. */
const told = (services: Services, turn: Turn, answer: Answer): Answer => atPath(turn, noted(services, turn, answer));

/** "every answer at that path carries `Vary: Authorization`", where callers get their extended cards there. */
const atPath = ({ route, caller }: Pick<Turn, 'route' | 'caller'>, answer: Answer): Answer =>
  route.to === 'card' || route.to === 'origin-card' ? dependingOnCaller(answer, route.agent, caller) : answer;

/**
 * Counts a refusal that no exchange has a receipt of: one receipt a minute, however many there are. `unknown-agent` leaves none,
 * so that what is asked for in vain fills no disk.
 */
function noted({ ledger }: Services, { route, caller }: Turn, answer: Answer): Answer {
  const { code, receipt } = answer.trace;
  if (code !== undefined && receipt === undefined && code !== 'unknown-agent')
    ledger.refused({ agent: agentOf(route), code, ...evidenceOf(caller) });
  return answer;
}

const evidenceOf = (caller: Caller | null) => ({
  principal: caller?.principalHash ?? null,
  tenant: caller?.tenantHash ?? null,
});

function refuseAt(services: Services, { ask, route, caller }: Turn, why: Refusal): Answer | Promise<Answer> {
  const agent = agentOf(route);
  const receipt = services.ledger.refused({ agent, code: why.code, ...evidenceOf(caller) });
  const refusal = { ...why, receipt };
  if (route.to === 'operation') return services.refuseOperation(ask, route.agent, refusal);
  const kind = route.to === 'card' || route.to === 'origin-card' ? 'public' : 'other';
  return atPath({ route, caller }, problemAnswer(refusal, { kind, agent }));
}

/** The agent that a request is about, with a name or without one. */
function ruleOf(route: RouteOfCaller): AgentRule | undefined {
  switch (route.to) {
    case 'card':
    case 'origin-card':
    case 'operation':
      return route.agent;
    case 'origin':
    case 'agents':
    case 'catalog':
    case 'keys':
    case 'logout':
    case 'problem':
    case 'nowhere':
      return undefined;
  }
}

/** How evidence of a refusal names an agent: of cards without a name there may be any number, and they share one count. */
const nameOf = ({ by, name }: AgentRule): AgentName | null => (by === null ? name : null);

function agentOf(route: RouteOfCaller): AgentName | null {
  const agent = ruleOf(route);
  return agent === undefined ? null : nameOf(agent);
}

/** Everything that a kill could name of what a request is about. Looked at only while there is a kill: URLs are read for it. */
function tagsOf(route: RouteOfCaller): readonly Tag[] {
  if (route.to === 'origin') return originTags(route.url);
  const agent = ruleOf(route);
  return agent === undefined ? [] : agentTags(agent);
}

const isRead = (ask: Ask): boolean => ask.method === 'GET' || ask.method === 'HEAD';

function wrongMethod(kind: 'public' | 'other', agent: Parameters<typeof problemAnswer>[1]['agent']): Answer {
  const refusal = refuse('method-not-allowed', 'Only GET and HEAD are served here.', { allow: ['GET', 'HEAD'] });
  return problemAnswer(refusal, { kind, agent });
}
