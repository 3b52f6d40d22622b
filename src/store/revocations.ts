import path from 'node:path';
import type { Event } from '../kernel/event.ts';
import { tag } from '../kernel/ids.ts';
import { type Revocation, type Revocations, hasLapsed } from '../kernel/revocation.ts';
import { epochMs } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';
import type { RevocationBook } from '../ports/callers.ts';
import { replaceSynced } from './state-file.ts';
import { isRecord, readRecord, readTrusted } from './trusted-file.ts';

/** `revocations.json`: what was taken back of whom, by keyed hashes. */
const REVOCATIONS_FILE = 'revocations.json';
/** Counts up when the members change their meaning; a file of another version revokes everything rather than be misread. */
const VERSION = 1;
/** 10,000 revocations are no larger. */
const LARGEST = 4 * 1024 * 1024;

/** A book of revocations, and what the log must be told of how it was opened. */
export interface OpenedRevocations {
  readonly revocations: RevocationBook;
  readonly notices: readonly Event[];
}

/**
 * Opens the book of a state folder, or with null one that keeps nothing. A file that cannot be believed revokes whatever any caller
 * could show until now: who damages the record has given nobody a token back.
 */
export async function openRevocations(folder: string | null, clock: Clock): Promise<OpenedRevocations> {
  if (folder === null) return { revocations: createBook([], null, clock), notices: [] };
  const file = path.join(folder, REVOCATIONS_FILE);
  const read = await readTrusted(file, LARGEST, parseRevocations);
  switch (read.found) {
    case 'nothing':
      return { revocations: createBook([], file, clock), notices: [] };
    case 'content':
      return { revocations: createBook(read.content, file, clock), notices: [] };
    case 'unreadable': {
      const everything: Revocation = { scope: tag('all'), at: clock.now() };
      return { revocations: createBook([everything], file, clock), notices: [notice(file, read.why)] };
    }
  }
}

const notice = (file: string, why: string): Event => ({
  kind: 'notice',
  level: 'error',
  msg: `every credential from before this start is revoked: ${file} cannot be trusted: ${why}; restore it, or take it away to begin without revocations, and start again`,
});

/** Reads the text of the file; undefined unless every member is as this version writes it. */
function parseRevocations(text: string): readonly Revocation[] | undefined {
  const read = readRecord(text);
  if (read?.['version'] !== VERSION || !Array.isArray(read['revocations'])) return undefined;
  const revocations = read['revocations'].map(revocationOf);
  return revocations.every((each) => each !== undefined) ? revocations : undefined;
}

function revocationOf(value: unknown): Revocation | undefined {
  if (!isRecord(value)) return undefined;
  const { scope, at } = value;
  if (typeof scope !== 'string' || !SCOPE.test(scope)) return undefined;
  return typeof at === 'number' && Number.isFinite(at) ? { scope: tag(scope), at: epochMs(at) } : undefined;
}

const SCOPE = /^(?:all|(?:principal|tenant):h_[0-9a-f]{32})$/;

const textOf = (held: Revocations): string =>
  `${JSON.stringify({ version: VERSION, revocations: [...held.values()] }, null, 2)}\n`;

function createBook(found: readonly Revocation[], file: string | null, clock: Clock): RevocationBook {
  let held: Revocations = new Map(found.map((each) => [each.scope, each]));
  let writing: Promise<string | null> = Promise.resolve(null);
  let written: Revocations | null = null;
  // One write at a time, each of what is in force when its turn comes.
  const write = (): Promise<string | null> => {
    if (file === null) return Promise.resolve('state: memory keeps nothing');
    writing = writing.then(async () => {
      const now = held;
      if (written === now) return null;
      try {
        await replaceSynced(file, textOf(now), 0o600);
        written = now;
        return null;
      } catch (error) {
        return `${REVOCATIONS_FILE} cannot be written: ${error instanceof Error ? error.message : String(error)}`;
      }
    });
    return writing;
  };
  return {
    inForce: () => held,
    put(revocation) {
      const now = clock.now();
      const rest = [...held].filter(([scope, each]) => scope !== revocation.scope && !hasLapsed(each, now));
      held = new Map([...rest, [revocation.scope, revocation]]);
      return write();
    },
  };
}
