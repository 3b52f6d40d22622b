/** Bodies are flat orders: deeper nesting has no meaning here. */
const DEEPEST = 4;
/** One token of JSON, or one character that is none. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+|"/gsu;

/**
 * Reads strict JSON of a small body: UTF-8 without a byte order mark, no name twice in an object, little nesting. Undefined where
 * it is anything else: two readings of one order are one too many.
 */
export function readStrictJson(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    return isUnambiguous(text) ? { value } : undefined;
  } catch {
    return undefined;
  }
}

/** Looks for doubled names and depth in a text that is known to be JSON: a string before a colon is a name. */
function isUnambiguous(text: string): boolean {
  const levels: Set<string>[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      if (levels.push(new Set()) > DEEPEST) return false;
    } else if (token === '}' || token === ']') levels.pop();
    else if (token === ':') {
      const names = levels.at(-1);
      const name = String(JSON.parse(last));
      if (names === undefined || names.has(name)) return false;
      names.add(name);
    }
    last = token;
  }
  return true;
}
