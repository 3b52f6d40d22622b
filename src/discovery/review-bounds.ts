import type { AgentName } from '../kernel/ids.ts';
import type { Page } from './review-page.ts';

/**
 * How much is remembered of cards without a name that nobody has decided on. Whoever may ask for any URL that a rule covers could
 * otherwise fill memory and disk. What a person or a pin decided is never among what is forgotten.
 */

interface Bound {
  readonly pages: number;
  readonly bytes: number;
}

/** First cards that wait: what a person can look through, some 1.3 MB of usual cards. */
const AWAITED: Bound = { pages: 256, bytes: 8 * 1_048_576 };
/** Cards that the rule took by itself, to compare the next ones with; apart, so that what waits makes none of them forgotten. */
const KNOWN: Bound = { pages: 1_024, bytes: 32 * 1_048_576 };
/** A card that waits is kept with its changes, which hold what was and what is. */
const HELD_FACTOR = 3;

/** True for what is named by its URL: the names of agents have no colon. */
export const isUnnamed = (name: AgentName): boolean => name.includes(':');

/**
 * Lists what must be forgotten. Of the origin that has the most goes the page that changed longest ago, so that one origin cannot
 * push out what is known of the others.
 * @param pages those that changed last come last.
 * @param newest never listed, however large it is.
 */
export function pagesBeyondBounds(pages: ReadonlyMap<AgentName, Page>, newest: AgentName): readonly AgentName[] {
  const undecided = [...pages].filter(([name, page]) => isUnnamed(name) && !isDecided(page)).map(sized);
  const { awaited = [], known = [] } = Object.groupBy(undecided, ({ isTaken }) => (isTaken ? 'known' : 'awaited'));
  return [...beyond(awaited, AWAITED, newest), ...beyond(known, KNOWN, newest)];
}

/** Somebody's word stands behind it. */
const isDecided = ({ decisions, inForce }: Page): boolean =>
  decisions.length > 0 || inForce.some(({ by }) => by === 'pin');

interface Sized {
  readonly name: AgentName;
  readonly bytes: number;
  readonly isTaken: boolean;
}

function sized([name, { inForce, pending }]: readonly [AgentName, Page]): Sized {
  const taken = inForce.reduce((sum, { body }) => sum + body.length, 0);
  const waits = [...pending.values()].reduce((sum, { card }) => sum + HELD_FACTOR * card.body.length, 0);
  return { name, bytes: taken + waits, isTaken: inForce.length > 0 };
}

function beyond(pages: readonly Sized[], bound: Bound, newest: AgentName): readonly AgentName[] {
  let [count, bytes] = [pages.length, pages.reduce((sum, page) => sum + page.bytes, 0)];
  const gone: AgentName[] = [];
  if (count <= bound.pages && bytes <= bound.bytes) return gone;
  const byOrigin = Map.groupBy(
    pages.filter(({ name }) => name !== newest),
    ({ name }) => originOf(name),
  );
  while (count > bound.pages || bytes > bound.bytes) {
    const oldest = mostOf(byOrigin)?.shift();
    if (oldest === undefined) break;
    gone.push(oldest.name);
    count -= 1;
    bytes -= oldest.bytes;
  }
  return gone;
}

/** The pages of the origin that has the most; of several the one whose oldest is the oldest. */
const mostOf = (byOrigin: ReadonlyMap<string, Sized[]>): Sized[] | undefined =>
  [...byOrigin.values()].reduce<Sized[] | undefined>(
    (most, pages) => (most === undefined || pages.length > most.length ? pages : most),
    undefined,
  );

/** Scheme, host and port, as they stand in front of the path of every URL as it is used. */
const originOf = (url: string): string => url.slice(0, url.indexOf('/', 'https://'.length));
