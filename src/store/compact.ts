import type { Entry } from '../kernel/entry.ts';

/**
 * The same entry, holding no memory but its own. What was cut out of a card's text keeps all of that text, what was joined keeps its
 * parts beside it, and 100 bytes off a socket keep 64 KiB.
 */
export function compactEntry(entry: Entry): Entry {
  const { body, coded, ...said } = entry;
  const own = { ...structuredClone(said), body: compact(body) };
  return coded === undefined ? own : { ...own, coded: coded.map((each) => ({ ...each, body: compact(each.body) })) };
}

const compact = (body: Uint8Array): Uint8Array =>
  body.buffer.byteLength === body.byteLength ? body : new Uint8Array(body);
