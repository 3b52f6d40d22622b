import { type FileHandle, constants, open } from 'node:fs/promises';

/** What a file says that must not be believed lightly; where it cannot be believed, why not. */
export type TrustedRead<Content> =
  | { readonly found: 'nothing' }
  | { readonly found: 'content'; readonly content: Content }
  | { readonly found: 'unreadable'; readonly why: string };

/**
 * Reads a record of the state folder. It is believed only where nobody else can have written it.
 * @param parse undefined unless every member is as this version writes it
 */
export async function readTrusted<Content>(
  file: string,
  largest: number,
  parse: (text: string) => Content | undefined,
): Promise<TrustedRead<Content>> {
  let handle: FileHandle | undefined;
  try {
    // A link could lead to a file that says whatever its owner likes.
    handle = await open(file, NO_FOLLOW);
    const wrong = await untrusted(handle, largest);
    if (wrong !== undefined) return { found: 'unreadable', why: wrong };
    const content = parse(await handle.readFile('utf8'));
    return content === undefined
      ? { found: 'unreadable', why: 'it is damaged, or of a newer version of Cardea' }
      : { found: 'content', content };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return code === 'ENOENT' ? { found: 'nothing' } : { found: 'unreadable', why: MEANINGS[code] ?? code };
  } finally {
    await handle?.close();
  }
}

/** A pipe in its place must not hold up the start either. */
const NO_FOLLOW = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MEANINGS: Readonly<Record<string, string>> = {
  ELOOP: 'it is a symbolic link',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a folder',
};

async function untrusted(handle: FileHandle, largest: number): Promise<string | undefined> {
  const stat = await handle.stat();
  if (!stat.isFile()) return 'it is no regular file';
  if ((stat.mode & 0o002) !== 0) return 'everyone may write it';
  const user = process.getuid?.();
  if (user !== undefined && stat.uid !== user && stat.uid !== 0) return `it belongs to user ${stat.uid}`;
  return stat.size > largest ? 'it is too large' : undefined;
}

export type JsonObject = Readonly<Record<string, unknown>>;
export const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads one JSON object; undefined for anything else. */
export function readRecord(text: string): JsonObject | undefined {
  try {
    const read: unknown = JSON.parse(text);
    return isRecord(read) ? read : undefined;
  } catch {
    return undefined;
  }
}
