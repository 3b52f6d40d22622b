import { access, constants, mkdtemp, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Settings } from '../config/schema.ts';
import type { Finding } from './findings.ts';

/** A ledger of 100,000 receipts and its journal take no more. */
const WANTED = 256 * 1024 * 1024;

/** Looks at the state folder and the kill file. */
export async function diskFindings({ state, kill }: Settings): Promise<readonly Finding[]> {
  const killed = kill.file !== null && (await isThere(kill.file)) ? [killFinding(kill.file)] : [];
  if (state.kept === 'memory') {
    return [
      disk(
        'look',
        'state',
        'nothing outlives a restart: state is "memory"',
        'Name a folder to start from what was accepted.',
      ),
      ...killed,
    ];
  }
  return [...(await folderFindings(state.path)), ...killed];
}

const disk = (level: Finding['level'], about: string, found: string, mend: string | null = null): Finding => ({
  area: 'disk',
  level,
  about,
  found,
  mend,
});

const killFinding = (file: string): Finding =>
  disk(
    'look',
    file,
    'the kill file is there: everything is stopped, or will be at the next start',
    'Take it away, then lift the kill.',
  );

async function folderFindings(folder: string): Promise<readonly Finding[]> {
  const existing = await nearestThere(folder);
  const why = await cannotWrite(existing, existing === folder);
  if (why !== null) {
    const mend = `Let the user that runs Cardea (${process.getuid?.() ?? 'this one'}) write there, or name another folder with \`state\`.`;
    return [disk('fail', folder, `cannot be written: ${why}`, mend)];
  }
  const { bavail, bsize } = await statfs(existing);
  const free = bavail * bsize;
  const found = `can be ${existing === folder ? 'written' : 'made'}; ${Math.round(free / 1024 / 1024)} MiB are free`;
  if (free >= WANTED) return [disk('ok', folder, found)];
  return [
    disk('look', folder, found, 'Make room, or lower `receipts.max`: a full disk loses receipts and fails approvals.'),
  ];
}

/** The folder, or the nearest above it that is there. */
async function nearestThere(folder: string): Promise<string> {
  if (await isThere(folder)) return folder;
  const above = path.dirname(folder);
  return above === folder ? folder : nearestThere(above);
}

const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

/** Tries it: modes do not tell of read-only file systems and full quotas. */
async function cannotWrite(folder: string, isState: boolean): Promise<string | null> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    if (isState) await rm(await mkdtemp(path.join(folder, '.doctor-')), { recursive: true });
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}
