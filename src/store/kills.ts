import { access } from 'node:fs/promises';
import path from 'node:path';
import type { Event } from '../kernel/event.ts';
import { type ReceiptId, tag } from '../kernel/ids.ts';
import type { Kill } from '../kernel/kill.ts';
import type { Clock, KillBook } from '../ports.ts';
import { KILLS_FILE, readKills, writeKills } from './kills-file.ts';
import { newReceiptId } from './receipt-id.ts';

/** A kill book, and what the log must be told of how it was opened. */
export interface OpenedKills {
  readonly book: KillBook;
  readonly notices: readonly Event[];
}

/** A kill book for what keeps no state: nothing outlives the process. */
export const createMemoryKills = (): KillBook => createKillBook([], null, 'written');

/**
 * Opens the kill book of a state folder, or with null one that keeps nothing. A file that cannot be believed stops everything,
 * and so does a missing one in a folder that Cardea has used before: somebody has taken it away.
 */
export async function openKills(folder: string | null, clock: Clock): Promise<OpenedKills> {
  if (folder === null) return { book: createMemoryKills(), notices: [] };
  const read = await readKills(folder);
  if (read.found === 'kills') return { book: createKillBook(read.kills, folder, 'written'), notices: [] };
  if (read.found === 'unreadable') return stopEverything(folder, read.why, clock);
  if (await isUsed(folder)) return stopEverything(folder, 'it is missing, and this folder was used before', clock);
  const book = createKillBook([], folder, 'unwritten');
  // From here on its absence means something.
  const error = await book.flush();
  return { book, notices: error === null ? [] : [notice(`a kill would not outlive a restart: ${error}`)] };
}

/** Who takes away or damages the record of kills has lifted none. */
function stopEverything(folder: string, why: string, clock: Clock): OpenedKills {
  const id = killId(newReceiptId(clock.now()));
  const reason = `${path.join(folder, KILLS_FILE)} cannot be trusted: ${why}`;
  const kill: Kill = { id, scope: tag('all'), reason, by: 'unreadable-state', at: clock.now() };
  const mend = `make sure of what must stay stopped, then: cardea lift ${id} --reason "…"`;
  return {
    book: createKillBook([kill], folder, 'written'),
    notices: [notice(`everything is stopped: ${reason}; ${mend}`)],
  };
}

const notice = (msg: string): Event => ({ kind: 'notice', level: 'error', msg });

/** What a state folder holds after a first start, whatever was configured. */
const TRACES = ['hash-key', 'ledger.db', 'cards.db', 'admin-token', 'daemon.json'] as const;

async function isUsed(folder: string): Promise<boolean> {
  const found = TRACES.map((name) =>
    access(path.join(folder, name)).then(
      () => true,
      () => false,
    ),
  );
  return (await Promise.all(found)).includes(true);
}

/** Short enough to type: the end of a receipt's id, which is all chance. */
const killId = (id: ReceiptId): string => id.slice(-8);

function createKillBook(found: readonly Kill[], folder: string | null, at: 'written' | 'unwritten'): KillBook {
  let active = found;
  let written: readonly Kill[] | null = at === 'written' ? found : null;
  let writing: Promise<string | null> = Promise.resolve(null);
  // One write at a time, each of what is in force when its turn comes.
  const write = (): Promise<string | null> => {
    if (folder === null) return Promise.resolve('state: memory keeps nothing');
    writing = writing.then(async () => {
      const kills = active;
      if (written === kills) return null;
      try {
        await writeKills(folder, kills);
        written = kills;
        return null;
      } catch (error) {
        written = null;
        return `kills.json cannot be written: ${error instanceof Error ? error.message : String(error)}`;
      }
    });
    return writing;
  };
  return {
    active: () => active,
    put(kill) {
      active = [...active, kill];
      return write();
    },
    remove(id) {
      active = active.filter((kill) => kill.id !== id);
      return write();
    },
    flush: write,
    persisted: () => (folder === null ? active.length === 0 : written === active),
  };
}
