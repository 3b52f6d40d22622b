import type { RouteTable } from '../policy/route.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';
import type { ReviewDesk } from './review-desk.ts';
import type { Reviews } from './reviews.ts';

interface Parts {
  readonly reviews: Reviews;
  readonly desk: ReviewDesk;
}

/** What is in force now. */
interface Today {
  readonly rules: Rules;
  readonly routes: RouteTable;
}

/** The rules of today for the cards without a name of which something waits. */
export const unnamedWaiting = (reviews: Reviews, { routes }: Today): readonly AgentRule[] =>
  reviews.unnamed().flatMap((url) => {
    const place = routes.find(url);
    return place.is === 'card' && place.agent.by !== null ? [place.agent] : [];
  });

/** Asks again about what waits, after other rules were adopted: a pin may have approved it. Of cards without a name, only what a pin names. */
export function lookAgain({ reviews, desk }: Parts, today: Today): void {
  const named = [...today.rules.agents.values()].filter((agent) => reviews.pending(agent).length > 0);
  const pinned = unnamedWaiting(reviews, today).filter((agent) =>
    reviews.pending(agent).some(({ card }) => agent.review.pins.has(card.digest)),
  );
  for (const agent of [...named, ...pinned]) void desk.lookAgain(agent);
}
