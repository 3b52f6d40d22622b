import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import type { AgentName } from '../kernel/ids.ts';
import { refuse } from '../kernel/refusal.ts';
import { UNCACHED, json, problem } from './answers.ts';
import { bad } from './body.ts';
import { unknownAgent } from './changes.ts';
import { explain } from './explain.ts';
import type { AdminPorts, PendingView } from './ports.ts';
import { asAgent, readQuery, receiptQuery } from './query.ts';
import { scopeOf } from './scopes.ts';
import type { Session } from './sessions.ts';

/** What an administrator may look at. */
export interface Look {
  readonly ports: AdminPorts;
  readonly ask: Ask;
  /** What the path names. */
  readonly named: string;
  /** The console's session that asks; null for any other administrator. */
  readonly session: Session | null;
}

export const listAgents = ({ ports }: Look): Answer => json({ agents: ports.agents(), now: ports.clock.now() });

export function showAgent({ ports, named }: Look): Answer {
  const found = ports.agent(asAgent(named));
  const review = ports.reviews.of(asAgent(named));
  if (found === undefined || review === undefined) return problem(unknownAgent(ports, named));
  const { pending, ...known } = review;
  // The cards themselves are at /change: this answer is asked for every few seconds.
  return json({ ...found, review: { ...known, pending: pending.map(withoutCard) } });
}

function withoutCard(pending: PendingView): Omit<PendingView, 'card'> {
  const { card: _, ...rest } = pending;
  return rest;
}

/** Everything that waits, whose it is and what kinds of change it has. */
export const listChanges = ({ ports }: Look): Answer => json({ pending: ports.reviews.waiting() });

/** What waits for review, with every change and the card as it came. */
export async function showChange({ ports, named }: Look): Promise<Answer> {
  const agent = asAgent(named);
  const review = ports.reviews.of(agent);
  if (review === undefined) return problem(unknownAgent(ports, named));
  const { rule, suspended } = review;
  const pending = await Promise.all(review.pending.map((each) => withVerdict(ports, agent, each)));
  return json({ agent, suspended, firstUse: rule.firstUse, pending });
}

/** Beside the card what it is worth today: keys and rules may be others than when it came. */
async function withVerdict(ports: AdminPorts, agent: AgentName, pending: PendingView): Promise<object> {
  const judged = await ports.reviews.judge(agent, pending.digest);
  if (judged.ok) return { ...pending, verdict: judged.value, refusal: null };
  const { code, detail } = judged.refusal;
  return { ...pending, verdict: null, refusal: { code, detail } };
}

/** The card as it is served now, in its own bytes. */
export function showCard({ ports, named }: Look): Answer {
  const agent = asAgent(named);
  if (ports.agent(agent) === undefined) return problem(unknownAgent(ports, named));
  const card = ports.card(agent);
  if (card === undefined) return problem(refuse('not-found', 'No card of this agent is served now.', { agent }));
  return {
    status: 200,
    // The card is a stranger's: a browser that is led here shows it as text and runs nothing.
    fields: ['Content-Type', card.contentType, ...UNCACHED, 'Content-Security-Policy', "default-src 'none'; sandbox"],
    body: card.body,
    trace: { kind: 'other', agent, result: 'hit' },
  };
}

export async function showReceipts({ ports, ask }: Look): Promise<Answer> {
  const query = receiptQuery(ask, ports.clock.now());
  if (!query.ok) return problem(query.refusal);
  const page = await ports.ledger.query(query.value);
  return page.ok ? json(page.value) : problem(page.refusal);
}

export async function verifyReceipts({ ports }: Look): Promise<Answer> {
  const report = await ports.ledger.verify();
  return report.ok ? json(report.value) : problem(report.refusal);
}

export async function showExplanation({ ports, ask }: Look): Promise<Answer> {
  const query = readQuery(ask, ['target']);
  if (!query.ok) return problem(query.refusal);
  const target = query.value.get('target');
  if (target === undefined || target === '') return problem(bad('target must be the name of an agent, or a URL.'));
  const explanation = await explain(ports, target);
  return explanation === undefined
    ? problem(bad('target is neither the name of an agent nor a URL.'))
    : json(explanation);
}

export const listKills = ({ ports }: Look): Answer =>
  json({ kills: ports.kills.active(), persisted: ports.kills.persisted() });

/** What a stop would concern, for whoever is about to order it. */
export function previewKill({ ports, ask }: Look): Answer {
  const query = readQuery(ask, ['scope']);
  if (!query.ok) return problem(query.refusal);
  const scope = scopeOf(query.value);
  return scope.ok ? json({ scope: scope.value, ...ports.preview(scope.value) }) : problem(scope.refusal);
}

export const showConfig = ({ ports }: Look): Answer => json(ports.config());

export function watchEvents({ ports, ask, session }: Look): Answer {
  const until = session === null ? [ask.signal()] : [ask.signal(), session.ended];
  // A HEAD has no body to end the stream by.
  const stream = ask.method === 'HEAD' ? null : ports.events.watch(until);
  if (stream === undefined) return problem(refuse('overloaded', 'Too many watch already, or Cardea is draining.'));
  return {
    status: 200,
    fields: ['Content-Type', 'text/event-stream', ...UNCACHED],
    body: stream,
    trace: { kind: 'other', agent: null, result: 'hit' },
  };
}
