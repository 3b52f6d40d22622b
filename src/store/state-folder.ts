import { randomBytes } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { link, lstat, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { diskFault } from './sqlite.ts';
import { writeSynced } from './synced.ts';

/** A state folder that this process alone writes to. */
export interface StateLock {
  release(): void;
}

/** The names in a state folder that this part gives. */
const LOCK = 'lock';
const HASH_KEY = 'hash-key';
export const LEDGER = 'ledger.db';
export const CARDS = 'cards.db';

const KEY_LENGTH = 32;

/**
 * Takes the folder for this process; throws an Error that says who has it. The lock is one of the operating system on an open file, by
 * way of SQLite since Node has no call for it: it ends with the process, however that ends. Null where the folder cannot be
 * written: then nothing can be spoilt either.
 */
export function lockStateFolder(folder: string): StateLock | null {
  const file = path.join(folder, LOCK);
  let db: DatabaseSync | undefined;
  try {
    closeSync(openSync(file, 'a', 0o600));
    db = new DatabaseSync(file, { timeout: 0 });
    db.exec('pragma journal_mode=memory; pragma locking_mode=exclusive; begin exclusive');
  } catch (error) {
    db?.close();
    switch (diskFault(error)) {
      case 'busy':
        throw new Error(
          `state: another Cardea uses the folder ${folder}; stop it, or give this one a folder of its own with state`,
          { cause: error },
        );
      case 'full':
      case 'io':
        return null;
      case 'corrupt':
      case 'future':
      case 'thread':
      case 'closed':
      case 'bug':
        throw new Error(`state: ${file} is no lock of Cardea's; take it away and start again`, { cause: error });
    }
  }
  const held = db;
  return { release: () => held.close() };
}

/**
 * Reads the secret that keys the chain and the hashes, or makes it. Never the wrong one: a key that is damaged, or that others may
 * read, is an Error; where none can be written, one of this start alone.
 */
export async function readHashKey(folder: string): Promise<{ readonly key: Uint8Array; readonly kept: boolean }> {
  const file = path.join(folder, HASH_KEY);
  const found = await readPrivate(file);
  if (found !== undefined) {
    if (found.length !== KEY_LENGTH)
      throw new Error(`state: ${file} is damaged; without it old receipts cannot be checked`);
    return { key: found, kept: true };
  }
  const key = randomBytes(KEY_LENGTH);
  try {
    await createPrivate(file, key);
    return { key, kept: true };
  } catch {
    return { key, kept: false };
  }
}

/** Reads a file that must be this user's alone; undefined where there is none. */
export async function readPrivate(file: string): Promise<Buffer | undefined> {
  let stat: Awaited<ReturnType<typeof lstat>>;
  try {
    stat = await lstat(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`state: ${file} cannot be looked at`, { cause: error });
  }
  // Kubernetes gives volumes to a group (fsGroup), so a group may look; a link or a stranger's file is a way to plant a secret.
  if (!stat.isFile() || (stat.mode & 0o007) !== 0) {
    throw new Error(`state: ${file} must be a plain file that others cannot read; chmod 600 it, or take it away`);
  }
  return readFile(file);
}

/** Makes a file of a secret, whole and synced or not at all; throws where it is there already. */
export async function createPrivate(file: string, content: Uint8Array): Promise<void> {
  const draft = `${file}.${process.pid}`;
  try {
    await writeSynced(draft, content, 0o600);
    // Unlike a rename a link never replaces what another process made meanwhile.
    await link(draft, file);
  } finally {
    await rm(draft, { force: true });
  }
}
