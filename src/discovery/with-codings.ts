import { strongEtag } from '../http/answer.ts';
import { chooseCoding } from '../http/codings.ts';
import type { CodedBody, ContentCoding, Entry } from '../kernel/entry.ts';
import type { Coder, Store } from '../ports.ts';

/**
 * Gives cards their coded forms: when the first caller asks for one, since many a card is only ever read plain and no first answer
 * should wait for what nobody wants. They are made of the bytes that were judged: what an origin coded is undone before anybody reads
 * it, since two decoders may read two things in one stream.
 */
export interface Codings {
  /** The entry, with the forms that the same bytes have been given already. */
  keep(entry: Entry): Entry;
  /** The entry with its forms; whoever asks meanwhile waits for the same ones. What is stored of these bytes has them from then on. */
  complete(entry: Entry): Promise<Entry>;
}

type Stored = Pick<Store, 'peek' | 'code'>;

export function createCodings(coder: Coder, store: Stored): Codings {
  const making = new Map<string, Promise<readonly CodedBody[]>>();
  const make = async ({ key, etag, body }: Entry): Promise<readonly CodedBody[]> => {
    const coded = await codedOf(coder, body);
    if (etag !== null) store.code(key, etag, coded);
    return coded;
  };
  const made = (entry: Entry): Promise<readonly CodedBody[]> => {
    const name = `${entry.key}\0${entry.etag}`;
    const underway = making.get(name) ?? make(entry).finally(() => making.delete(name));
    making.set(name, underway);
    return underway;
  };
  return {
    keep: (entry) => withFormsOf(entry, store),
    async complete(given) {
      const entry = withFormsOf(given, store);
      return entry.coded === undefined ? { ...entry, coded: await made(entry) } : entry;
    },
  };
}

/** An origin without validators sends the same bytes again and again, for every variant. */
function withFormsOf(entry: Entry, store: Stored): Entry {
  if (entry.coded !== undefined) return entry;
  const same = store.peek(entry.key).find((other) => other.coded !== undefined && other.etag === entry.etag);
  return same?.coded === undefined ? entry : { ...entry, coded: same.coded };
}

const codedOf = async (coder: Coder, plain: Uint8Array): Promise<readonly CodedBody[]> =>
  (await coder.code(plain)).map(({ coding, body }) => ({ coding, body, etag: strongEtag(body) }));

const EVERY: readonly ContentCoding[] = ['br', 'gzip'];

/** True where the answer depends on forms that were not made yet: only the plain bytes need none. */
export const wantsForms = (entry: Entry, acceptEncoding: string | undefined): boolean =>
  entry.coded === undefined && chooseCoding(acceptEncoding, EVERY) !== 'identity';

/** The entry without coded forms, where its body is to be another. */
export function plainOf(entry: Entry): Entry {
  const { coded: _, ...plain } = entry;
  return plain;
}
