import { type Ruling, classesOf } from '../card/gate.ts';
import type { Event } from '../kernel/event.ts';
import type { AgentName } from '../kernel/ids.ts';
import type { Refusal } from '../kernel/refusal.ts';
import type { Offer } from './offer.ts';
import type { Occasion, Pending } from './reviews.ts';

/** What the log says of reviews. */

/** Says that a card was taken with a change that the rule wants to be told of; nothing where there is none. */
export function reported(
  { agent, card }: Offer,
  { changes }: Extract<Ruling, { taken: true }>,
  { receipt }: Occasion,
): Event | undefined {
  const told = changes.filter(({ action }) => action === 'report');
  if (told.length === 0) return undefined;
  const about = { agent: agent.name, classes: classesOf(told), digest: card.digest, receipt };
  return { kind: 'notice', level: 'warn', msg: 'a changed card was taken', about };
}

/** Said once per card: whoever reviews hears of it where they look for trouble. */
export const notTaken = ({ card, why }: Pending, { receipt }: Occasion): Event => ({
  kind: 'notice',
  level: 'warn',
  msg: why === 'blocked' ? 'a changed card is blocked' : 'a card waits for review',
  about: { agent: card.agent, variant: card.variant, digest: card.digest, classes: classesOf(card.changes), receipt },
});

export const unwritten = (agent: AgentName, { detail }: Refusal): Event => ({
  kind: 'notice',
  level: 'error',
  msg: 'what was decided about a card cannot be written: a restart will decide anew',
  about: { agent, error: detail },
});
