import { classesOf } from '../card/gate.ts';
import type { JsonObject } from '../card/json.ts';
import { fieldValue } from '../http/fields.ts';
import type { ChangeClass } from '../kernel/change.ts';
import type { Admission, Entry } from '../kernel/entry.ts';
import type { Review } from '../kernel/outcome.ts';
import { type Outcome, type Refusal, refused } from '../kernel/refusal.ts';
import type { Stopped } from '../policy/kills.ts';
import { doubtOf, isHeldByRegistry } from '../policy/registered.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { Attempt } from './attempt.ts';
import type { Judge } from './judge.ts';
import { serveMeanwhile } from './meanwhile.ts';
import { variantOf } from './offer.ts';
import type { Decided, Reviews } from './reviews.ts';

/** A card that was admitted and not yet decided on, as the entry that it would be. */
export interface Candidate {
  readonly entry: Entry & { readonly admission: Admission };
  /** Its 1.0 view, read where it is needed. */
  readonly view: () => JsonObject;
  readonly storable: boolean;
}

/** What is known of a card that was decided on: for the receipt of the exchange that brought it. */
export interface Reviewed {
  readonly admission: Admission;
  readonly changes: readonly ChangeClass[];
  readonly why: string | null;
}

/** What the gate lets through: the card that came, or the one that is served meanwhile, or nothing. */
export type Passed =
  | { readonly taken: true; readonly entry: Candidate['entry']; readonly reviewed: Reviewed }
  | { readonly taken: false; readonly served: Outcome<Entry>; readonly reviewed: Reviewed };

export type Gate = (candidate: Candidate, attempt: Attempt) => Promise<Passed>;

interface Parts {
  readonly reviews: Reviews;
  readonly judge: Judge;
  readonly kills: Stopped;
}

/** Makes the gate through which every card goes that an origin gives or confirms. */
export function createGate(parts: Parts): Gate {
  return async (candidate, attempt) => {
    const { entry } = candidate;
    const decided = await parts.reviews.offer(offerOf(candidate, attempt), {
      receipt: attempt.id,
      policy: entry.admission.policy,
      at: attempt.receivedAt,
    });
    if (!decided.ok) return withoutLedger(decided.refusal, candidate, attempt);
    if (decided.value.taken) return { taken: true, ...taken(candidate, decided.value, attempt.target.agent) };
    const reviewed = {
      admission: { ...entry.admission, review: 'held' as const },
      changes: classesOf(decided.value.ruling.changes),
      why: [whyWithheld(decided.value), doubtOf(attempt.target.agent) ?? []].flat().join(' '),
    };
    return { taken: false, served: await serveMeanwhile(parts, attempt, decided.value), reviewed };
  };
}

function offerOf({ entry, view, storable }: Candidate, { target }: Attempt) {
  const { digest, verdict } = entry.admission;
  const { version } = target.request;
  return {
    agent: target.agent,
    variant: variantOf(entry.vary, version),
    version,
    card: { body: entry.body, digest, verdict },
    view,
    contentType: fieldValue(entry.fields, 'content-type') ?? 'application/json',
    servable: storable,
  };
}

function taken(
  { entry }: Candidate,
  { inForce, ruling, wasBack }: Extract<Decided, { taken: true }>,
  agent: AgentRule,
) {
  const standing = inForce.review === 'approved' ? 'approved' : ruling.review;
  const review: Review = isHeldByRegistry(agent) ? 'held' : standing;
  const admission = { ...entry.admission, review };
  const back = wasBack ? 'The origin went back to a card that was in force before.' : null;
  return { entry: { ...entry, admission }, reviewed: { admission, changes: classesOf(ruling.changes), why: back } };
}

function whyWithheld({ ruling, pending }: Extract<Decided, { taken: false }>): string {
  const classes = classesOf(ruling.changes.filter(({ action }) => action === 'hold' || action === 'block')).join(', ');
  switch (ruling.why) {
    case 'held':
      return `The change waits for review: ${classes}.`;
    case 'blocked':
      return `The agent's rule takes no such change: ${classes}.`;
    case 'rejected':
      return `The card ${pending.card.digest} was rejected.`;
    case 'first-use':
      return 'The first card of this agent waits for review.';
  }
}

/**
 * Where the ledger cannot be read, what is served already may be confirmed: it was decided on when it could be. A first card is taken
 * where first cards are, as by a daemon that keeps no state; nothing else is.
 */
function withoutLedger(refusal: Refusal, { entry }: Candidate, { target }: Attempt): Passed {
  const { admission } = entry;
  const why = refusal.detail;
  const before = target.stored?.admission;
  const isServed = before?.digest === admission.digest && before.verdict.signature === admission.verdict.signature;
  if (isServed) return { taken: true, entry, reviewed: { admission, changes: [], why } };
  if (before !== undefined || target.agent.review.firstUse !== 'allow') {
    return {
      taken: false,
      served: refused(refusal),
      reviewed: { admission: { ...admission, review: 'held' }, changes: [], why },
    };
  }
  const first = { ...admission, review: 'first-use' as const };
  return { taken: true, entry: { ...entry, admission: first }, reviewed: { admission: first, changes: [], why } };
}
