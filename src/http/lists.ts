/** A member of a list field: up to a comma outside quoted-strings (RFC 9110 §5.6.1, §5.6.4). */
const MEMBER = /(?:[^",]|"(?:[^"\\]|\\[^])*")+/y;

/** Splits a list field's value into trimmed, non-empty members; undefined where a quoted-string is not closed. */
export function splitList(value: string): readonly string[] | undefined {
  const members: string[] = [];
  for (let at = 0; at < value.length; at += 1) {
    MEMBER.lastIndex = at;
    const member = MEMBER.exec(value)?.[0] ?? '';
    at += member.length;
    if (value[at] === '"') return undefined;
    if (member.trim() !== '') members.push(member.trim());
  }
  return members;
}
