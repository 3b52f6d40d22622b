import type { AdmittedCard } from '../card/admit.ts';
import { strongEtag } from '../http/answer.ts';
import { lifetimeOf } from '../http/freshness.ts';
import { variantKey } from '../http/vary.ts';
import type { Entry } from '../kernel/entry.ts';
import type { Generation, PolicyDigest } from '../kernel/ids.ts';
import { type EpochMs, between, ms } from '../kernel/units.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { CardInForce } from '../ports.ts';
import { CARD_REQUESTS } from './card-request.ts';
import { agentCardKey, cardTags } from './key.ts';

/** A card that is in force, judged under today's rules. */
export interface InForceToday {
  readonly inForce: CardInForce;
  readonly card: Pick<AdmittedCard, 'body' | 'digest' | 'verdict' | 'facts' | 'warnings'>;
  readonly policy: PolicyDigest;
  /** When its origin gave it. */
  readonly givenAt: EpochMs;
}

/** Makes the entry of a card that no response has brought now: without validators, as old as it is, with the lifetime that the rule gives. */
export function entryInForce(
  agent: AgentRule,
  { inForce, card, policy, givenAt }: InForceToday,
  { now, generation }: { readonly now: EpochMs; readonly generation: Generation },
): Entry {
  const { url, contentType, receipt, review, variant } = inForce;
  const vary = variant === 'any' ? [] : ['a2a-version'];
  const fields = ['Content-Type', contentType];
  const { body, digest, verdict, facts, warnings } = card;
  const { dropped } = inForce.verdict;
  return {
    key: agentCardKey(agent),
    variant: variantKey(vary, CARD_REQUESTS[variant === 'any' ? '1.0' : variant].read),
    vary,
    agent: agent.name,
    url,
    status: 200,
    fields,
    body,
    etag: strongEtag(body),
    requestedAt: now,
    receivedAt: now,
    initialAge: ms(Math.max(0, between(givenAt, now))),
    lifetime: lifetimeOf({ status: 200, fields, receivedAt: now }, agent.cache),
    admission: {
      digest,
      // What is kept has lost what the signature does not cover, so that it looks whole.
      verdict: dropped === undefined ? verdict : { ...verdict, dropped },
      review,
      facts,
      policy,
      receipt,
      at: inForce.at,
      warnings,
    },
    generation,
    tags: cardTags(agent, [url], verdict.kid),
  };
}
