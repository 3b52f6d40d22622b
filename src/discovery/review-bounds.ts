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

/** Counts the pages of cards without a name as they change, so that no look is taken at all of them for each. */
export interface PageBounds {
  /** Hears of a page that stands in place of the one before it. */
  note(name: AgentName, page: Page): void;
  /**
   * Lists what must be forgotten, and counts it no more. Of the origin that has the most goes the page that changed longest ago, so that
   * one origin cannot push out what is known of the others.
   * @param newest never listed, however large it is.
   */
  beyond(newest: AgentName): readonly AgentName[];
}

export function createPageBounds(): PageBounds {
  const [awaited, known] = [new Pages(AWAITED), new Pages(KNOWN)];
  return {
    note(name, page) {
      if (!isUnnamed(name)) return;
      awaited.remove(name);
      known.remove(name);
      if (!isDecided(page)) (page.inForce.length > 0 ? known : awaited).add(name, bytesOf(page));
    },
    beyond: (newest) => [...awaited.beyond(newest), ...known.beyond(newest)],
  };
}

/** Somebody's word stands behind it. */
const isDecided = ({ decisions, inForce }: Page): boolean =>
  decisions.length > 0 || inForce.some(({ by }) => by === 'pin');

function bytesOf({ inForce, pending }: Page): number {
  const taken = inForce.reduce((sum, { body }) => sum + body.length, 0);
  return [...pending.values()].reduce((sum, { card }) => sum + HELD_FACTOR * card.body.length, taken);
}

interface Counted {
  readonly bytes: number;
  /** Grows with each change of any page. */
  readonly changed: number;
}

/** Of each origin, those that changed last come last. */
type OfOrigin = Map<AgentName, Counted>;

class Pages {
  readonly #bound: Bound;
  readonly #origins = new Map<string, OfOrigin>();
  #count = 0;
  #bytes = 0;
  #changes = 0;

  constructor(bound: Bound) {
    this.#bound = bound;
  }

  add(name: AgentName, bytes: number): void {
    const origin = originOf(name);
    const pages = this.#origins.get(origin) ?? new Map<AgentName, Counted>();
    this.#origins.set(origin, pages.set(name, { bytes, changed: (this.#changes += 1) }));
    this.#count += 1;
    this.#bytes += bytes;
  }

  remove(name: AgentName): void {
    const origin = originOf(name);
    const pages = this.#origins.get(origin);
    const page = pages?.get(name);
    if (pages === undefined || page === undefined) return;
    pages.delete(name);
    if (pages.size === 0) this.#origins.delete(origin);
    this.#count -= 1;
    this.#bytes -= page.bytes;
  }

  beyond(newest: AgentName): readonly AgentName[] {
    const gone: AgentName[] = [];
    while (this.#count > this.#bound.pages || this.#bytes > this.#bound.bytes) {
      const oldest = this.#oldestOfMost(newest);
      if (oldest === undefined) break;
      gone.push(oldest);
      this.remove(oldest);
    }
    return gone;
  }

  /** Of the origin that has the most pages; of several the one whose oldest is the oldest. */
  #oldestOfMost(newest: AgentName): AgentName | undefined {
    let found: { readonly name: AgentName; readonly count: number; readonly changed: number } | undefined;
    for (const pages of this.#origins.values()) {
      const count = pages.size - (pages.has(newest) ? 1 : 0);
      const oldest = oldestOf(pages, newest);
      if (oldest === undefined || (found !== undefined && count < found.count)) continue;
      const [name, { changed }] = oldest;
      if (found === undefined || count > found.count || changed < found.changed) found = { name, count, changed };
    }
    return found?.name;
  }
}

function oldestOf(pages: OfOrigin, newest: AgentName): readonly [AgentName, Counted] | undefined {
  for (const page of pages) if (page[0] !== newest) return page;
  return undefined;
}

/** Scheme, host and port, as they stand in front of the path of every URL as it is used. */
const originOf = (url: string): string => url.slice(0, url.indexOf('/', 'https://'.length));
