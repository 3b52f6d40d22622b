import type { Answer } from '../kernel/answer.ts';
import type { Ask } from '../kernel/ask.ts';
import { type CardDigest, type Tag, cardDigest, tag } from '../kernel/ids.ts';
import type { Authority, Change } from '../kernel/receipt.ts';
import { type Outcome, type Refusal, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { Decision } from '../ports.ts';
import { json, problem } from './answers.ts';
import { type Order, bad, flagOf, optionalReason, reasonOf } from './body.ts';
import type { AdminPorts, Moved } from './ports.ts';
import { asAgent } from './query.ts';
import { bearersOf, scopeOf, tagsOf } from './scopes.ts';
import type { Session } from './sessions.ts';

/** The orders of an administrator. Each is written down before it takes effect, save a stop or a revocation: that comes first. */

/** One order on its way through. */
export interface Call {
  readonly ports: AdminPorts;
  readonly ask: Ask;
  readonly order: Order;
  /** What the path names. */
  readonly named: string;
  readonly by: Authority;
  /** The console's session that orders; null for any other administrator. */
  readonly session: Session | null;
}

/** Stops something: in force before anything is written. */
export async function kill({ ports, order, by }: Call): Promise<Answer> {
  const scope = scopeOf(order);
  if (!scope.ok) return problem(scope.refusal);
  const reason = reasonOf(order);
  if (!reason.ok) return problem(reason.refusal);
  return moved(await ports.kills.engage({ scope: scope.value, reason: reason.value, by }));
}

/** Ends a stop. */
export async function lift({ ports, order, named, by }: Call): Promise<Answer> {
  const reason = reasonOf(order);
  if (!reason.ok) return problem(reason.refusal);
  return moved(await ports.kills.lift({ id: named, reason: reason.value, by }));
}

/** A stop that could not be written down stands all the same: the answer is a success that says so. */
function moved(outcome: Outcome<Moved>): Answer {
  if (!outcome.ok) return problem(outcome.refusal);
  const { kill: made, persisted, error } = outcome.value;
  return json({ ...made, persisted, ...(error === undefined ? {} : { error }) });
}

/** Takes back what a principal or a tenant can show: in force before anything is written. */
export async function revoke({ ports, order, by }: Call): Promise<Answer> {
  const whom = bearersOf(order);
  if (!whom.ok) return problem(whom.refusal);
  const reason = reasonOf(order);
  if (!reason.ok) return problem(reason.refusal);
  const revoked = await ports.revoke({ ...whom.value, reason: reason.value, by });
  return revoked.ok ? json(revoked.value) : problem(revoked.refusal);
}

export async function purge(call: Call): Promise<Answer> {
  const { ports, order } = call;
  const tags = tagsOf(order);
  if (!tags.ok) return problem(tags.refusal);
  const soft = flagOf(order, 'soft');
  if (!soft.ok) return problem(soft.refusal);
  const reason = reasonOf(order);
  if (!reason.ok) return problem(reason.refusal);
  const receipt = await writeDown(call, 'purge', tags.value, reason.value);
  return json({ purged: await ports.purge(tags.value, soft.value), receipt });
}

export async function refresh(call: Call): Promise<Answer> {
  const { ports, named } = call;
  const agent = asAgent(named);
  if (ports.agent(agent) === undefined) return problem(unknownAgent(ports, named));
  const reason = optionalReason(call.order);
  if (!reason.ok) return problem(reason.refusal);
  const receipt = await writeDown(call, 'refresh', [tag(`agent:${agent}`)], reason.value);
  const refreshed = await ports.refresh(agent);
  return refreshed.ok ? json({ ...refreshed.value, receipt }) : problem(refreshed.refusal);
}

/** Reads a registry now: what it has revoked is gone when this is answered. */
export async function refreshRegistry(call: Call): Promise<Answer> {
  const { ports, named } = call;
  if (!ports.hasRegistry(named)) return problem(refuse('not-found', 'No registry of this name is configured.'));
  const reason = reasonOf(call.order);
  if (!reason.ok) return problem(reason.refusal);
  const receipt = await writeDown(call, 'refresh', [tag(`registry:${named}`)], reason.value);
  const refreshed = await ports.refreshRegistry(named);
  if (!refreshed.ok) return problem(refreshed.refusal);
  const agents = refreshed.value.map(({ agent, state, registry }) => ({ agent, state, ...registry }));
  return json({ registry: named, agents, receipt });
}

export const approve = (call: Call): Promise<Answer> => decide(call, 'approve');
export const reject = (call: Call): Promise<Answer> => decide(call, 'reject');

/** A decision is on the disk with its receipt before it takes effect, or it is none. */
async function decide({ ports, order, named, by }: Call, action: Decision['action']): Promise<Answer> {
  const agent = asAgent(named);
  if (ports.reviews.of(agent) === undefined) return problem(unknownAgent(ports, named));
  const digest = digestOf(order);
  if (!digest.ok) return problem(digest.refusal);
  const reason = reasonOf(order);
  if (!reason.ok) return problem(reason.refusal);
  const decided = await ports.reviews.decide({ agent, digest: digest.value, action, reason: reason.value, by });
  if (!decided.ok) return problem(decided.refusal);
  const { id, ...decision } = decided.value;
  return json({ ...decision, receipt: id });
}

function digestOf(order: Order): Outcome<CardDigest> {
  const value = order.get('digest');
  const [, hex] = /^sha256:([0-9a-f]{64})$/.exec(typeof value === 'string' ? value : '') ?? [];
  return hex === undefined
    ? refused(bad('digest must be sha256: and 64 of 0 to 9 and a to f, as GET /agents/{agent}/change has it.'))
    : accepted(cardDigest(hex));
}

export async function reload(call: Call): Promise<Answer> {
  const reason = optionalReason(call.order);
  if (!reason.ok) return problem(reason.refusal);
  const receipt = await writeDown(call, 'reload', [], reason.value);
  const reloaded = await call.ports.reload();
  return reloaded.ok ? json({ ...reloaded.value, receipt }) : problem(reloaded.refusal);
}

export async function drain(call: Call): Promise<Answer> {
  const reason = optionalReason(call.order);
  if (!reason.ok) return problem(reason.refusal);
  const receipt = await writeDown(call, 'drain', [], reason.value);
  call.ports.drain();
  return json({ draining: true, receipt }, 202);
}

/**
 * Leaves the receipt of an order on the disk before the order takes effect, so that no crash in between hides who gave it. A disk
 * that fails does not stop whoever mends things: the receipt is counted as lost.
 */
async function writeDown(
  { ports, by }: Call,
  action: Change,
  about: readonly Tag[],
  reason: string | null,
): Promise<string> {
  const { ledger, clock } = ports;
  const id = ledger.issue();
  await ledger.commit({ kind: 'change', id, at: clock.now(), action, about, reason, by });
  return id;
}

/** Says why nobody is meant: of a URL by what the rules say of it, another spelling included. */
export function unknownAgent(ports: Pick<AdminPorts, 'describe'>, named: string): Refusal {
  const why = ports.describe(asAgent(named))?.refusal?.detail;
  return refuse('unknown-agent', why ?? 'No agent of this name is configured; GET /agents lists them.');
}
