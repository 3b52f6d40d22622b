import type { InForceView, PendingView, ReviewPorts, ReviewView, WaitingView } from '../admin/ports.ts';
import type { Discovery } from '../discovery/discovery.ts';
import type { WaitingExtended } from '../discovery/extended-waiting.ts';
import { cardUrl } from '../discovery/offer.ts';
import type { Pending } from '../discovery/reviews.ts';
import type { ChangeClass, KeptChange } from '../kernel/change.ts';
import { refuse, refused } from '../kernel/refusal.ts';
import { later } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { CardInForce } from '../ports.ts';
import { ruleOf } from './rule-of.ts';

interface Parts {
  readonly discovery: Discovery;
}

/** What the admin API sees of reviews, and how it decides them. */
export function createReviewPorts({ discovery }: Parts): ReviewPorts {
  return {
    of(agent) {
      const rule = ruleOf(discovery, agent);
      return rule === undefined ? undefined : reviewView(discovery, rule);
    },
    waiting() {
      const named = [...discovery.rules().agents.values()];
      return [...named, ...discovery.unnamedWaiting()].flatMap((agent) => waitingViews(discovery, agent));
    },
    async decide({ agent: name, action, ...order }) {
      const agent = ruleOf(discovery, name);
      if (agent === undefined) return refused(unknown());
      const { desk } = discovery;
      return action === 'approve' ? desk.approve({ ...order, agent }) : desk.reject({ ...order, agent });
    },
    async judge(name, digest) {
      const agent = ruleOf(discovery, name);
      return agent === undefined ? refused(unknown()) : discovery.desk.judge(agent, digest);
    },
  };
}

const unknown = () => refuse('unknown-agent', 'No agent of this name is configured.');

function reviewView({ reviews, extendedReviews, suspended }: Discovery, agent: AgentRule): ReviewView {
  const { firstUse, maxHold, pins, actions } = agent.review;
  const history = reviews.history(agent).toReversed();
  const variants = new Set(history.map(({ variant }) => variant));
  return {
    rule: { firstUse, maxHold, pins: [...pins], actions: Object.fromEntries(actions) },
    suspended: suspended(agent)?.detail ?? null,
    pending: [
      ...reviews.pending(agent).flatMap((each) => pendingView(each, agent, reviews.inForce(agent, each.card.variant))),
      ...extendedReviews.pending(agent).map((each) => extendedView(each, agent)),
    ],
    inForce: [...variants].flatMap((variant) => {
      const card = reviews.inForce(agent, variant);
      return card?.variant === variant ? [inForceView(card)] : [];
    }),
    history: history.map(inForceView),
    decisions: reviews.decisions(agent).toReversed(),
  };
}

const waitingViews = ({ reviews, extendedReviews }: Discovery, agent: AgentRule): readonly WaitingView[] => [
  ...reviews.pending(agent).flatMap((each) =>
    withheldView(each, agent, reviews.inForce(agent, each.card.variant)).map((view) => ({
      agent: agent.name,
      ...view,
      classes: gravestFirst(each.card.changes),
    })),
  ),
  ...extendedReviews.pending(agent).map((each) => ({
    agent: agent.name,
    ...withheldExtended(each, agent),
    classes: each.changes.length === 0 ? each.classes : gravestFirst(each.changes.map((change) => ({ ...change }))),
  })),
];

/** What the caller of a card that waits gets meanwhile is its own: of it the digest is told. */
function withheldExtended({ digest, why, at, since, inForce }: WaitingExtended, agent: AgentRule): WithheldView {
  const until = later(since, agent.review.maxHold);
  return { variant: 'extended', digest, url: cardUrl(agent), why, at, since, until, inForce };
}

const extendedView = (each: WaitingExtended, agent: AgentRule): PendingView => ({
  ...withheldExtended(each, agent),
  changes: each.changes.map((change) => ({ ...change })),
  card: JSON.parse(text(each.body)) as unknown,
});

/** Each class once, those that hold the card first. */
function gravestFirst(changes: readonly KeptChange[]): readonly ChangeClass[] {
  const isTaken = ({ action }: KeptChange): number => Number(action === 'allow' || action === 'report');
  return [...new Set(changes.toSorted((one, other) => isTaken(one) - isTaken(other)).map((change) => change.class))];
}

function pendingView(each: Pending, agent: AgentRule, inForce: CardInForce | undefined): PendingView[] {
  const { changes, body } = each.card;
  return withheldView(each, agent, inForce).map((view) => ({
    ...view,
    changes,
    card: JSON.parse(text(body)) as unknown,
  }));
}

type WithheldView = Omit<PendingView, 'changes' | 'card'>;

function withheldView({ card, why }: Pending, agent: AgentRule, inForce: CardInForce | undefined): WithheldView[] {
  // Rejected ones wait for nobody.
  if (why === 'rejected') return [];
  const { variant, digest, url, at, since } = card;
  const until = later(since, agent.review.maxHold);
  return [{ variant, digest, url, why, at, since, until, inForce: inForce?.digest ?? null }];
}

const text = (body: Uint8Array): string => new TextDecoder().decode(body);

const inForceView = ({ variant, digest, url, review, by, verdict, at, receipt }: CardInForce): InForceView => ({
  variant,
  digest,
  url,
  review,
  by,
  signature: verdict.signature,
  verdict,
  at,
  receipt,
});
