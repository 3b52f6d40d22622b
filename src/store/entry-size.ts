import type { Admission, Entry } from '../kernel/entry.ts';
import { type Bytes, bytes } from '../kernel/units.ts';

/** What V8 keeps for one entry beside its bytes and strings: its objects, and its places in the indexes. Measured over 50,000. */
const OVERHEAD = 1_536;
/** The objects of one coded form: itself and its bytes' headers. */
const PER_CODING = 192;
/** A string's header and the reference to it: thousands of two-letter fields cost this, not their letters. */
const PER_STRING = 32;
/** Two bytes a character: right for what is not Latin, and no less for what is. */
const PER_CHARACTER = 2;

/**
 * Says how much memory an entry is charged for: its body, every string in it, and a fixed part. No less than it takes, and more where another
 * one has the same body: a charge that depended on others would change as they come and go.
 */
export function entrySize(entry: Entry): Bytes {
  const { key, variant, url, etag, vary, fields, tags, admission } = entry;
  const strings =
    sizeOf([key, variant, url]) +
    (etag === null ? 0 : sizeOf([etag])) +
    sizeOf(vary) +
    sizeOf(fields) +
    sizeOf(tags) +
    (admission === null ? 0 : admissionSize(admission));
  return bytes(entry.body.byteLength + codedSize(entry) + strings + OVERHEAD);
}

const codedSize = ({ coded = [] }: Entry): number =>
  coded.reduce((size, { body, etag }) => size + body.byteLength + sizeOf([etag]) + PER_CODING, 0);

/** Counts what a card says of itself; words from closed lists are shared and cost nothing. */
function admissionSize({ digest, verdict, facts, policy, receipt, warnings }: Admission): number {
  const { kid, keys, dropped } = verdict;
  const shown = [digest, policy, receipt, facts.name, facts.version, facts.interfaceUrl, kid, keys];
  return sizeOf(shown.filter((text) => text !== undefined)) + sizeOf(warnings) + (dropped ? sizeOf(dropped) : 0);
}

function sizeOf(texts: readonly string[]): number {
  let size = texts.length * PER_STRING;
  for (const text of texts) size += text.length * PER_CHARACTER;
  return size;
}
