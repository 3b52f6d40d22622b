import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Event } from '../kernel/event.ts';
import type { CardArchive, Clock, Evidence, Observer, PrivateJwk } from '../ports.ts';
import { createCardArchive } from './archive.ts';
import { newCardKey, readCardKey } from './card-key.ts';
import type { Opened } from './disk-calls.ts';
import { createDisk } from './disk.ts';
import { createKeyedHash, deriveKey } from './keyed-hash.ts';
import type { KeepReceipts } from './ledger-file.ts';
import { createRecentLedger } from './ledger-recent.ts';
import { createSqliteLedger } from './ledger-sqlite.ts';
import { DISK_MENDS } from './sqlite.ts';
import { CARDS, LEDGER, type StateLock, readHashKey } from './state-folder.ts';

/** What outlives a restart, opened. */
export interface State {
  readonly ledger: Evidence;
  readonly archive: CardArchive | null;
  /** What signs the cards that Cardea has rewritten. */
  readonly cardKey: PrivateJwk;
  /** Writes what is left and gives the folder free. After the listeners, the store and everything that records. */
  close(): Promise<void>;
}

export interface StateParts {
  readonly clock: Clock;
  readonly observer: Observer;
  readonly bounds: () => KeepReceipts;
}

/** State for a daemon that keeps none. */
export function openMemoryState({ clock, observer }: Omit<StateParts, 'bounds'>): State {
  const ledger = createRecentLedger({ clock, observer, keyedHash: createKeyedHash(randomBytes(32)) });
  return { ledger, archive: null, cardKey: newCardKey(), close: () => ledger.close() };
}

/**
 * Opens a state folder that is locked for this process; the lock is released with it, or when it throws. Only a damaged key keeps it from starting; any other fault of the disk is
 * told, and then decisions fail, receipts are lost and cards are fetched anew.
 */
export async function openStateFolder(folder: string, lock: StateLock | null, parts: StateParts): Promise<State> {
  const { clock, observer, bounds } = parts;
  const { key, kept } = await orRelease(readHashKey(folder), lock);
  const cardKey = await orRelease(readCardKey(folder), lock);
  const files = { ledgerFile: path.join(folder, LEDGER), cardsFile: path.join(folder, CARDS) };
  const disk = createDisk({ ...files, chainKey: deriveKey(key, 'chain') }, clock);
  const opened = await disk.call('open');
  const notices = opened.ok ? openingNotices(opened.value) : [notice('error', opened.message)];
  if (!kept) notices.push(notice('error', 'the state folder cannot be written: nothing is kept'));
  for (const each of notices) observer.record(each);
  const ledger = createSqliteLedger({ clock, observer, disk, bounds, keyedHash: createKeyedHash(key) });
  return {
    ledger,
    archive: createCardArchive({ clock, observer, disk }),
    cardKey,
    async close() {
      await ledger.close();
      await disk.close();
      lock?.release();
    },
  };
}

async function orRelease<Key>(reading: Promise<Key>, lock: StateLock | null): Promise<Key> {
  try {
    return await reading;
  } catch (error) {
    lock?.release();
    throw error;
  }
}

function openingNotices({ ledger, cards, cardsAside }: Opened): Event[] {
  const notices: Event[] = [];
  if (ledger !== null) {
    const { fault, message } = ledger;
    const msg = 'the ledger cannot be opened: approvals fail, receipts are lost, serving goes on';
    notices.push(notice('error', msg, { fault, error: message, mend: DISK_MENDS[fault] }));
  }
  if (cardsAside !== null) {
    notices.push(notice('warn', 'stored cards cannot be read and were put aside: a cold start', { fault: cardsAside }));
  }
  if (cards !== null) {
    const { fault, message } = cards;
    notices.push(notice('error', 'cards are not kept for the next start', { fault, error: message }));
  }
  return notices;
}

const notice = (level: 'warn' | 'error', msg: string, about: Readonly<Record<string, string>> = {}): Event => ({
  kind: 'notice',
  level,
  msg,
  about,
});
