import type { Entry } from '../kernel/entry.ts';
import { generation } from '../kernel/ids.ts';
import { ms } from '../kernel/units.ts';

/**
 * How an entry is written on the disk: its body apart, everything else one JSON text with the version of its format. Content
 * codings are left out: they are made again when the card is judged at the next start.
 */
export interface EncodedEntry {
  readonly head: string;
  readonly body: Uint8Array;
}

/** Counts up whenever an entry's members change their meaning; another version is not read, so the card is fetched anew. */
const FORMAT = 1;

export function encodeEntry(entry: Entry): EncodedEntry {
  const { body, coded: _, ...head } = entry;
  return { head: JSON.stringify({ format: FORMAT, head }), body };
}

/** Reads an entry again; undefined for another version and for anything that is none. */
export function decodeEntry({ head, body }: EncodedEntry): Entry | undefined {
  const parsed: unknown = parse(head);
  if (!isRecord(parsed) || parsed['format'] !== FORMAT || !isHead(parsed['head'])) return undefined;
  // Generations count from each start: what is read now is of now.
  return { ...parsed['head'], body, generation: generation(0) };
}

/** Ends an entry's freshness at `now`, as a soft purge does in memory. */
export function softened(encoded: EncodedEntry, now: number): EncodedEntry {
  const entry = decodeEntry(encoded);
  if (entry === undefined) return encoded;
  const age = Math.max(0, entry.initialAge + now - entry.receivedAt);
  return encodeEntry({ ...entry, lifetime: { ...entry.lifetime, fresh: ms(Math.min(entry.lifetime.fresh, age)) } });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Looks at what everything later relies on; the card itself is judged again before it is served. */
function isHead(value: unknown): value is Omit<Entry, 'body'> {
  if (!isRecord(value) || !isRecord(value['lifetime']) || !isRecord(value['admission'])) return false;
  const { lifetime } = value;
  return (
    TEXTS.every((name) => typeof value[name] === 'string') &&
    NUMBERS.every((name) => Number.isFinite(value[name])) &&
    LISTS.every((name) => isTexts(value[name])) &&
    ['fresh', 'staleWhileRevalidate', 'staleIfError'].every((name) => Number.isFinite(lifetime[name]))
  );
}

const TEXTS = ['key', 'variant', 'agent', 'url'] as const;
const NUMBERS = ['status', 'requestedAt', 'receivedAt', 'initialAge'] as const;
const LISTS = ['vary', 'fields', 'tags'] as const;

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string');
