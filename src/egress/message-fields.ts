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

const NONE: Fields = [];

function keep(fields: Fields, wanted: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] ?? '';
    if (wanted(name.toLowerCase())) kept.push(name, fields[at + 1] ?? '');
  }
  return kept;
}

/** Reads every line of one field by its lower-case name. */
export function valuesOf(fields: Fields, name: string): readonly string[] {
  let values: string[] | undefined;
  for (let at = 0; at < fields.length; at += 2) {
    const field = fields[at] ?? '';
    // Its length alone says of most that they are another.
    if (field.length !== name.length || field.toLowerCase() !== name) continue;
    values ??= [];
    values.push(fields[at + 1] ?? '');
  }
  return values ?? NONE;
}

/** Reads a comma-separated field as lower-case tokens, over all its lines. */
export function tokensOf(fields: Fields, name: string): readonly string[] {
  const values = valuesOf(fields, name);
  if (values.length === 0) return values;
  return values
    .flatMap((value) => value.split(','))
    .map((token) => token.trim().toLowerCase())
    .filter((token) => token !== '');
}

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
  if (decode) kept.push('accept-encoding', 'gzip, br');
  kept.push('via', [...valuesOf(fields, 'via'), VIA].join(', '));
  return kept;
}

/** Makes the fields of the next hop of a redirect: no validators, and across origins nothing that could be a credential. */
export const hopFields = (fields: Fields, sameOrigin: boolean): Fields =>
  keep(fields, (name) => !CONDITIONAL.has(name) && (sameOrigin || HARMLESS.has(name)));

/** Takes out what describes the coded form, once the coding is undone (or, on a 304, was undone when the body came). */
export const withoutCoding = (fields: Fields): Fields =>
  keep(fields, (name) => name !== 'content-encoding' && name !== 'content-length');
