import { endToEnd } from '../kernel/end-to-end.ts';
import type { Fields } from '../kernel/fields.ts';

/** What is done to the fields of a message that passes through (RFC 9110 §7.6): per-connection fields end here. */

/** Made here for each request. Expect is answered by the listener, which has the client's body waiting. */
const OURS: ReadonlySet<string> = new Set(['host', 'via', 'expect']);
const VIA = '1.1 cardea';

/** What may cross to another origin on a redirect: a list of what is known to be harmless, since any other field may be a credential. */
const HARMLESS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'a2a-version',
  'a2a-extensions',
  'cache-control',
  'pragma',
  'user-agent',
  'via',
]);
/** Validators are for the URL that gave them. */
const CONDITIONAL: ReadonlySet<string> = new Set([
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
]);

type Line = readonly [name: string, value: string];

const linesOf = (fields: Fields): readonly Line[] =>
  fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? ''] as const] : []));

const keep = (fields: Fields, wanted: (name: string) => boolean): Fields =>
  linesOf(fields).flatMap(([name, value]) => (wanted(name.toLowerCase()) ? [name, value] : []));

/** Reads every line of one field by its lower-case name. */
export const valuesOf = (fields: Fields, name: string): readonly string[] =>
  linesOf(fields).flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));

/** Reads a comma-separated field as lower-case tokens, over all its lines. */
export const tokensOf = (fields: Fields, name: string): readonly string[] =>
  valuesOf(fields, name)
    .flatMap((value) => value.split(','))
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== '');

/** How a request's body is framed and its answer coded. */
export interface Framing {
  /** `decode`: the codings that can be undone here are asked for; `pass`: the caller's wish is sent on. */
  readonly codings: 'decode' | 'pass';
  readonly hasBody: boolean;
}

/** Makes the fields that an origin is sent. Host is the URL's; the transport adds it. */
export function requestFields(fields: Fields, framing: Framing): Fields {
  const decode = framing.codings === 'decode';
  const kept = keep(endToEnd(fields), (name) => {
    if (OURS.has(name)) return false;
    if (name === 'accept-encoding') return !decode;
    return name !== 'content-length' || framing.hasBody;
  });
  const via = [...valuesOf(fields, 'via'), VIA].join(', ');
  return [...kept, ...(decode ? ['accept-encoding', 'gzip, br'] : []), 'via', via];
}

/** Makes the fields of the next hop of a redirect: no validators, and across origins nothing that could be a credential. */
export const hopFields = (fields: Fields, sameOrigin: boolean): Fields =>
  keep(fields, (name) => !CONDITIONAL.has(name) && (sameOrigin || HARMLESS.has(name)));

/** Takes out what describes the coded form, once the coding is undone (or, on a 304, was undone when the body came). */
export const withoutCoding = (fields: Fields): Fields =>
  keep(fields, (name) => name !== 'content-encoding' && name !== 'content-length');
