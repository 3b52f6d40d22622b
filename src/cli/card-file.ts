import { resolve } from 'node:path';
import type { JsonObject } from '../card/json.ts';
import { parseCard } from '../card/parse.ts';
import type { CardVersion } from '../card/version.ts';
import { KNOWN_VERSIONS, recogniseVersion } from '../card/version.ts';
import { bytes } from '../kernel/units.ts';
import type { Io } from './command.ts';

/** A card as it stands in a file. */
export interface CardFile {
  readonly card: JsonObject;
  readonly version: CardVersion;
}

/** What came of reading one: the card, or a line for the user and the exit code that belongs to it. */
export type CardFileReading =
  | { readonly ok: true; readonly file: CardFile }
  | { readonly ok: false; readonly problem: string; readonly exit: 1 | 2 };

/** The daemon's own defaults: what passes here passes there. */
const BOUNDS = { maxBytes: bytes(1_048_576), maxDepth: 32 };

/** Reads a card file: 2 where there is none, 1 where it is no card. */
export async function readCardFile(path: string, io: Io): Promise<CardFileReading> {
  const body = await readFile(path, io);
  if (typeof body === 'string') return { ok: false, problem: body, exit: 2 };
  return readCard(path, body);
}

/** Reads a card's bytes, wherever they are from. */
export function readCard(name: string, body: Uint8Array): CardFileReading {
  const parsed = parseCard(body, BOUNDS);
  if (!parsed.ok) return { ok: false, problem: `${name}: ${parsed.refusal.detail}`, exit: 1 };
  const version = recogniseVersion(parsed.value, { versions: KNOWN_VERSIONS });
  if (!version.ok) return { ok: false, problem: `${name}: ${version.refusal.detail}`, exit: 1 };
  return { ok: true, file: { card: parsed.value, version: version.value } };
}

/** Reads a file, or says in a line why not. */
export async function readFile(path: string, io: Io): Promise<Uint8Array | string> {
  try {
    return await io.readFile(resolve(io.cwd, path));
  } catch (error) {
    return `${path}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
