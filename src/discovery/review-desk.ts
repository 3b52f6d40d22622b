import type { AdmittedCard } from '../card/admit.ts';
import type { Verdict } from '../kernel/entry.ts';
import type { CardDigest, Generation, PolicyDigest } from '../kernel/ids.ts';
import type { Authority } from '../kernel/receipt.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { CardVariant } from '../kernel/review.ts';
import type { EpochMs } from '../kernel/units.ts';
import { doubtOf, isBlockedByRegistry, isHeldByRegistry, refuseUnplaced } from '../policy/registered.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { CardInForce, Clock, Decision, Ledger, Store } from '../ports.ts';
import type { CardBook } from './card-book.ts';
import { CARD_REQUESTS } from './card-request.ts';
import { entryInForce } from './in-force-entry.ts';
import type { ExtendedReviews } from './extended-reviews.ts';
import type { IsInForce } from './in-force.ts';
import type { Judge } from './judge.ts';
import { agentCardKey } from './key.ts';
import { cardUrl } from './offer.ts';
import type { Pending, Reviews } from './reviews.ts';
import { variantOfEntry } from './standing.ts';
import { createTurns } from './turns.ts';
import type { Codings } from './with-codings.ts';

/** A card that an agent may offer. */
interface Offered {
  readonly agent: AgentRule;
  readonly digest: CardDigest;
}

/** What a person orders about one card. */
export interface ReviewOrder extends Offered {
  readonly reason: string;
  readonly by: Authority;
}

/** Where people decide. What is decided is on the disk before it takes effect. */
export interface ReviewDesk {
  /** Puts an offered card in force; refused where it is not offered any more, or the rule lets no person decide. */
  approve(order: ReviewOrder): Promise<Outcome<Decision>>;
  /** Never takes this card; the one in force stays. */
  reject(order: ReviewOrder): Promise<Outcome<Decision>>;
  /** Says what an offered card's signatures are worth today, or why it would be refused. */
  judge(agent: AgentRule, digest: CardDigest): Promise<Outcome<Verdict>>;
  /** Asks the origin again about whatever waits: the rules may have changed. */
  lookAgain(agent: AgentRule): Promise<void>;
}

interface Parts {
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, 'issue'>;
  readonly store: Pick<Store, 'peek' | 'drop' | 'put' | 'generation'>;
  readonly reviews: Reviews;
  readonly extendedReviews: Pick<ExtendedReviews, 'pending' | 'decided'>;
  /** Lets callers whose extended card waited be asked for anew. */
  readonly forgive: () => void;
  readonly judge: Judge;
  readonly book: Pick<CardBook, 'forgive' | 'updateBehind'>;
  readonly codings: Pick<Codings, 'keep'>;
  readonly isInForce: IsInForce;
}

export function createReviewDesk(parts: Parts): ReviewDesk {
  const lookAgain = (agent: AgentRule): Promise<void> => {
    parts.book.forgive();
    return parts.book.updateBehind(agent, CARD_REQUESTS['1.0']);
  };
  const inTurn = createTurns();
  /** Of two people who decide at one time the second sees what the first has decided. */
  const ordered =
    (decide: (parts: Parts, order: ReviewOrder) => Promise<Outcome<Decision>>) =>
    (order: ReviewOrder): Promise<Outcome<Decision>> =>
      inTurn(order.agent.name, async () => {
        const decided = await decide(parts, order);
        if (decided.ok) {
          // "An approved digest is approved for the agent, whoever's card it is."
          parts.extendedReviews.decided(order.agent.name, order.digest);
          parts.forgive();
          void lookAgain(order.agent);
        }
        return decided;
      });
  const judge: ReviewDesk['judge'] = (agent, digest) => judgeOffered(parts, { agent, digest });
  return { lookAgain, judge, approve: ordered(approve), reject: ordered(reject) };
}

