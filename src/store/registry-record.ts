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
/** A registry's own words are shown to people, and need no more room. */
const LONGEST_WORDS = 256;

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
  if (folder === null) return opened([], null, null);
  const file = path.join(folder, REGISTRIES_FILE);
  const read = await readTrusted(file, LARGEST, parseHeard);
  switch (read.found) {
    case 'nothing':
      return opened([], null, file);
    case 'content':
      return opened(read.content, null, file);
    case 'unreadable':
      return opened([], `what it said before is not known: ${REGISTRIES_FILE} cannot be trusted: ${read.why}`, file);
  }
}

const opened = (earlier: readonly HeardRegistry[], distrust: string | null, file: string | null): OpenedRegistries => ({
  registryRecord: createRecord(earlier, distrust, file),
  notices: distrust === null || file === null ? [] : [notice(file, distrust)],
});

const notice = (file: string, why: string): Event => ({
  kind: 'notice',
  level: 'error',
  msg: `agents of registries are not served until their registries have been had: ${why}`,
  about: { file },
});

function createRecord(earlier: readonly HeardRegistry[], distrust: string | null, file: string | null): RegistryRecord {
  const held = new Map(earlier.map((heard) => [heard.name, heard]));
  let writing: Promise<string | null> = Promise.resolve(null);
  return {
    last(name, source) {
      const heard = held.get(name);
      return heard?.source === source ? heard : undefined;
    },
    distrust,
    save(heard) {
      held.set(heard.name, { ...heard, entries: heard.entries.map(shortened) });
      if (file === null) return Promise.resolve(null);
      // One write at a time, each of what is known when its turn comes.
      writing = writing.then(() => write(file, [...held.values()]));
      return writing;
    },
  };
}

const shortened = ({ said, ...entry }: HeardEntry): HeardEntry => ({ ...entry, said: said.slice(0, LONGEST_WORDS) });

async function write(file: string, registries: readonly HeardRegistry[]): Promise<string | null> {
  try {
    await replaceSynced(file, `${JSON.stringify({ version: VERSION, registries }, null, 2)}\n`, 0o600);
    return null;
  } catch (error) {
    return `${REGISTRIES_FILE} cannot be written: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Reads the text of the file; undefined unless every member is as this version writes it. */
function parseHeard(text: string): readonly HeardRegistry[] | undefined {
  const read = readRecord(text);
  if (read?.['version'] !== VERSION || !Array.isArray(read['registries'])) return undefined;
  return allOf(read['registries'], heardOf);
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
