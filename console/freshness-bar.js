import { freshnessOf, freshnessText, instantText, spanText } from './freshness.js';
import { writeText } from './ticker.js';
import { html, useLayoutEffect, useRef } from './view.js';

/** @import { Agent } from './shapes.ts' */
/** @import { Ticker } from './ticker.js' */

/** The bar is this many steps long: what moves less than one of them is not painted. */
const STEPS = 100;

/**
 * A bar that runs down while a card is fresh, and the words for it. Both are painted outside of the views: a second passes for
 * hundreds of rows, and none of them is drawn again for it.
 * @param {{ readonly agent: Agent, readonly ticker: Ticker }} props
 */
export function FreshnessBar({ agent, ticker }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const { current } = place;
    return current === null ? undefined : ticker.watch(current, (now) => paint(current, agent, now));
  }, [agent]);
  return html`<span class="freshness" ref=${place}><span class="bar" aria-hidden="true"><i /></span><span class="left" /></span>`;
}

/** @param {HTMLElement} place @param {Agent} agent @param {number} now */
function paint(place, agent, now) {
  const freshness = freshnessOf(agent, now);
  const share = String(Math.ceil(freshness.share * STEPS) / STEPS);
  if (place.dataset['phase'] !== freshness.phase) place.dataset['phase'] = freshness.phase;
  if (place.style.getPropertyValue('--share') !== share) place.style.setProperty('--share', share);
  const words = place.querySelector('.left');
  if (words !== null) writeText(words, freshnessText(freshness));
}

/**
 * How long ago something was, counted on.
 * @param {{ readonly at: number, readonly ticker: Ticker, readonly never?: string }} props
 */
export function Since({ at, ticker, never = 'never' }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    return ticker.watch(current, (now) => writeText(current, at === 0 ? never : spanText(Math.max(0, now - at))));
  }, [at]);
  return html`<time ref=${place} datetime=${at === 0 ? undefined : new Date(at).toISOString()} title=${at === 0 ? undefined : instantText(at)} />`;
}
