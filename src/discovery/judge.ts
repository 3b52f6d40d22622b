import { type AdmittedCard, admitCard } from '../card/admit.ts';
import type { FaultCode } from '../kernel/faults.ts';
import type { PolicyDigest, Url } from '../kernel/ids.ts';
import { type Outcome, refuse, refused } from '../kernel/refusal.ts';
import { isListed } from '../policy/allowlist.ts';
import type { AgentRule, Rules } from '../policy/rules.ts';
import type { Clock } from '../ports.ts';
import type { Trust } from './trust.ts';

/** A card as an origin gave it. */
export interface GivenCard {
  readonly body: Uint8Array;
  readonly url: Url;
  readonly contentType: string | undefined;
}

/** The verdict, and what it was reached under. */
export interface Judgement {
  readonly outcome: Outcome<AdmittedCard>;
  readonly policy: PolicyDigest;
}

/** Judges a card under today's rules and keys, newer keys fetched where they may help. */
export type Judge = (card: GivenCard, agent: AgentRule) => Promise<Judgement>;

interface Parts {
  readonly clock: Clock;
  readonly trust: Trust;
  readonly rules: () => Rules;
}

/** A refusal for one of these may be due to keys that have changed since they were fetched. */
const OF_KEYS: ReadonlySet<FaultCode> = new Set([
  'keys-unavailable',
  'signature-untrusted',
  'signature-invalid',
  'key-revoked',
]);

/** Keys change once in a rotation; whoever changes them at every look gets no verdict. */
const MOST_TRIES = 4;

export function createJudge({ clock, trust, rules }: Parts): Judge {
  const isAllowed = (url: URL): boolean => isListed(url, rules().allowlist);
  const judgeOnce = async (card: GivenCard, agent: AgentRule): Promise<Judgement> => {
    const { sets, policy } = trust.basis(agent);
    const turn = (): Promise<void> => clock.turn();
    const context = { url: card.url, contentType: card.contentType, rule: agent.card, isAllowed, turn };
    return { outcome: await admitCard(card.body, { ...context, keys: sets, now: clock.now() }), policy };
  };
  return async (card, agent) => {
    let judgement = await judgeOnce(card, agent);
    const { outcome } = judgement;
    if (!outcome.ok && OF_KEYS.has(outcome.refusal.code)) await trust.renew(agent);
    // A verdict that was reached while the keys changed is none: the key may be one of those that are gone.
    for (let tries = 1; judgement.policy !== trust.basis(agent).policy; tries += 1) {
      if (tries === MOST_TRIES) return { ...judgement, outcome: refused(unsteady()) };
      judgement = await judgeOnce(card, agent);
    }
    return judgement;
  };
}

const unsteady = () =>
  refuse('keys-unavailable', 'The keys of the agent changed again and again while its card was being verified.');
