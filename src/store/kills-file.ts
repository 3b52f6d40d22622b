import { type FileHandle, constants, open } from 'node:fs/promises';
import path from 'node:path';
import { type Kill, KILL_SOURCES, parseScope } from '../kernel/kill.ts';
import { epochMs } from '../kernel/units.ts';
import { replaceSynced } from './state-file.ts';

/** `kills.json`: the kills that are in force, apart from every database, so that no damage to one lifts a kill. */
export const KILLS_FILE = 'kills.json';

/** Counts up when the members change their meaning; a file of another version stops everything rather than be misread. */
const VERSION = 1;
/** 1,000 kills with the longest scopes and reasons are no larger. */
const LARGEST = 4 * 1024 * 1024;

/** What the file says; where it cannot be believed, why not. */
export type KillsRead =
  | { readonly found: 'nothing' }
  | { readonly found: 'kills'; readonly kills: readonly Kill[] }
  | { readonly found: 'unreadable'; readonly why: string };

/** Reads the file. It is believed only where nobody else can have written it. */
export async function readKills(folder: string): Promise<KillsRead> {
  let handle: FileHandle | undefined;
  try {
    // A link could lead to a file that says whatever its owner likes.
    handle = await open(path.join(folder, KILLS_FILE), NO_FOLLOW);
    const wrong = await untrusted(handle);
    if (wrong !== undefined) return { found: 'unreadable', why: wrong };
    const kills = parseKills(await handle.readFile('utf8'));
    return kills === undefined
      ? { found: 'unreadable', why: 'it is damaged, or of a newer version of Cardea' }
      : { found: 'kills', kills };
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

async function untrusted(handle: FileHandle): Promise<string | undefined> {
  const stat = await handle.stat();
  if (!stat.isFile()) return 'it is no regular file';
  if ((stat.mode & 0o002) !== 0) return 'everyone may write it';
  const user = process.getuid?.();
  if (user !== undefined && stat.uid !== user && stat.uid !== 0) return `it belongs to user ${stat.uid}`;
  return stat.size > LARGEST ? 'it is too large' : undefined;
}

/** Reads the text of the file; undefined unless every member is as this version writes it. */
export function parseKills(text: string): readonly Kill[] | undefined {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(read) || read['version'] !== VERSION || !Array.isArray(read['kills'])) return undefined;
  const kills = read['kills'].map(killOf);
  return kills.every((kill) => kill !== undefined) ? kills : undefined;
}

export const killsText = (kills: readonly Kill[]): string =>
  `${JSON.stringify({ version: VERSION, kills }, null, 2)}\n`;

function killOf(value: unknown): Kill | undefined {
  if (!isRecord(value)) return undefined;
  const { id, scope, reason, by, at } = value;
  if (typeof id !== 'string' || typeof scope !== 'string' || typeof reason !== 'string') return undefined;
  const parsed = parseScope(scope);
  const source = KILL_SOURCES.find((each) => each === by);
  if (parsed === undefined || source === undefined || typeof at !== 'number') return undefined;
  return { id, scope: parsed, reason, by: source, at: epochMs(at) };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const writeKills = (folder: string, kills: readonly Kill[]): Promise<void> =>
  replaceSynced(path.join(folder, KILLS_FILE), killsText(kills), 0o600);
