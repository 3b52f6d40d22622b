import { renameSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { urlId } from '../kernel/ids.ts';
import { epochMs } from '../kernel/units.ts';
import type { ArchivedKeySet } from '../ports.ts';
import { type EncodedEntry, softened } from './card-codec.ts';
import { CARDS_SCHEMA, migrate } from './migrations.ts';
import { type DiskFault, blob, diskFault, openDatabase, transact } from './sqlite.ts';

/** What finds an entry on the disk, and the entry. */
export interface CardRow extends EncodedEntry {
  readonly key: string;
  readonly variant: string;
  readonly tags: readonly string[];
}

/** One per version that callers speak, twice over: an origin that varies its Vary must not fill the disk. */
const MOST_VARIANTS = 8;

/** The file of cards and key sets that a restart serves from, held by whoever may wait for a disk. */
export class CardsFile {
  readonly #db: DatabaseSync;

  private constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /**
   * Opens the file. What is damaged or of a newer program is put aside, for it is only a cache: a cold start.
   * @param isAsLeft whether it is as this process left it, so that it needs no check.
   * @returns the reason why it was put aside, where it was.
   */
  static open(file: string, isAsLeft = false): { readonly cards: CardsFile; readonly aside: DiskFault | null } {
    try {
      return { cards: new CardsFile(openMigrated(file, isAsLeft)), aside: null };
    } catch (error) {
      const fault = diskFault(error);
      if (fault !== 'corrupt' && fault !== 'future') throw error;
      renameSync(file, `${file}.${fault}`);
      for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
      return { cards: new CardsFile(openMigrated(file, false)), aside: fault };
    }
  }

  /** Saves a card in place of the one of the same key and variant; of many variants the latest are kept. */
  save({ key, variant, tags, head, body }: CardRow): void {
    transact(this.#db, () => {
      this.#db
        .prepare('insert or replace into cards (key, variant, tags, head, body) values (?, ?, ?, ?, ?)')
        .run(key, variant, JSON.stringify(tags), head, body);
      this.#db
        .prepare(
          `delete from cards where key = ?1
           and rowid not in (select rowid from cards where key = ?1 order by rowid desc limit ?2)`,
        )
        .run(key, MOST_VARIANTS);
    });
  }

  drop(key: string, variant: string): void {
    this.#db.prepare('delete from cards where key = ? and variant = ?').run(key, variant);
  }

  purge(tags: readonly string[]): void {
    transact(this.#db, () => {
      for (const { key, variant } of this.#carrying(tags)) this.drop(key, variant);
    });
  }

  /** Makes stale at `now` what carries one of the tags. */
  soften(tags: readonly string[], now: number): void {
    const update = this.#db.prepare('update cards set head = ? where key = ? and variant = ?');
    transact(this.#db, () => {
      for (const row of this.#carrying(tags)) update.run(softened(row, now).head, row.key, row.variant);
    });
  }

  load(): readonly EncodedEntry[] {
    const rows = this.#db.prepare('select head, body from cards').all();
    return rows.map((row) => ({ head: String(row['head']), body: blob(row['body']) }));
  }

  saveKeySet({ name, url, fetchedAt, body }: ArchivedKeySet): void {
    this.#db
      .prepare('insert or replace into key_sets (name, url, fetched_at, body) values (?, ?, ?, ?)')
      .run(name, url, fetchedAt, body);
  }

  loadKeySets(): readonly ArchivedKeySet[] {
    return this.#db
      .prepare('select * from key_sets')
      .all()
      .map((row) => ({
        name: String(row['name']),
        url: urlId(String(row['url'])),
        fetchedAt: epochMs(Number(row['fetched_at'])),
        body: blob(row['body']),
      }));
  }

  close(): void {
    this.#db.close();
  }

  /** Agents are few: every row is looked at. */
  #carrying(tags: readonly string[]): readonly CardRow[] {
    const wanted = new Set(tags);
    return this.#db
      .prepare('select * from cards')
      .all()
      .map(rowOf)
      .filter((row) => row.tags.some((each) => wanted.has(each)));
  }
}

const rowOf = (row: Record<string, unknown>): CardRow => ({
  key: String(row['key']),
  variant: String(row['variant']),
  tags: JSON.parse(String(row['tags'])) as readonly string[],
  head: String(row['head']),
  body: blob(row['body']),
});

function openMigrated(file: string, isAsLeft: boolean): DatabaseSync {
  const db = openDatabase(file, isAsLeft);
  try {
    migrate(db, CARDS_SCHEMA);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
