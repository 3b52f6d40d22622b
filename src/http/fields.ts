import type { Fields } from '../kernel/fields.ts';

/** Reads one field by lower-case name, lines joined by `, `; undefined where there is none. */
export type FieldReader = (lowercaseName: string) => string | undefined;

/** Fields of one connection (RFC 9110 §7.6.1), and those that a cache never stores (RFC 9111 §3.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * "A sender MUST NOT send a connection option corresponding to a field that is intended for all recipients of the content" — RFC
 * 9110 §7.6.1. Obeying one would let `Connection: cache-control` switch off `no-store`, or make a coded body look plain.
 */
const NEVER_PER_CONNECTION: ReadonlySet<string> = new Set([
  'age',
  'cache-control',
  'cardea-cache-control',
  'cdn-cache-control',
  'content-encoding',
  'content-range',
  'content-type',
  'date',
  'expires',
  'pragma',
  'vary',
]);

/** Walks the field lines as name and value, in the order received. */
export function* fieldPairs(fields: Fields): Generator<readonly [string, string], void> {
  for (let i = 0; i + 1 < fields.length; i += 2) yield [fields[i] ?? '', fields[i + 1] ?? ''];
}

/** Lists the values of all lines of one field, in order; the name in any case. */
export function fieldLines(fields: Fields, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  const lines: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const found = fields[i] ?? '';
    if (found.length === wanted.length && found.toLowerCase() === wanted) lines.push(fields[i + 1] ?? '');
  }
  return lines;
}

/** Reads one field, its lines combined by `, ` (RFC 9110 §5.3); undefined where there is none. */
export function fieldValue(fields: Fields, name: string): string | undefined {
  const lines = fieldLines(fields, name);
  return lines.length === 0 ? undefined : lines.join(', ');
}

/** Makes a reader over the fields. */
export const readerOf =
  (fields: Fields): FieldReader =>
  (name) =>
    fieldValue(fields, name);

/** Puts one line in place of all lines of that name; the others keep their order. */
export const withField = (fields: Fields, name: string, value: string): Fields => [
  ...withoutFields(fields, new Set([name.toLowerCase()])),
  name,
  value,
];

/** Leaves out every field whose lower-case name is listed. */
export function withoutFields(fields: Fields, names: ReadonlySet<string>): Fields {
  const kept: string[] = [];
  for (const [name, value] of fieldPairs(fields)) if (!names.has(name.toLowerCase())) kept.push(name, value);
  return kept;
}

/** Leaves out what belongs to one connection: hop-by-hop fields, and those that `Connection` names (RFC 9110 §7.6.1). */
export function endToEnd(fields: Fields): Fields {
  const listed = connectionOptions(fields);
  return withoutFields(fields, listed.length === 0 ? HOP_BY_HOP : new Set([...HOP_BY_HOP, ...listed]));
}

function connectionOptions(fields: Fields): readonly string[] {
  const options = fieldLines(fields, 'connection').flatMap((line) => line.toLowerCase().split(','));
  return options.map((option) => option.trim()).filter((option) => option !== '' && !NEVER_PER_CONNECTION.has(option));
}
