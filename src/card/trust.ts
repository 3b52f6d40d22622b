import type { CardRule } from '../kernel/card-rule.ts';
import type { Verdict } from '../kernel/entry.ts';
import type { FaultCode } from '../kernel/faults.ts';
import { accepted, type Outcome, refuse, refused } from '../kernel/refusal.ts';
import type { CanonicalCard } from './canonical.ts';
import { canonicalForms } from './canonical.ts';
import { coverageOf } from './coverage.ts';
import type { JsonObject } from './json.ts';
import { isArray, own, showPointer } from './json.ts';
import type { Match, Miss, VerifyContext } from './signatures.ts';
import { verifySignatures } from './signatures.ts';
import type { CardVersion } from './version.ts';

/** What a card's signatures are judged by. */
export interface TrustContext extends VerifyContext {
  readonly rule: CardRule;
}

/** A card as it may be served, and what is known of its signatures. */
export interface TrustedCard {
  /** The very object that came, unless members were dropped. */
  readonly card: JsonObject;
  readonly verdict: Verdict;
  /** What the card's digest is over, where it was made to verify a signature. */
  readonly text?: string | undefined;
}

/** Judges a card's signatures as the agent's rule demands. */
export async function judgeSignatures(
  card: JsonObject,
  version: CardVersion,
  context: TrustContext,
): Promise<Outcome<TrustedCard>> {
  const { rule } = context;
  if (rule.signature === 'off') return accepted({ card, verdict: { signature: 'off' } });
  const signatures = own(card, 'signatures');
  if (!isArray(signatures) || signatures.length === 0) return judgeUnsigned(card, rule);
  if (rule.keys.length === 0 && rule.jku.length === 0) return judgeWithoutKeys(card, rule);

  const report = await verifySignatures(signatures, canonicalForms(card, version), context);
  const vouching = distinctKeys(report.matches).slice(0, rule.signatures);
  if (vouching.length < rule.signatures) return refused(refuseMisses(report.misses, vouching.length, rule.signatures));
  return serveCovered(card, vouching, rule);
}

function judgeUnsigned(card: JsonObject, rule: CardRule): Outcome<TrustedCard> {
  if (rule.signature === 'if-present') return accepted({ card, verdict: { signature: 'unsigned' } });
  return refused(
    refuse('signature-required', "The card has no signatures, and the agent's rule is signature: require."),
  );
}

function judgeWithoutKeys(card: JsonObject, rule: CardRule): Outcome<TrustedCard> {
  if (rule.signature === 'if-present') return accepted({ card, verdict: { signature: 'unverified', why: 'no-keys' } });
  return refused(
    refuse('signature-untrusted', 'The card is signed, but the agent has neither keys nor jku to verify it with.'),
  );
}

/** One key that signs twice is one voice; of its signatures the one that covers most counts. Most covering first. */
function distinctKeys(matches: readonly Match[]): readonly Match[] {
  const sorted = matches.toSorted((one, other) => one.canonical.left.length - other.canonical.left.length);
  const byKey = new Map<string, Match>();
  for (const match of sorted) if (!byKey.has(match.thumbprint)) byKey.set(match.thumbprint, match);
  return [...byKey.values()];
}

/** Serves what every one of the counted signatures covers. */
function serveCovered(card: JsonObject, vouching: readonly Match[], rule: CardRule): Outcome<TrustedCard> {
  const coverage = coverageOf(
    card,
    vouching.flatMap(({ canonical }) => canonical.left),
  );
  switch (coverage.is) {
    case 'whole':
      return accepted({
        card,
        verdict: { signature: 'verified', ...signerOf(vouching) },
        text: vouching.find(({ canonical }) => canonical.isPlain)?.canonical.text,
      });
    case 'partial':
      if (coverage.dropped.length > MAX_DROPPED)
        return refused(refuseUncovered(coverage.dropped, `there are more than ${MAX_DROPPED} such members`));
      return rule.uncovered === 'drop'
        ? accepted({
            card: coverage.card,
            verdict: { signature: 'verified', ...signerOf(vouching), dropped: coverage.dropped.map(showPointer) },
          })
        : refused(refuseUncovered(coverage.dropped, 'uncovered: refuse takes no such card'));
    case 'lacking':
      return rule.signature === 'if-present' && rule.uncovered === 'drop'
        ? accepted({ card, verdict: { signature: 'unverified', why: 'uncovered', ...signerOf(vouching) } })
        : refused(refuseUncovered(coverage.missing, 'without it the card cannot be used'));
  }
}

/** The signer whose form covers least stands for all that are counted: the verdict is no better than it. */
function signerOf(vouching: readonly Match[]): Pick<Verdict, 'kid' | 'alg' | 'keys' | 'form'> {
  const last = vouching.at(-1);
  return last === undefined
    ? {}
    : { kid: last.kid, alg: last.alg, keys: last.keys, form: last.canonical.form satisfies CanonicalCard['form'] };
}

const NAMED = 5;

/** What is dropped is listed in a response field and in receipts; a card with more outside its signature than this is no honest one. */
const MAX_DROPPED = 64;

function refuseUncovered(pointers: readonly string[], why: string) {
  const named = pointers.slice(0, NAMED).map(showPointer).join(', ');
  const more = pointers.length > NAMED ? ` and ${pointers.length - NAMED} more` : '';
  return refuse(
    'signature-invalid',
    `${named}${more}: not covered by the signature, and ${why}. Sign the card in the specification's form.`,
  );
}

/** The worst that was found names the refusal: what an operator must know first. */
const CODES: readonly (readonly [Miss['why'], FaultCode])[] = [
  ['revoked', 'key-revoked'],
  ['invalid', 'signature-invalid'],
  ['malformed', 'signature-invalid'],
  ['unavailable', 'keys-unavailable'],
  ['expired', 'signature-untrusted'],
  ['untrusted', 'signature-untrusted'],
];

function refuseMisses(misses: readonly Miss[], have: number, need: number) {
  const [, code] = CODES.find(([why]) => misses.some((miss) => miss.why === why)) ?? [];
  const count = need > 1 ? ` ${have} of ${need} distinct trusted keys hold.` : '';
  const named = misses
    .slice(0, NAMED)
    .map((miss) => `/signatures/${miss.index}: ${miss.detail}`)
    .join('. ');
  if (code === undefined)
    return refuse('signature-required', `The card needs signatures by ${need} distinct trusted keys; ${have} hold.`);
  return refuse(code, `${named}.${count}`);
}
