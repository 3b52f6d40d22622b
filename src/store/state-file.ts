import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder, writeSynced } from './synced.ts';

/** Makes the state folder where it is missing: only this user may look in. Throws an Error that says what to change. */
export async function makeStateFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new Error(`state: cannot make the folder ${folder}; choose another, or state: memory`, { cause });
  }
}

/** Writes a file so that readers see the old or the new content, never half. */
export async function writeWhole(file: string, content: string, mode: number): Promise<void> {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}`);
  // What a crash left may be open to others, and a file that is there keeps its mode.
  await rm(draft, { force: true });
  try {
    await writeFile(draft, content, { mode, flag: 'wx' });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export const removeFile = (file: string): Promise<void> => rm(file, { force: true });

/** The same, and on the disk when it resolves: the file before its name, then the folder that holds the name. */
export async function replaceSynced(file: string, content: string, mode: number): Promise<void> {
  const folder = path.dirname(file);
  const draft = path.join(folder, `.${path.basename(file)}.${process.pid}`);
  await writeSynced(draft, content, mode);
  await rename(draft, file);
  await syncFolder(folder);
}
