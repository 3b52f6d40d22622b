import type { CodedBody, ContentCoding } from '../kernel/entry.ts';
import { cutList } from './lists.ts';

/** What an answer's body is coded as; `identity` is the bytes as they are. */
export type Coding = ContentCoding | 'identity';

/** `weight` of RFC 9110 §12.4.2: 0 to 1, three decimals at most. */
const MEMBER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:[ \t]*;[ \t]*[qQ]=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/;

/**
 * Reads `Accept-Encoding` as weights by lower-case coding, `x-gzip` as the gzip that it is (RFC 9110 §8.4.1.3); of a coding that
 * stands twice the first counts, and a member that cannot be read says nothing.
 */
export function parseAcceptEncoding(text: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const member of cutList(text).members) {
    const found = MEMBER.exec(member);
    if (found === null) continue;
    const name = (found[1] ?? '').toLowerCase();
    const coding = name === 'x-gzip' ? 'gzip' : name;
    if (!weights.has(coding)) weights.set(coding, found[2] === undefined ? 1 : Number(found[2]));
  }
  return weights;
}

/**
 * Chooses among the codings at hand, given best first, and the body as it is (RFC 9110 §12.5.3). Without the field everything is
 * acceptable and the plain bytes are what every client reads; an empty field asks for them. Undefined where nothing at hand is
 * acceptable.
 */
export function chooseCoding(acceptEncoding: string | undefined, atHand: readonly ContentCoding[]): Coding | undefined {
  if (acceptEncoding === undefined) return 'identity';
  const weights = parseAcceptEncoding(acceptEncoding);
  const others = weights.get('*');
  let [best, most]: [Coding | undefined, number] = [undefined, 0];
  for (const coding of atHand) {
    const weight = weights.get(coding) ?? others ?? 0;
    if (weight > most) [best, most] = [coding, weight];
  }
  const identity = weights.get('identity') ?? others;
  // Not named, the plain bytes are acceptable all the same, but whoever names codings wants those.
  if (identity === undefined) return best ?? 'identity';
  return identity > most ? 'identity' : best;
}

/** One form of a stored body, as it is served. */
export interface Representation {
  readonly coding: Coding;
  readonly body: Uint8Array;
  readonly etag: string | null;
}

/** A stored body in all the forms that it has. */
export interface Coded {
  readonly body: Uint8Array;
  readonly etag: string | null;
  readonly coded?: readonly CodedBody[];
}

/** Selects the form that a client is served; undefined where none is acceptable. */
export function selectCoding(
  { body, etag, coded = [] }: Coded,
  acceptEncoding: string | undefined,
): Representation | undefined {
  if (acceptEncoding === undefined) return { coding: 'identity', body, etag };
  const atHand = coded.map((each) => each.coding);
  const coding = chooseCoding(acceptEncoding, atHand);
  if (coding === undefined) return undefined;
  return coded.find((each) => each.coding === coding) ?? { coding: 'identity', body, etag };
}
