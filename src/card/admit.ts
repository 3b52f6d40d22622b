import type { CardRule } from '../kernel/card-rule.ts';
import type { CardFacts, Verdict } from '../kernel/entry.ts';
import type { CardDigest, Url } from '../kernel/ids.ts';
import { accepted, type Outcome, refused } from '../kernel/refusal.ts';
import type { EpochMs } from '../kernel/units.ts';
import { refuseContradiction } from './agreement.ts';
import { refuseContentType } from './content-type.ts';
import { digestCard, digestCardText } from './digest.ts';
import { refuseExtensions } from './extensions.ts';
import { factsOf } from './facts.ts';
import type { Neighbourhood } from './interface-hosts.ts';
import { refuseCrowd, refuseInterfaces } from './interface-hosts.ts';
import { everyOf, listingOf } from './interfaces.ts';
import type { JsonObject } from './json.ts';
import type { KeySet } from './keys.ts';
import type { NormalisedCard } from './normalise.ts';
import { normaliseCard } from './normalise.ts';
import { parseCard } from './parse.ts';
import { checkSchema } from './schema-level.ts';
import { refuseUncarried } from './rewrite.ts';
import { judgeSignatures } from './trust.ts';
import { type CardVersion, recogniseVersion } from './version.ts';

/** All that a card is judged by; the same bytes under the same context give the same outcome. */
export interface AdmitContext {
  /** The URL that answered with the card. */
  readonly url: Url;
  readonly contentType: string | undefined;
  readonly rule: CardRule;
  /** The key sets of the agent, and those behind the `jku` URLs that its rule allows. */
  readonly keys: readonly KeySet[];
  readonly now: EpochMs;
  /** Tells whether an interface's URL is on the allowlist; without it nothing is. */
  readonly isAllowed?: (url: URL) => boolean;
  /** Lets others have their turn, between two steps of a card that takes long; without it all is done in one. */
  readonly turn?: () => Promise<void>;
}

/** A card of so many bytes is admitted in about three milliseconds: nobody waits for that. A larger one goes step by step. */
const LARGEST_AT_ONCE = 64 * 1024;

/** A card that may be served. */
export interface AdmittedCard {
  /** What is served: the very bytes that came, unless members outside the signature were dropped. */
  readonly body: Uint8Array;
  readonly digest: CardDigest;
  readonly verdict: Verdict;
  readonly facts: CardFacts;
  /** What a stricter reading would refuse. */
  readonly warnings: readonly string[];
  /** What is served, as it is written, and the version that it is of: `admittedView` reads them. */
  readonly card: JsonObject;
  readonly version: CardVersion;
}

/** Decides whether a card may be served: each step may refuse it, and the first refusal stands. Nothing is decrypted or dialled. */
export async function admitCard(body: Uint8Array, context: AdmitContext): Promise<Outcome<AdmittedCard>> {
  const { rule } = context;
  const turn = body.byteLength > LARGEST_AT_ONCE ? context.turn : undefined;
  const wrongType = refuseContentType(context.contentType);
  if (wrongType !== undefined) return refused(wrongType);

  const parsed = parseCard(body, rule);
  if (!parsed.ok) return parsed;

  if (turn !== undefined) await turn();
  const version = recogniseVersion(parsed.value, rule);
  if (!version.ok) return version;

  const schema = checkSchema(parsed.value, version.value, rule);
  if (!schema.ok) return schema;

  if (turn !== undefined) await turn();
  const listing = listingOf(parsed.value);
  const interfaces = everyOf(listing);
  const refusal =
    refuseCrowd(interfaces) ??
    refuseContradiction(parsed.value, listing) ??
    refuseExtensions(parsed.value, rule) ??
    refuseInterfaces(interfaces, neighbourhood(context)) ??
    refuseUncarried(parsed.value, rule);
  if (refusal !== undefined) return refused(refusal);

  if (turn !== undefined) await turn();
  const trusted = await judgeSignatures(parsed.value, version.value, context);
  if (!trusted.ok) return trusted;

  const { card, verdict, text } = trusted.value;
  const isWhole = card === parsed.value;
  // Without the members that were dropped, the card may be one of another version.
  const served = isWhole ? version : recogniseVersion(card, rule);
  if (!served.ok) return served;

  if (turn !== undefined) await turn();
  return accepted({
    body: isWhole ? body : new TextEncoder().encode(JSON.stringify(card)),
    digest: text === undefined ? digestCard(card) : digestCardText(text),
    verdict,
    facts: factsOf(card, served.value, rule),
    warnings: schema.value,
    card,
    version: served.value,
  });
}

/** Makes the 1.0 view of an admitted card: whoever does not look at it need not wait for it. */
export const admittedView = ({ card, version }: Pick<AdmittedCard, 'card' | 'version'>): NormalisedCard =>
  normaliseCard(card, version);

const neighbourhood = ({ url, rule, isAllowed = () => false }: AdmitContext): Neighbourhood => ({
  cardUrl: new URL(url),
  rule,
  isAllowed,
});
