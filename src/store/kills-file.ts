import path from 'node:path';
import { type Kill, KILL_SOURCES, parseScope } from '../kernel/kill.ts';
import { epochMs } from '../kernel/units.ts';
import { replaceSynced } from './state-file.ts';
import { isRecord, readRecord, readTrusted } from './trusted-file.ts';

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
  const read = await readTrusted(path.join(folder, KILLS_FILE), LARGEST, parseKills);
  return read.found === 'content' ? { found: 'kills', kills: read.content } : read;
}

/** Reads the text of the file; undefined unless every member is as this version writes it. */
export function parseKills(text: string): readonly Kill[] | undefined {
  const read = readRecord(text);
  if (read?.['version'] !== VERSION || !Array.isArray(read['kills'])) return undefined;
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

export const writeKills = (folder: string, kills: readonly Kill[]): Promise<void> =>
  replaceSynced(path.join(folder, KILLS_FILE), killsText(kills), 0o600);