async function judgeOffered(parts: Parts, offer: Offered): Promise<Outcome<Verdict>> {
  const { agent, digest } = offer;
  const unplaced = refuseUnplaced(agent);
  if (unplaced !== undefined) return refused(unplaced);
  const judged = await judgeAll(parts, agent, parts.reviews.offered(agent, digest));
  if (!judged.ok) return judged;
  const [first] = judged.value;
  if (first !== undefined) return accepted(first.card.verdict);
  const extended = extendedOf(parts, offer);
  if (extended === undefined) return refused(notOffered(parts.reviews, offer));
  const { body, contentType } = extended;
  const { outcome } = await parts.judge({ body, url: cardUrl(agent), contentType }, agent);
  return outcome.ok ? accepted(outcome.value.verdict) : outcome;
}

async function approve(parts: Parts, order: ReviewOrder): Promise<Outcome<Decision>> {
  const { reviews, clock, store, isInForce } = parts;
  const { agent, digest } = order;
  // What is purged from here on, by a kill or a registry, the approval does not bring back.
  const generation = store.generation();
  const offered = reviews.offered(agent, digest);
  if (offered.length === 0 && extendedOf(parts, order) !== undefined) return decideExtended(parts, order, 'approve');
  const refusal = refuseApproval(reviews, order, offered);
  if (refusal !== undefined) return refused(refusal);
  const decision = decisionOf(parts, order, 'approve');
  const judged = await judgeAll(parts, agent, offered);
  if (!judged.ok) return judged;
  const overtaken = refuseOvertaken(parts, order, offered);
  if (overtaken !== undefined) return refused(overtaken);
  const cards = judged.value.map((each) => ({ ...each, inForce: inForceOf(each, agent, decision) }));
  const decided = await reviews.decide(
    decision,
    cards.map(({ inForce }) => inForce),
  );
  if (!decided.ok) return decided;
  // Under other rules it may lie elsewhere, and is put there when it is asked for.
  if (isInForce(agent))
    for (const each of cards) await putInForce(parts, agent, { ...each, now: clock.now(), generation });
  return decided;
}

async function reject(parts: Parts, order: ReviewOrder): Promise<Outcome<Decision>> {
  const { reviews } = parts;
  const offered = reviews.offered(order.agent, order.digest);
  if (offered.length === 0 && extendedOf(parts, order) !== undefined) return decideExtended(parts, order, 'reject');
  if (offered.length === 0) return refused(notOffered(reviews, order));
  if (offered.every(({ why }) => why === 'rejected')) return refused(refuse('conflict', 'It is rejected already.'));
  const decided = await reviews.decide(decisionOf(parts, order, 'reject'), []);
  if (decided.ok) await unmark(parts, order.agent);
  return decided;
}

const extendedOf = ({ extendedReviews }: Parts, { agent, digest }: Offered) =>
  extendedReviews.pending(agent).find((each) => each.digest === digest);

/** Nothing is put in force: each caller who has the card gets it at its next request, or not. */
async function decideExtended(
  parts: Parts,
  order: ReviewOrder,
  action: Decision['action'],
): Promise<Outcome<Decision>> {
  const { agent, digest } = order;
  const why = extendedOf(parts, order)?.why;
  if (action === 'approve' && why === 'blocked') return refused(blocked(agent));
  if (action === 'approve' && why === 'first-use' && agent.review.firstUse === 'pinned')
    return refused(pinnedAlone(agent, digest));
  return parts.reviews.decide(decisionOf(parts, order, action), []);
}

const blocked = ({ name }: AgentRule) =>
  refuse('conflict', `The rule of ${name} blocks a change in this card: to take it, change its review.`);

const pinnedAlone = ({ name }: AgentRule, digest: CardDigest) =>
  refuse(
    'conflict',
    `With firstUse: pinned a first card is approved by the pins alone: add ${name}: [${digest}] to the file.`,
  );

const decisionOf = (
  { clock, ledger }: Parts,
  { agent, digest, reason, by }: ReviewOrder,
  action: Decision['action'],
): Decision => ({ id: ledger.issue(), at: clock.now(), agent: agent.name, digest, action, reason, by });

function refuseApproval(reviews: Reviews, order: ReviewOrder, offered: readonly Pending[]) {
  const { agent, digest } = order;
  const byRegistry = refuseByRegistry(agent);
  if (byRegistry !== undefined) return byRegistry;
  if (offered.length === 0) return notOffered(reviews, order);
  if (offered.some(({ why }) => why === 'blocked')) return blocked(agent);
  const isFirst = offered.some(({ card }) => reviews.inForce(agent, card.variant) === undefined);
  if (isFirst && agent.review.firstUse === 'pinned') return pinnedAlone(agent, digest);
  return undefined;
}

