/** How much time a card has left, and how spans of time are written. Instants are ms since 1970 by the daemon's clock. */

/** @import { Agent } from './shapes.ts' */

/**
 * @typedef {object} Freshness
 * @property {'none' | 'fresh' | 'stale' | 'ended'} phase `stale`: may still be served; `ended`: the origin must answer first
 * @property {number} share what is left of the phase, 0 to 1
 * @property {number} span ms that are left while fresh, ms since it became stale after that
 */

/**
 * Says how a card stands at an instant. The state that the daemon told may be seconds old: time alone turns fresh into stale.
 * @param {Pick<Agent, 'state' | 'digest' | 'lifetime' | 'freshUntil' | 'staleUntil'>} agent
 * @param {number} now
 * @returns {Freshness}
 */
export function freshnessOf(agent, now) {
  const { state, digest, lifetime, freshUntil, staleUntil } = agent;
  if (digest === null || freshUntil === 0) return { phase: 'none', share: 0, span: 0 };
  const left = freshUntil - now;
  if (left > 0) return { phase: 'fresh', share: shareOf(left, lifetime), span: left };
  const isOver = state === 'expired' || now >= staleUntil;
  const share = isOver ? 0 : shareOf(staleUntil - now, staleUntil - freshUntil);
  return { phase: isOver ? 'ended' : 'stale', share, span: now - freshUntil };
}

/** @param {number} left @param {number} whole */
const shareOf = (left, whole) => (whole > 0 ? Math.min(1, left / whole) : 1);

/**
 * Writes what is left of a card in a few words.
 * @param {Freshness} freshness
 */
export function freshnessText({ phase, span }) {
  switch (phase) {
    case 'none':
      return 'no card';
    case 'fresh':
      return `${spanText(span)} left`;
    case 'stale':
      return `stale for ${spanText(span)}`;
    case 'ended':
      return `ended ${spanText(span)} ago`;
  }
}

/** @type {readonly (readonly [name: string, ms: number])[]} */
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];

/**
 * Writes a span by its two largest units: `2 d 4 h`, `3 m 20 s`, `0 s`. Never longer than it is.
 * @param {number} ms
 */
export function spanText(ms) {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  if (first === -1) return '0 s';
  let rest = ms;
  const parts = UNITS.slice(first, first + 2).map(([name, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? '' : `${count} ${name}`;
  });
  return parts.filter((part) => part !== '').join(' ');
}

/**
 * Writes an instant as a receipt does, to the second: `2026-11-30 12:00:00Z`.
 * @param {number} at
 */
export const instantText = (at) => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}Z`;
