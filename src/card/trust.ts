import type { CardRule } from '../kernel/card-rule.ts';
import type { Verdict } from '../kernel/entry.ts';
import { accepted, type Outcome, refuse, refused } from '../kernel/refusal.ts';
import type { EpochMs } from '../kernel/units.ts';
import type { JsonObject } from './json.ts';
import { isArray, own } from './json.ts';
import type { KeySet } from './keys.ts';
import type { CardVersion } from './version.ts';

/** What a card's signatures are judged by. */
export interface TrustContext {
  readonly rule: CardRule;
  readonly keys: readonly KeySet[];
  readonly now: EpochMs;
}

/** A card as it may be served, and what is known of its signatures. */
export interface TrustedCard {
  readonly card: JsonObject;
  readonly verdict: Verdict;
}

/** Judges a card's signatures as the agent's rule demands (contract, section 4). */
export async function judgeSignatures(card: JsonObject, version: CardVersion, context: TrustContext): Promise<Outcome<TrustedCard>> {
  const { rule } = context;
  if (rule.signature === 'off') return accepted({ card, verdict: { signature: 'off' } });
  const signatures = own(card, 'signatures');
  if (!isArray(signatures) || signatures.length === 0) {
    return rule.signature === 'require'
      ? refused(refuse('signature-required', 'The card has no signatures; signature: require asks for one.'))
      : accepted({ card, verdict: { signature: 'unsigned' } });
  }
  if (rule.signature === 'if-present' && rule.keys.length === 0 && rule.jku.length === 0) {
    return accepted({ card, verdict: { signature: 'unverified', why: 'no-keys' } });
  }
  return refused(refuse('signature-untrusted', `No key of the agent verifies this ${version} card.`));
}
