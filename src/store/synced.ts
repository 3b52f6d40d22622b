import { constants, open } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Writes that are on the disk when they resolve, under Node's permission model too, which forbids `fsync`. */

/** O_SYNC: each write returns when its data, and what is needed to find them, are on the disk. */
const SYNCED = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_SYNC;

/** Writes a file whole, over what is there. */
export async function writeSynced(file: string, content: string | Uint8Array, mode: number): Promise<void> {
  const handle = await open(file, SYNCED, mode);
  try {
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}

/** Puts the names in a folder on the disk: what was renamed in it is found after a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  if (isFenced()) return syncByDatabase(folder);
  const holder = await open(folder, 'r');
  try {
    await holder.sync();
  } finally {
    await holder.close();
  }
}

/** The types of Node say that it is always there; it is where the permission model is on. */
const isFenced = (): boolean => 'permission' in process && process.permission !== undefined;

/** A database for nothing but its side effect. */
const FOLDER_SYNC = 'folder-sync.db';
const HIGHEST = 1_000_000;

/**
 * SQLite lies outside the permission model, and syncs the folder of its journal: "EXTRA synchronous is like FULL with the addition that the
 * directory containing a rollback journal is synced after that journal is unlinked". So any change of a database does it.
 */
function syncByDatabase(folder: string): void {
  const db = new DatabaseSync(path.join(folder, FOLDER_SYNC), { timeout: 200 });
  try {
    db.exec('pragma journal_mode=delete; pragma synchronous=extra');
    const count = Number(db.prepare('pragma user_version').get()?.['user_version'] ?? 0);
    db.exec(`pragma user_version=${(count + 1) % HIGHEST}`);
  } finally {
    db.close();
  }
}
