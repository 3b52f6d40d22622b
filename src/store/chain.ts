import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { blob } from './sqlite.ts';

/**
 * Ties receipts together: each has a link over itself and the link before it, and one row seals where the chain starts and ends.
 * All by a key that is not in the database, so that who edits, cuts or inserts rows there cannot make the chain fit again.
 */

/** A receipt as the chain covers it: every column that is read. */
export interface Linked {
  readonly seq: number;
  readonly id: string;
  readonly at: number;
  readonly kind: string;
  readonly agent: string | null;
  readonly body: string;
}

export interface ChainEnds {
  /** The last receipt that was written. */
  readonly headSeq: number;
  readonly headLink: Uint8Array;
  /** The last receipt that was pruned: its link vouches for what came after it. */
  readonly anchorSeq: number;
  readonly anchorLink: Uint8Array;
}

export interface SealedEnds extends ChainEnds {
  /** False once anyone else has changed the ends. It never becomes true again. */
  readonly sealed: boolean;
  readonly seal: Uint8Array;
}

const NO_LINK = new Uint8Array(32);

/** Makes the link of a receipt. Columns are joined by lengths, so that no two rows read as one text. */
export function linkOf(key: Uint8Array, before: Uint8Array, row: Linked): Uint8Array {
  const hmac = createHmac('sha256', key).update(before);
  for (const part of [row.seq, row.id, row.at, row.kind, row.agent ?? '', row.body]) {
    const text = Buffer.from(String(part));
    hmac.update(`${text.length}:`).update(text);
  }
  return hmac.digest();
}

const sealOf = (key: Uint8Array, ends: ChainEnds): Uint8Array =>
  createHmac('sha256', key)
    .update(`ends:${ends.headSeq}:${ends.anchorSeq}:`)
    .update(ends.headLink)
    .update(ends.anchorLink)
    .digest();

/** Writes the ends of a chain that has nothing in it, in a file that was made this moment. */
export function startChain(db: DatabaseSync, key: Uint8Array): void {
  const ends = { headSeq: 0, headLink: NO_LINK, anchorSeq: 0, anchorLink: NO_LINK };
  writeEnds(db, ends, sealOf(key, ends));
}

/** Reads where the chain starts and ends; a row that somebody took away leaves a broken seal. */
export function readEnds(db: DatabaseSync, key: Uint8Array): SealedEnds {
  const row = db.prepare('select * from chain').get();
  const ends = {
    headSeq: Number(row?.['head_seq'] ?? 0),
    headLink: blob(row?.['head_link']),
    anchorSeq: Number(row?.['anchor_seq'] ?? 0),
    anchorLink: blob(row?.['anchor_link']),
  };
  const seal = blob(row?.['seal']);
  return { ...ends, seal, sealed: same(seal, sealOf(key, ends)) };
}

/** Moves the ends. A seal that was broken stays as it was found: nobody mends it by writing on. */
export function moveEnds(db: DatabaseSync, key: Uint8Array, before: SealedEnds, ends: ChainEnds): void {
  writeEnds(db, ends, before.sealed ? sealOf(key, ends) : before.seal);
}

function writeEnds(db: DatabaseSync, ends: ChainEnds, seal: Uint8Array): void {
  db.prepare(
    `insert or replace into chain (only, head_seq, head_link, anchor_seq, anchor_link, seal) values (1, ?, ?, ?, ?, ?)`,
  ).run(ends.headSeq, ends.headLink, ends.anchorSeq, ends.anchorLink, seal);
}

export const same = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && timingSafeEqual(one, other);
