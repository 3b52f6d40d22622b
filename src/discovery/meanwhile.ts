import { currentAge, lifetimeOf } from '../http/freshness.ts';
import { formatHttpDate } from '../http/http-date.ts';
import type { Entry, Lifetime } from '../kernel/entry.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import { type EpochMs, type Ms, between, epochMs, later, ms } from '../kernel/units.ts';
import { type Stopped, refusedBy } from '../policy/kills.ts';
import { doubtOf, isHeldByRegistry } from '../policy/registered.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { CardInForce } from '../ports.ts';
import type { Attempt } from './attempt.ts';
import { entryInForce } from './in-force-entry.ts';
import type { Judge } from './judge.ts';
import type { Decided } from './reviews.ts';

/** A card that came and was not taken. */
export type Withheld = Extract<Decided, { taken: false }>;

interface Parts {
  readonly judge: Judge;
  readonly kills: Stopped;
}

/**
 * Gives the card that is served while another one waits: the one in force, as old as it is, asked about again at the pace that the
 * origin set for the newer one, and no longer than the rule allows. Refused where there is none, or its time is over.
 */
export async function serveMeanwhile(parts: Parts, attempt: Attempt, withheld: Withheld): Promise<Outcome<Entry>> {
  const { agent } = attempt.target;
  const { inForce } = withheld;
  if (inForce === undefined) return refused(withheld.isFirst ? firstUse(withheld, agent) : unkept(agent.name));
  const until = heldUntil(withheld, agent.review.maxHold);
  if (attempt.receivedAt >= until) return refused(overdue(withheld, agent.name));
  const entry = await cardInForce(parts, attempt, inForce);
  if (!entry.ok) return entry;
  const review = withheld.ruling.why === 'rejected' && !isHeldByRegistry(agent) ? inForce.review : 'held';
  return accepted(prolonged(attempt, entry.value, { until, review }));
}

/** A person who says no has decided for the card in force: then nothing waits and nothing ends. */
function heldUntil({ ruling, pending }: Withheld, maxHold: Ms): EpochMs {
  return ruling.why === 'rejected' ? epochMs(Number.POSITIVE_INFINITY) : later(pending.card.since, maxHold);
}

function firstUse({ ruling, pending }: Withheld, agent: AgentRule) {
  if (ruling.why === 'rejected') {
    return refuse('first-use-held', `The card ${pending.card.digest} was rejected, and no other was ever approved.`);
  }
  const doubt = doubtOf(agent);
  const waits = `The card ${pending.card.digest} waits for review: cardea review ${agent.name}.`;
  return refuse('first-use-held', doubt === undefined ? waits : `${waits} ${doubt}`);
}

const unkept = (agent: string) =>
  refuse(
    'change-held',
    `A changed card is not taken, and the origin forbids to store the one before it (no-store): cardea review ${agent}.`,
  );

const overdue = ({ pending }: Withheld, agent: string) =>
  refuse(
    'change-held',
    `A changed card waits for review since ${formatHttpDate(pending.card.since)}, longer than review.maxHold lets the approved one be served: cardea review ${agent}.`,
  );

/** The stored card where it is the one in force, else it is made again from what the ledger keeps, judged under today's rules. */
async function cardInForce(parts: Parts, attempt: Attempt, inForce: CardInForce): Promise<Outcome<Entry>> {
  const { stored } = attempt.target;
  if (stored?.admission?.digest === inForce.digest) return accepted(stored);
  const entry = await restoreInForce(parts, attempt, inForce);
  if (!entry.ok) return entry;
  const stopped = refusedBy(parts.kills.active(), entry.value.tags, inForce.agent);
  return stopped === undefined ? entry : refused(stopped);
}

async function restoreInForce({ judge }: Parts, attempt: Attempt, inForce: CardInForce): Promise<Outcome<Entry>> {
  const { target, receivedAt: now, generation } = attempt;
  const { body, url, contentType, at: givenAt } = inForce;
  const { outcome, policy } = await judge({ body, url, contentType }, target.agent);
  if (!outcome.ok) return outcome;
  return accepted(entryInForce(target.agent, { inForce, card: outcome.value, policy, givenAt }, { now, generation }));
}

interface Prolonging {
  readonly until: EpochMs;
  readonly review: 'held' | CardInForce['review'];
}

/** Its age goes on: nobody has made or validated it now. */
function prolonged(attempt: Attempt, entry: Entry, { until, review }: Prolonging): Entry {
  const { requestedAt, receivedAt, generation, result, target } = attempt;
  const age = currentAge(entry, receivedAt);
  const pace = result.ok
    ? lifetimeOf({ status: 200, fields: result.response.fields, receivedAt }, target.agent.cache)
    : entry.lifetime;
  return {
    ...entry,
    requestedAt,
    receivedAt,
    initialAge: age,
    generation,
    lifetime: limited(pace, { age, left: between(receivedAt, until) }),
    admission: entry.admission === null ? null : { ...entry.admission, review },
  };
}

/** Fresh for as long as the origin gave the newer card, and with all that may be served stale not beyond the end of the hold. */
export function limited(pace: Lifetime, { age, left }: { readonly age: Ms; readonly left: Ms }): Lifetime {
  const fresh = Math.max(0, Math.min(pace.fresh, left));
  return {
    ...pace,
    fresh: ms(age + fresh),
    staleWhileRevalidate: ms(Math.min(pace.staleWhileRevalidate, left - fresh)),
    staleIfError: ms(Math.min(pace.staleIfError, left - fresh)),
  };
}
