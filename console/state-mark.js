import { html } from './view.js';

/** @type {Readonly<Record<string, readonly [label: string, means: string]>>} */
const STATES = {
  killed: ['Stopped', 'The kill switch stops it. Lift the stop on the switch’s page.'],
  revoked: ['Revoked', 'Its registry has revoked it.'],
  missing: [
    'Missing',
    'No accepted card of it is held: the origin must answer first, or its first card must be approved.',
  ],
  held: ['Held', 'The approved card is served while another one waits for a decision.'],
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

/** @type {Readonly<Record<string, string>>} */
const VERDICTS = {
  verified: 'Signed by a key that is trusted for this agent.',
  unsigned: 'The card carries no signature.',
  unverified: 'The card is signed, and nothing here says by which keys it may be: set keys or jku.',
  off: 'Signatures are not looked at for this agent.',
};

/**
 * What is known of a card's signatures.
 * @param {{ readonly verdict: string | null }} props
 */
export const VerdictMark = ({ verdict }) =>
  verdict === null
    ? html`<span class="dim">–</span>`
    : html`<span class="verdict" data-verdict=${verdict} title=${VERDICTS[verdict] ?? ''}><i aria-hidden="true" />${verdict}</span>`;
