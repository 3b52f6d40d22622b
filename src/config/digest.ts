import { createHash } from 'node:crypto';

/** Names a value by its content: `sha256:` and hex over JSON with sorted members; equal values have equal digests. */
export function digestOf(value: unknown): string {
  return `sha256:${createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex')}`;
}

function sorted(value: unknown): unknown {
  if (value instanceof Map) return sorted(Object.fromEntries(value));
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  // Pairs, because an object would put members that look like numbers first and drop "__proto__".
  return { members: members.map(([key, member]) => [key, sorted(member)]) };
}
