import { strongEtag } from '../http/answer.ts';
import type { CodedBody, Entry } from '../kernel/entry.ts';
import type { Coder, Store } from '../ports.ts';

/**
 * Gives a card that is about to be stored its coded forms. They are made of the bytes that were judged: what an origin coded is
 * undone before anybody reads it, since two decoders may read two things in one stream.
 */
export type WithCodings = (entry: Entry) => Promise<Entry>;

export const createWithCodings =
  (coder: Coder, store: Pick<Store, 'peek'>): WithCodings =>
  async (entry) => {
    if (entry.coded !== undefined) return entry;
    // An origin without validators sends the same bytes again and again, for every variant.
    const same = store.peek(entry.key).find((other) => other.coded !== undefined && other.etag === entry.etag);
    return { ...entry, coded: same?.coded ?? (await codedOf(coder, entry.body)) };
  };

const codedOf = async (coder: Coder, plain: Uint8Array): Promise<readonly CodedBody[]> =>
  (await coder.code(plain)).map(({ coding, body }) => ({ coding, body, etag: strongEtag(body) }));

/** The entry without coded forms, where its body is to be another. */
export function plainOf(entry: Entry): Entry {
  const { coded: _, ...plain } = entry;
  return plain;
}
