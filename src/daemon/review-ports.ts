import type { InForceView, PendingView, ReviewPorts, ReviewView } from '../admin/ports.ts';
import type { Discovery } from '../discovery/discovery.ts';
import type { Pending } from '../discovery/reviews.ts';
import { refuse, refused } from '../kernel/refusal.ts';
import { later } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { CardInForce } from '../ports.ts';

interface Parts {
  readonly discovery: Discovery;
}

/** What the admin API sees of reviews, and how it decides them. */
export function createReviewPorts({ discovery }: Parts): ReviewPorts {
  return {
    of(agent) {
      const rule = discovery.rules().agents.get(agent);
      return rule === undefined ? undefined : reviewView(discovery, rule);
    },
    async decide({ agent: name, action, ...order }) {
      const agent = discovery.rules().agents.get(name);
      if (agent === undefined) return refused(refuse('unknown-agent', 'No agent of this name is configured.'));
      const { desk } = discovery;
      return action === 'approve' ? desk.approve({ ...order, agent }) : desk.reject({ ...order, agent });
    },
  };
}

function reviewView({ reviews, suspended }: Discovery, agent: AgentRule): ReviewView {
  const { firstUse, maxHold, pins, actions } = agent.review;
  const history = reviews.history(agent).toReversed();
  const variants = new Set(history.map(({ variant }) => variant));
  return {
    rule: { firstUse, maxHold, pins: [...pins], actions: Object.fromEntries(actions) },
    suspended: suspended(agent)?.detail ?? null,
    pending: reviews
      .pending(agent)
      .flatMap((each) => pendingView(each, agent, reviews.inForce(agent, each.card.variant))),
    inForce: [...variants].flatMap((variant) => {
      const card = reviews.inForce(agent, variant);
      return card?.variant === variant ? [inForceView(card)] : [];
    }),
    history: history.map(inForceView),
    decisions: reviews.decisions(agent).toReversed(),
  };
}

function pendingView({ card, why }: Pending, agent: AgentRule, inForce: CardInForce | undefined): PendingView[] {
  // Rejected ones wait for nobody.
  if (why === 'rejected') return [];
  const { variant, digest, url, at, since, changes, body } = card;
  const until = later(since, agent.review.maxHold);
  const served = inForce?.digest ?? null;
  return [
    { variant, digest, url, why, at, since, until, inForce: served, changes, card: JSON.parse(text(body)) as unknown },
  ];
}

const text = (body: Uint8Array): string => new TextDecoder().decode(body);

const inForceView = ({ variant, digest, url, review, by, verdict, at, receipt }: CardInForce): InForceView => ({
  variant,
  digest,
  url,
  review,
  by,
  signature: verdict.signature,
  at,
  receipt,
});
