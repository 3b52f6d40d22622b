import { classesOf } from '../card/gate.ts';
import { viewOfBody } from '../card/view.ts';
import { fieldValue } from '../http/fields.ts';
import { variantKey } from '../http/vary.ts';
import type { ChangeClass } from '../kernel/change.ts';
import type { Admission, Entry } from '../kernel/entry.ts';
import type { Review } from '../kernel/outcome.ts';
import { type Outcome, accepted, refuse, refused } from '../kernel/refusal.ts';
import type { CardVariant } from '../kernel/review.ts';
import { isHeldByRegistry } from '../policy/registered.ts';
import type { AgentRule } from '../policy/rules.ts';
import { CARD_REQUESTS } from './card-request.ts';
import { variantOf } from './offer.ts';
import type { Occasion, Reviews } from './reviews.ts';

/** A stored card's place in today's reviews. */
export interface Standing {
  readonly review: Review;
  readonly changes: readonly ChangeClass[];
}

/**
 * Says whether a stored card may still be served: it must be the one in force. One that no review knows of is decided on as if its
 * origin offered it now. Where the ledger cannot be read, it stands as it was stored: it was decided on when it could be.
 */
export async function standingOf(
  reviews: Reviews,
  stored: Entry & { readonly admission: Admission },
  { agent, occasion }: { readonly agent: AgentRule; readonly occasion: Occasion },
): Promise<Outcome<Standing>> {
  const { admission } = stored;
  if (!(await reviews.load([agent]))) return accepted({ review: admission.review, changes: [] });
  const variant = variantOfEntry(stored);
  const inForce = reviews.inForce(agent, variant);
  if (inForce?.digest === admission.digest) {
    const waits = reviews.pending(agent).some(({ card }) => concerns(card.variant, variant));
    return accepted({ review: waits || isHeldByRegistry(agent) ? 'held' : inForce.review, changes: [] });
  }
  if (inForce !== undefined && reviews.history(agent).some(({ digest }) => digest === admission.digest))
    return refused(refuse('change-held', 'Another card has been taken since this one was stored.'));
  return offerAnew(reviews, stored, { agent, variant, occasion });
}

interface Anew {
  readonly agent: AgentRule;
  readonly variant: CardVariant;
  readonly occasion: Occasion;
}

async function offerAnew(
  reviews: Reviews,
  stored: Entry & { readonly admission: Admission },
  { agent, variant, occasion }: Anew,
): Promise<Outcome<Standing>> {
  const { digest, verdict } = stored.admission;
  const decided = await reviews.offer(
    {
      agent,
      variant,
      version: variant === 'any' ? null : variant,
      card: { body: stored.body, digest, verdict },
      view: () => viewOfBody(stored.body) ?? {},
      contentType: fieldValue(stored.fields, 'content-type') ?? 'application/json',
      servable: true,
    },
    occasion,
  );
  if (!decided.ok) return decided;
  const { ruling, taken } = decided.value;
  const changes = classesOf(ruling.changes);
  if (taken) return accepted({ review: decided.value.inForce.review, changes });
  const code = ruling.why === 'first-use' ? 'first-use-held' : 'change-held';
  return refused(refuse(code, `The card ${digest} waits for review: cardea review ${agent.name}.`));
}

/** Whom a stored answer is for, by the request that selects it. */
export function variantOfEntry({ vary, variant }: Pick<Entry, 'vary' | 'variant'>): CardVariant {
  const asked = Object.values(CARD_REQUESTS).find(({ read }) => variantKey(vary, read) === variant);
  return asked === undefined ? 'any' : variantOf(vary, asked.version);
}

const concerns = (one: CardVariant, other: CardVariant): boolean => one === 'any' || other === 'any' || one === other;
