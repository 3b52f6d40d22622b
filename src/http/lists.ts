/** A member of a list field: up to a comma outside quoted-strings (RFC 9110 §5.6.1, §5.6.4). */
const MEMBER = /(?:[^",]|"(?:[^"\\]|\\[^])*")+/y;

/** A list field's value, cut at its commas. */
export interface ListParts {
  /** Trimmed and not empty. */
  readonly members: readonly string[];
  /** What follows a quote that is never closed, the quote included; null where every one is. */
  readonly unclosed: string | null;
}

/** Cuts a list field's value at the commas that are not inside a quoted-string. */
export function cutList(value: string): ListParts {
  const members: string[] = [];
  for (let at = 0; at < value.length; at += 1) {
    MEMBER.lastIndex = at;
    const member = MEMBER.exec(value)?.[0] ?? '';
    at += member.length;
    if (member.trim() !== '') members.push(member.trim());
    if (value[at] === '"') return { members, unclosed: value.slice(at) };
  }
  return { members, unclosed: null };
}
