import type { Entry } from '../kernel/entry.ts';

/**
 * The same entry, holding no memory but its own. What was cut out of a card's text keeps all of that text, what was joined keeps its
 * parts beside it, and 100 bytes off a socket keep 64 KiB. Written down and read again every text is a new one, at a quarter of what
 * structuredClone takes; an entry is made of nothing else, since it is written to the disk so as well.
 * @param hold makes a body's bytes its own.
 */
export function compactEntry(entry: Entry, hold = ownBytes): Entry {
  const { body, coded, ...said } = entry;
  const own = { ...again(said), body: hold(body) };
  return coded === undefined ? own : { ...own, coded: coded.map((each) => ({ ...each, body: hold(each.body) })) };
}

/** The same text or record, made anew. */
export const again = <T extends string | object>(said: T): T => JSON.parse(JSON.stringify(said)) as T;

/** The same bytes in memory of their own. */
export const ownBytes = (body: Uint8Array): Uint8Array =>
  body.buffer.byteLength === body.byteLength ? body : new Uint8Array(body);
