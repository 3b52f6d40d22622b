import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Why a disk did not do what was asked: the word in logs, and what decides what is done about it. */
export type DiskFault =
  | 'busy' // another process holds the file
  | 'full' // no space is left
  | 'io' // the folder or file cannot be read or written
  | 'corrupt' // the content is damaged, or no database
  | 'future' // a newer Cardea wrote it
  | 'thread' // no thread can be started
  | 'closed' // the ledger has ended
  | 'bug'; // anything else

/** A database that cannot be used, with the reason as a word. */
export class DiskError extends Error {
  readonly fault: DiskFault;
  constructor(fault: DiskFault, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'DiskError';
    this.fault = fault;
  }
}

/** A person with `sqlite3` open on the file is given this long before a write is lost. In a worker: nothing waits with it. */
const BUSY_TIMEOUT = 2_000;

/**
 * Opens a database for this user alone, write-ahead logged and synced at every commit.
 * @param isAsLeft whether it is as this process left it: the check reads all of it.
 */
export function openDatabase(file: string, isAsLeft = false): DatabaseSync {
  // SQLite makes its files with the mode of the first, which it would make readable for everyone.
  closeSync(openSync(file, 'a', 0o600));
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT, limits: { attach: 0 } });
  try {
    db.exec('pragma journal_mode=wal; pragma synchronous=full; pragma journal_size_limit=16777216');
    if (isAsLeft) return db;
    const check = db.prepare('pragma quick_check(1)').get();
    if (check?.['quick_check'] !== 'ok') throw new DiskError('corrupt', String(check?.['quick_check']));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Runs work that is done whole or not at all. Immediate: a lock is waited for at the start, where waiting helps. */
export function transact<T>(db: DatabaseSync, work: () => T): T {
  db.exec('begin immediate');
  try {
    const value = work();
    db.exec('commit');
    return value;
  } catch (error) {
    // A full disk has made SQLite roll back already.
    if (db.isTransaction) db.exec('rollback');
    throw error;
  }
}

/** Reads a blob column of a strict table. */
export const blob = (value: unknown): Uint8Array => (value instanceof Uint8Array ? value : new Uint8Array(0));

/** Names the fault behind anything that a database throws. */
export function diskFault(error: unknown): DiskFault {
  if (error instanceof DiskError) return error.fault;
  if (!(error instanceof Error) || !('code' in error)) return 'bug';
  if (error.code !== 'ERR_SQLITE_ERROR') return SYSTEM[String(error.code)] ?? 'bug';
  // The extended code says more than is needed; its low byte is the primary one.
  return 'errcode' in error ? (SQLITE[Number(error.errcode) & 0xff] ?? 'bug') : 'bug';
}

const SQLITE: Readonly<Record<number, DiskFault>> = {
  3: 'io', // SQLITE_PERM
  5: 'busy', // SQLITE_BUSY
  6: 'busy', // SQLITE_LOCKED
  8: 'io', // SQLITE_READONLY
  10: 'io', // SQLITE_IOERR
  11: 'corrupt', // SQLITE_CORRUPT
  13: 'full', // SQLITE_FULL
  14: 'io', // SQLITE_CANTOPEN
  26: 'corrupt', // SQLITE_NOTADB
};

const SYSTEM: Readonly<Record<string, DiskFault>> = {
  EACCES: 'io',
  EPERM: 'io',
  EROFS: 'io',
  EIO: 'io',
  ENOENT: 'io',
  ENOTDIR: 'io',
  EISDIR: 'io',
  ENOSPC: 'full',
  EDQUOT: 'full',
  ERR_INVALID_STATE: 'closed',
};

/** What whoever runs Cardea can do about it. */
export const DISK_MENDS: Readonly<Record<DiskFault, string>> = {
  busy: 'another program holds the file; close it',
  full: 'make room on the disk of the state folder',
  io: 'check that the state folder is there and that this user may write to it',
  corrupt:
    'stop Cardea, move the file away (it is evidence: keep it) and start again; cards must then be approved again',
  future: 'start the newer version again, or move the file away; cards must then be approved again',
  thread: 'give this user and this container more threads, open files or memory',
  closed: 'Cardea is ending',
  bug: 'report it with the log line',
};
