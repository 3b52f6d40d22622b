import path from 'node:path';
import type { Event } from '../kernel/event.ts';
import { type Url, urlId } from '../kernel/ids.ts';
import { REGISTRY_STATUSES } from '../kernel/registry.ts';
import { epochMs } from '../kernel/units.ts';
import type { HeardEntry, HeardRegistry, RegistryRecord } from '../ports/registries.ts';
import { replaceSynced } from './state-file.ts';
import { isRecord, readRecord, readTrusted } from './trusted-file.ts';

/** `registries.json`: what each registry said last of the agents that name it. */
const REGISTRIES_FILE = 'registries.json';
/** Counts up when the members change their meaning; a file of another version is not believed. */
const VERSION = 1;
/** Ten thousand agents, with the longest of URLs. */
const LARGEST = 64 * 1024 * 1024;

/** The record, and what the log must be told of how it was opened. */
export interface OpenedRegistries {
  readonly registryRecord: RegistryRecord;
  readonly notices: readonly Event[];
}

/**
 * Opens the record of a state folder, or with null one that keeps nothing. Of a file that cannot be believed nobody knows whom it said
 * to be revoked: then everybody counts as such until the registries have been had.
 */
export async function openRegistries(folder: string | null): Promise<OpenedRegistries> {
  if (folder === null) return opened(NOTHING, null);
  const file = path.join(folder, REGISTRIES_FILE);
  const read = await readTrusted(file, LARGEST, parseKept);
  switch (read.found) {
    case 'nothing':
      return opened(NOTHING, file);
    case 'content':
      return opened(read.content, file);
    case 'unreadable': {
      const doubt = `what it said before is not known: ${REGISTRIES_FILE} cannot be trusted: ${read.why}`;
      return opened({ registries: [], doubt }, file);
    }
  }
}

/** What the file holds. */
interface Kept {
  readonly registries: readonly HeardRegistry[];
  /** Why of the registries that are not among these nobody knows what they said; null where they said nothing. */
  readonly doubt: string | null;
}

const NOTHING: Kept = { registries: [], doubt: null };

const opened = (kept: Kept, file: string | null): OpenedRegistries => ({
  registryRecord: createRecord(kept, file),
  notices: kept.doubt === null || file === null ? [] : [notice(file, kept.doubt)],
});

const notice = (file: string, why: string): Event => ({
  kind: 'notice',
  level: 'error',
  msg: `agents of registries are not served until their registries have been had: ${why}`,
  about: { file },
});

function createRecord({ registries, doubt }: Kept, file: string | null): RegistryRecord {
  const held = new Map(registries.map((heard) => [heard.name, heard]));
  let why = doubt;
  /** Registries that are followed and were not had since the doubt arose. */
  const doubted = new Set<string>();
  let writing: Promise<string | null> = Promise.resolve(null);
  return {
    last(name, source) {
      const heard = held.get(name);
      return heard?.source === source ? heard : undefined;
    },
    doubt(name) {
      if (why === null || held.has(name)) return null;
      doubted.add(name);
      return why;
    },
    save(heard) {
      doubted.delete(heard.name);
      if (doubted.size === 0) why = null;
      held.set(heard.name, heard);
      if (file === null) return Promise.resolve(null);
      // One write at a time, each of what is known when its turn comes.
      writing = writing.then(() => write(file, { registries: [...held.values()], doubt: why }));
      return writing;
    },
  };
}

async function write(file: string, kept: Kept): Promise<string | null> {
  try {
    await replaceSynced(file, `${JSON.stringify({ version: VERSION, ...kept }, null, 2)}\n`, 0o600);
    return null;
  } catch (error) {
    return `${REGISTRIES_FILE} cannot be written: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Reads the text of the file; undefined unless every member is as this version writes it. */
function parseKept(text: string): Kept | undefined {
  const read = readRecord(text);
  if (read?.['version'] !== VERSION || !Array.isArray(read['registries'])) return undefined;
  const registries = allOf(read['registries'], heardOf);
  const { doubt = null } = read;
  return registries === undefined || !(doubt === null || typeof doubt === 'string') ? undefined : { registries, doubt };
}

function heardOf(value: unknown): HeardRegistry | undefined {
  if (!isRecord(value)) return undefined;
  const { name, source, at, entries } = value;
  if (typeof name !== 'string' || typeof source !== 'string' || typeof at !== 'number' || !Number.isFinite(at))
    return undefined;
  const read = Array.isArray(entries) ? allOf(entries, entryOf) : undefined;
  return read && { name, source, at: epochMs(at), entries: read };
}

function entryOf(value: unknown): HeardEntry | undefined {
  if (!isRecord(value)) return undefined;
  const { id, said } = value;
  const status = REGISTRY_STATUSES.find((each) => each === value['status']);
  const [card, place] = [urlOf(value['card']), urlOf(value['place'])];
  if (typeof id !== 'string' || typeof said !== 'string' || status === undefined) return undefined;
  return card === undefined || place === undefined ? undefined : { id, status, card, said, place };
}

/** Undefined for what is neither null nor a URL that a card may be at. */
function urlOf(value: unknown): Url | null | undefined {
  if (value === null) return null;
  if (typeof value !== 'string') return undefined;
  return /^https?:$/.test(URL.parse(value)?.protocol ?? '') ? urlId(value) : undefined;
}

function allOf<Item>(
  values: readonly unknown[],
  read: (value: unknown) => Item | undefined,
): readonly Item[] | undefined {
  const items = values.map(read);
  return items.every((item) => item !== undefined) ? items : undefined;
}
