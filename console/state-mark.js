import { Text } from './stranger-text.js';
import { html } from './view.js';

/** @import { Verdict } from './shapes.ts' */

/** @type {Readonly<Record<string, readonly [label: string, means: string]>>} */
const STATES = {
  killed: ['Stopped', 'The kill switch stops it. Lift the stop on the switch’s page.'],
  revoked: ['Revoked', 'What its registry says stops it, until the registry says otherwise.'],
  missing: [
    'Missing',
    'No accepted card of it is held: the origin must answer first, or its first card must be approved.',
  ],
  held: [
    'Held',
    'The card in force is served. Another one waits for a decision, or the registry lets no other one be taken.',
  ],
  expired: ['Expired', 'Its card is older than the rules allow: the origin must answer first.'],
  stale: ['Stale', 'Its card is served past its time, within what the rules allow.'],
  fresh: ['Fresh', 'Its card is served, and is as its origin said lately.'],
};

/** @param {string} state */
export const labelOf = (state) => STATES[state]?.[0] ?? state;
/** @param {string} state */
export const meaningOf = (state) => STATES[state]?.[1] ?? '';

/**
 * The state of a card: a shape, a colour and a word, so that none of the three is needed.
 * @param {{ readonly state: string }} props
 */
export const StateMark = ({ state }) =>
  html`<span class="state" data-state=${state} title=${meaningOf(state)}><i aria-hidden="true" />${labelOf(state)}</span>`;

/** @type {Readonly<Record<Verdict['signature'], string>>} */
const VERDICTS = {
  verified: 'Signed by a key that is trusted for this agent.',
  unsigned: 'The card carries no signature.',
  unverified: 'The card is signed, and nothing here says by which keys it may be: set keys or jku.',
  off: 'Signatures are not looked at for this agent.',
};

/**
 * What is known of a card's signatures, and by which key.
 * @param {{ readonly verdict: Verdict | null }} props
 */
export const VerdictMark = ({ verdict }) =>
  verdict === null
    ? html`<span class="dim">–</span>`
    : html`<span class="signed"><span class="verdict" data-verdict=${verdict.signature} title=${VERDICTS[verdict.signature]}><i aria-hidden="true" />${verdict.signature}</span>${
        verdict.kid !== undefined && html` <span class="mono dim"><${Text} value=${verdict.kid} room=${40} /></span>`
      }</span>`;

/** @type {Readonly<Record<string, string>>} */
const REVIEWS = {
  approved: 'A person or a pin approved the card that is served.',
  allowed: 'The rule took the card that is served.',
  'first-use': 'It is the first card that was seen, and the rule took it.',
  held: 'The card in force is served; another one waits, or the registry lets no other one be taken.',
};

/**
 * How the card that is served came to be served.
 * @param {{ readonly reviewed: string | null }} props
 */
export const ReviewMark = ({ reviewed }) =>
  reviewed === null
    ? html`<span class="dim">–</span>`
    : html`<span title=${REVIEWS[reviewed] ?? ''}>${reviewed}</span>`;
