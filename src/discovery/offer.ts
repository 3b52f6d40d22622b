import type { AdmittedCard } from '../card/admit.ts';
import { type CardChange, changeOf } from '../card/diff/change.ts';
import { diffCards } from '../card/diff/diff.ts';
import { diffSigners } from '../card/diff/signers.ts';
import { supportedInterfaces } from '../card/interfaces.ts';
import type { JsonObject } from '../card/json.ts';
import { viewOfBody } from '../card/view.ts';
import type { CallerVersion } from '../kernel/ask.ts';
import type { Url } from '../kernel/ids.ts';
import type { CardVariant } from '../kernel/review.ts';
import type { AgentRule } from '../policy/rules.ts';
import type { CardInForce } from '../ports.ts';

/** A card as an origin offers it now: judged, and not yet decided on. */
export interface Offer {
  readonly agent: AgentRule;
  /** Whom the origin's answer is for, and who asked. */
  readonly variant: CardVariant;
  readonly version: CallerVersion | null;
  readonly card: Pick<AdmittedCard, 'body' | 'digest' | 'verdict'>;
  /** Its 1.0 view. */
  readonly view: () => JsonObject;
  readonly contentType: string;
  /** False where its origin forbids to store it. */
  readonly servable: boolean;
}

/** Says whom an answer is for: where the origin does not vary on the version of A2A, it is for all. */
export const variantOf = (vary: readonly string[], version: CallerVersion): CardVariant =>
  vary.some((name) => name === '*' || name === 'a2a-version') ? version : 'any';

/** Where the configuration says that an agent's card is: the first of its URLs names it. */
export function cardUrl({ name, cards }: Pick<AgentRule, 'name' | 'cards'>): Url {
  const [first] = cards;
  if (first === undefined) throw new Error(`agent ${name} has no card URL`);
  return first;
}

/** What a card in force is compared by; reading it again would cost as much as judging a card. */
const views = new WeakMap<CardInForce, JsonObject>();

function viewOf(card: CardInForce): JsonObject {
  let view = views.get(card);
  // What cannot be read any more says nothing, so that everything in the new card is a change.
  if (view === undefined) views.set(card, (view = viewOfBody(card.body) ?? {}));
  return view;
}

/** Lists what an offered card says otherwise than the one in force, who vouches for it and where it is included. */
export function changesSince(inForce: CardInForce, { agent, card, view }: Offer): readonly CardChange[] {
  const isSame = inForce.digest === card.digest;
  const url = cardUrl(agent);
  const pair = { oldPointer: '', pointer: '', before: inForce.url, after: url };
  return [
    ...(isSame ? [] : diffCards(viewOf(inForce), view())),
    ...diffSigners(inForce.verdict, card.verdict),
    ...(inForce.url === url ? [] : [changeOf(pair, 'endpoint', { of: 'card-url' })]),
  ];
}

/**
 * The same for a variant that was never seen, against another variant's card: that it speaks another version of A2A, at places that
 * are known, is what it was asked for. Whatever else differs is a change like any other, so that an origin does not get round a
 * review by beginning to vary.
 */
export function changesAcross(inForce: CardInForce, offer: Offer): readonly CardChange[] {
  const known = new Set(placesIn(viewOf(inForce)));
  const staysThere = placesIn(offer.view()).every((place) => known.has(place));
  return changesSince(inForce, offer).filter(
    ({ class: of, of: what }) => of !== 'protocol' && !(of === 'endpoint' && what === undefined && staysThere),
  );
}

const placesIn = (view: JsonObject): readonly string[] =>
  supportedInterfaces(view).map(({ url, tenant }) => JSON.stringify([url, tenant ?? '']));