/** Nothing is approved while the agent's registry stops it, or it has no place where its card may be taken from. */
function refuseByRegistry(agent: AgentRule) {
  if (isBlockedByRegistry(agent))
    return refuse(
      'conflict',
      [doubtOf(agent), 'Nothing of this agent can be approved before its registry says otherwise.'].join(' '),
    );
  const unplaced = refuseUnplaced(agent);
  return unplaced === undefined ? undefined : refuse('conflict', unplaced.detail);
}

/** While it was judged another card may have taken its place, or other rules theirs: what is approved is what was looked at. */
function refuseOvertaken({ reviews, isInForce }: Parts, order: ReviewOrder, looked: readonly Pending[]) {
  const { agent, digest } = order;
  if (!isInForce(agent))
    return refuse('conflict', `The configuration changed meanwhile: look again, by "cardea review ${agent.name}".`);
  const variants = new Set(reviews.offered(agent, digest).map(({ card }) => card.variant));
  return looked.every(({ card }) => variants.has(card.variant)) ? undefined : notOffered(reviews, order);
}

function notOffered(reviews: Reviews, { agent, digest }: Offered) {
  const isInForce = reviews.history(agent).at(-1)?.digest === digest;
  return refuse(
    'conflict',
    isInForce
      ? `${digest} is in force already.`
      : `${agent.name} does not offer ${digest} now: "cardea review ${agent.name}" shows what waits.`,
  );
}

/** A card that waits, judged again: the rules and keys may be others than when it came. */
interface Judged {
  readonly pending: Pending;
  readonly card: AdmittedCard;
  readonly policy: PolicyDigest;
}

async function judgeAll(
  { judge }: Parts,
  agent: AgentRule,
  offered: readonly Pending[],
): Promise<Outcome<readonly Judged[]>> {
  const judged: Judged[] = [];
  for (const pending of offered) {
    const { body, contentType } = pending.card;
    const { outcome, policy } = await judge({ body, url: cardUrl(agent), contentType }, agent);
    if (!outcome.ok) return outcome;
    judged.push({ pending, card: outcome.value, policy });
  }
  return accepted(judged);
}

const inForceOf = ({ pending, card }: Judged, agent: AgentRule, { id, at }: Decision): CardInForce => ({
  agent: agent.name,
  variant: pending.card.variant,
  digest: pending.card.digest,
  url: cardUrl(agent),
  body: card.body,
  contentType: pending.card.contentType,
  verdict: card.verdict,
  review: 'approved',
  by: 'person',
  receipt: id,
  at,
  servable: pending.card.servable,
});

interface Approved extends Judged {
  readonly inForce: CardInForce;
  readonly now: EpochMs;
  readonly generation: Generation;
}

/** Stores the approved card in place of the one before it, as old as it is. */
async function putInForce({ store, codings }: Parts, agent: AgentRule, approved: Approved): Promise<void> {
  const { inForce, pending, now, generation } = approved;
  const key = agentCardKey(agent);
  for (const entry of store.peek(key)) if (replaces(inForce.variant, variantOfEntry(entry))) await store.drop(entry);
  if (!inForce.servable) return;
  const today = { ...approved, givenAt: pending.card.at };
  await store.put(codings.keep(entryInForce(agent, today, { now, generation })));
}

const replaces = (one: CardVariant, other: CardVariant): boolean => one === 'any' || one === other;

/** Nothing waits any more: what is stored says so. */
async function unmark({ store, reviews }: Parts, agent: AgentRule): Promise<void> {
  for (const entry of store.peek(agentCardKey(agent))) {
    const { admission } = entry;
    const inForce = reviews.inForce(agent, variantOfEntry(entry));
    const waits = reviews.pending(agent).length > 0 || isHeldByRegistry(agent);
    if (admission?.review !== 'held' || inForce === undefined || waits) continue;
    await store.put({ ...entry, admission: { ...admission, review: inForce.review } });
  }
}
