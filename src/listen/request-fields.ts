import type { Fields } from '../kernel/fields.ts';
import { type Refusal, refuse } from '../kernel/refusal.ts';
import type { Exchange } from './exchange.ts';

/** Fields that may stand once only: two of them are two readings of one request. */
const SINGLE: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'proxy-authorization',
  'content-length',
  'content-type',
]);
/** Fields that frame or authorise: written with "_" they pass as others here and as themselves behind a CGI-like gateway. */
const MIMICKED: ReadonlySet<string> = new Set([...SINGLE, 'transfer-encoding', 'connection', 'upgrade']);

/** All field lines of a request but HTTP/2's pseudo-fields. */
export function fieldsOf({ protocol, request }: Exchange): Fields {
  const raw = request.rawHeaders;
  if (protocol === 'http/1') return raw;
  const fields: string[] = [];
  const crumbs: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (name.startsWith(':')) continue;
    if (name === 'cookie') crumbs.push(raw[at + 1] ?? '');
    else fields.push(name, raw[at + 1] ?? '');
  }
  // "these MUST be concatenated into a single octet string using … "; "" — RFC 9113 §8.2.3, before they go to an HTTP/1.1 origin.
  if (crumbs.length > 0) fields.push('cookie', crumbs.join('; '));
  return fields;
}

/** Reads one field by lower-case name, lines joined by `, `. */
export function readField(fields: Fields, name: string): string | undefined {
  let found: string | undefined;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const each = fields[at] ?? '';
    if (each.length !== name.length || each.toLowerCase() !== name) continue;
    const value = fields[at + 1] ?? '';
    found = found === undefined ? value : `${found}, ${value}`;
  }
  return found;
}

/** Says what is wrong with a request's fields for their names alone. */
export function wrongNames(fields: Fields): Refusal | undefined {
  const seen = new Set<string>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = (fields[at] ?? '').toLowerCase();
    if (name.includes('_') && MIMICKED.has(name.replaceAll('_', '-'))) {
      return refuse('bad-request', `The field ${name} looks like another one; write it with "-".`);
    }
    if (!SINGLE.has(name)) continue;
    if (seen.has(name)) return refuse('bad-request', `The field ${name} stands twice.`);
    seen.add(name);
  }
  return undefined;
}

/**
 * Refuses fields that are too long.
 * @param most bytes of names and values together; HTTP/1 heads are bounded while they are read, HTTP/2 ones are not.
 */
export function tooLong(fields: Fields, most: number): Refusal | undefined {
  let length = 0;
  for (const text of fields) length += text.length;
  return length > most ? refuse('request-too-large', 'The fields are too long.', { status: 431 }) : undefined;
}
