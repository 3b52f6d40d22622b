import type { FaultCode } from './faults.ts';

/** The closed vocabulary: each member is the log field and the metric label as it stands. */

/** What kind of thing was asked for (`cardea_requests_total{kind}`). */
export const REQUEST_KINDS = ['public', 'extended', 'forwarded', 'other'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

/** How a request ended (`cardea_requests_total{result}`). */
export const REQUEST_RESULTS = [
  'hit', // from the cache, fresh
  'hit_stale_swr', // stale, while a refresh runs behind it
  'hit_stale_error', // stale, because the origin failed
  'revalidated', // the origin said 304 for this request
  'miss', // fetched for this request
  'collapsed', // waited for another request's fetch
  'not_modified', // answered 304 to the caller's own validator, from the cache
  'forwarded', // passed through, nothing cached
  'denied', // refused with a problem
  'killed', // refused by the kill switch
  'error', // an origin or Cardea failed
] as const;
export type RequestResult = (typeof REQUEST_RESULTS)[number];

/** How an exchange with an origin ended (`cardea_fetch_total{outcome}`). */
export const FETCH_OUTCOMES = [
  'stored', // a full answer that was admitted and stored
  'not_modified', // 304: what is stored was validated
  'uncacheable', // admitted and served once, not stored
  'held', // the card has changed and is not taken; the one in force is served, where there is one
  'rejected', // the card was refused
  'status', // the origin answered with another status
  'failed', // no complete answer came
  'denied', // egress policy refused before anything was sent
  'superseded', // a purge or kill came in between; thrown away
] as const;
export type FetchOutcome = (typeof FETCH_OUTCOMES)[number];

/** The state of an agent's card, most urgent first; exactly the first that holds (`cardea_card_state`). */
export const CARD_STATES = ['killed', 'revoked', 'missing', 'held', 'expired', 'stale', 'fresh'] as const;
export type CardState = (typeof CARD_STATES)[number];

/** What is known of a card's signatures (`Card-Status`, `cardea_card_signature`). */
export const SIGNATURE_VERDICTS = ['verified', 'unsigned', 'unverified', 'off'] as const;
export type SignatureVerdict = (typeof SIGNATURE_VERDICTS)[number];

/** Why a signed card is not called verified, where serving goes on. */
export type UnverifiedWhy = 'no-keys' | 'uncovered';

/** How a card came to be served (`Card-Status` review). */
export const REVIEWS = [
  'approved', // a person or a pin
  'allowed', // policy
  'first-use', // nothing was known before
  'held', // this is the approved card; a newer one waits
] as const;
export type Review = (typeof REVIEWS)[number];

/** Why something was sent on (`Cache-Status` fwd, RFC 9211 §2.2). */
export type ForwardWhy = 'bypass' | 'method' | 'uri-miss' | 'vary-miss' | 'miss' | 'request' | 'stale' | 'partial';

/** `Cache-Status` detail: why an answer is stale. */
export type CacheDetail = 'stale-while-revalidate' | 'stale-if-error';

/** The codes by which egress policy says no (`cardea_egress_denied_total{reason}`). */
export const EGRESS_DENIALS: readonly FaultCode[] = [
  'address-forbidden',
  'origin-not-allowed',
  'lookalike-origin',
  'redirect-refused',
];

/** What an exchange is for; its bounds and its metric differ by it. */
export type Purpose = 'card' | 'keys' | 'token' | 'registry' | 'forward' | 'any';
