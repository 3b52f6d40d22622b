import { type CardDigest, cardDigest } from '../kernel/ids.ts';
import { parseTarget } from '../kernel/origins.ts';
import type { Finding } from './checks.ts';
import { readDocument } from './document.ts';
import { type Given, isNothing } from './given.ts';
import { formatPlace, itemPath, memberPath, quote } from './place.ts';
import type { Settings } from './schema.ts';
import type { Draft } from './table.ts';

/** The digests that a file approves, by agent: its name, or the URL of a card without one. */
export type Pins = ReadonlyMap<string, readonly CardDigest[]>;

/** The pins of every file that a `review.pins` names, by its path. */
export type PinFiles = ReadonlyMap<string, Pins>;

export interface ReadPins {
  readonly files: PinFiles;
  readonly problems: readonly Finding[];
}

/** Reads every file of pins and says what is wrong with it, once. A file that cannot be read is reported elsewhere. */
export async function readPins(
  draft: Draft<Settings>,
  readFile: (path: string) => Promise<Uint8Array>,
): Promise<ReadPins> {
  const files = new Map<string, Pins>();
  const problems: Finding[] = [];
  for (const { path, file } of pinsWritten(draft)) {
    if (files.has(file)) continue;
    const content = await readFile(file).catch(() => null);
    if (content === null) continue;
    const read = parsePins(content, file);
    files.set(file, read.pins);
    problems.push(...read.problems.map((message) => ({ path, message })));
  }
  return { files, problems };
}

/** Lists the settings that name a file of pins. */
export function pinsWritten(draft: Draft<Settings>): readonly { readonly path: string; readonly file: string }[] {
  const agents = [...(draft?.agents ?? [])].map(
    ([name, agent]) => [memberPath('agents', name), agent?.review] as const,
  );
  const origins = (draft?.origins ?? []).map((rule, index) => [itemPath('origins', index), rule?.review] as const);
  return [...agents, ...origins].flatMap(([path, review]) => {
    const file = review?.pins;
    return typeof file === 'string' ? [{ path: `${path}.review.pins`, file }] : [];
  });
}

/** What the files say, as values. */
export const pinsText = (
  files: PinFiles,
): readonly (readonly [string, readonly (readonly [string, readonly CardDigest[]])[]])[] =>
  [...files].map(([file, pins]) => [file, [...pins]]);

interface ParsedPins {
  readonly pins: Pins;
  readonly problems: readonly string[];
}

/** Reads `AGENT: [sha256:…]`; an empty file pins nothing. */
function parsePins(content: Uint8Array, file: string): ParsedPins {
  const { given, problems } = readDocument(content, file);
  const found = problems.map(({ at, message }) => `${formatPlace(at)} ${message}`);
  if (given === null || given.kind === 'broken' || isNothing(given)) return { pins: new Map(), problems: found };
  if (given.kind !== 'mapping') {
    return {
      pins: new Map(),
      problems: [...found, `${formatPlace(given.at)} holds AGENT: [sha256:…], a line per agent`],
    };
  }
  const pins = new Map<string, readonly CardDigest[]>();
  for (const [agent, { value }] of given.members) {
    const wrong = misspelledUrl(agent);
    if (wrong !== null) found.push(`${formatPlace(value.at)} ${wrong}`);
    pins.set(agent, digestsOf(value, agent, found));
  }
  return { pins, problems: found };
}

/** A URL that is not spelled as it is used would pin nothing, and nobody would notice. */
function misspelledUrl(agent: string): string | null {
  if (!agent.includes(':')) return null;
  const target = parseTarget(agent);
  if (!target.ok) return `${quote(agent)} is no URL of a card: ${target.why}`;
  return target.value.url === agent ? null : `${quote(agent)} is not spelled as it is used; write ${target.value.url}`;
}

function digestsOf(given: Given, agent: string, problems: string[]): readonly CardDigest[] {
  if (given.kind === 'broken' || isNothing(given)) return [];
  if (given.kind !== 'list') {
    problems.push(`${formatPlace(given.at)} ${quote(agent)} has a list of digests: [sha256:…]`);
    return [];
  }
  return given.items.flatMap((item) => {
    const [, hex] = (item.kind === 'scalar' && /^sha256:([0-9a-f]{64})$/.exec(item.text)) || [];
    if (hex !== undefined) return cardDigest(hex);
    problems.push(
      `${formatPlace(item.at)} is no digest: sha256: and 64 of 0 to 9 and a to f, as "cardea review" shows it`,
    );
    return [];
  });
}
