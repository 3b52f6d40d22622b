import type { Fields } from '../kernel/fields.ts';

/** Reads one field by lower-case name, lines joined by `, `; undefined where there is none. */
export type FieldReader = (lowercaseName: string) => string | undefined;

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

/** Adds a member to a list, after those that it has (RFC 9110 §5.3). */
export function withMember(fields: Fields, name: string, member: string): Fields {
  const before = fieldValue(fields, name);
  return withField(fields, name, before === undefined ? member : `${before}, ${member}`);
}

/** Leaves out every field whose lower-case name is listed. */
export function withoutFields(fields: Fields, names: ReadonlySet<string>): Fields {
  const kept: string[] = [];
  for (const [name, value] of fieldPairs(fields)) if (!names.has(name.toLowerCase())) kept.push(name, value);
  return kept;
}
