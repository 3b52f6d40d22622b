import type { DatabaseSync } from 'node:sqlite';
import { type AgentName, type CardDigest, agentName } from '../kernel/ids.ts';
import type { Receipt, ReviewReceipt } from '../kernel/receipt.ts';
import type { CardVariant, HeldExtended } from '../kernel/review.ts';
import type { CardInForce, ChainReport, Decision, HeldCard, ReceiptPage, ReceiptQuery } from '../ports.ts';
import { checkChain, linkedRow } from './chain-check.ts';
import { type ChainEnds, linkOf, moveEnds, readEnds, startChain } from './chain.ts';
import { LEDGER_SCHEMA, migrate } from './migrations.ts';
import { receiptText } from './receipt-row.ts';
import {
  decisionOf,
  heldExtendedOf,
  heldOf,
  inForceOf,
  insertHeld,
  insertHeldExtended,
  insertInForce,
} from './review-rows.ts';
import { blob, openDatabase, transact } from './sqlite.ts';

/** How many receipts are kept, and for how long in ms: whichever bound is met first. */
export interface KeepReceipts {
  readonly keep: number;
  readonly max: number;
}

/** What is there of receipts, for whoever holds the bounds against it. */
export interface KeptReceipts {
  readonly count: number;
  /** When the oldest was made, in ms; null of none. */
  readonly oldest: number | null;
}

/** The ledger's file, held by whoever may wait for a disk. Every method throws what SQLite throws, with nothing half done. */
export class LedgerFile {
  readonly #db: DatabaseSync;
  readonly #key: Uint8Array;

  /**
   * @param key keys the chain; it is kept outside the file.
   * @param isAsLeft whether the file is as this process left it, so that it needs no check.
   */
  constructor(file: string, key: Uint8Array, isAsLeft = false) {
    this.#db = openDatabase(file, isAsLeft);
    this.#key = key;
    try {
      const isNew = Number(this.#db.prepare('pragma user_version').get()?.['user_version']) === 0;
      migrate(this.#db, LEDGER_SCHEMA);
      if (isNew) startChain(this.#db, key);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Adds receipts to the chain, all or none. */
  append(receipts: readonly Receipt[]): KeptReceipts {
    return transact(this.#db, () => this.#link(receipts));
  }

  /** Takes away the oldest receipts beyond the bounds; the chain is anchored at the last of them. */
  prune({ keep, max }: KeepReceipts, now: number): KeptReceipts {
    return transact(this.#db, () => {
      const ends = readEnds(this.#db, this.#key);
      const tooOld = this.#number('select max(seq) as n from receipts where at < ?', now - keep);
      const last = Math.min(Math.max(tooOld, ends.headSeq - max), ends.headSeq);
      const row = this.#db.prepare('select link from receipts where seq = ?').get(last);
      if (last <= ends.anchorSeq || row === undefined) return this.#kept(ends);
      const after = { ...ends, anchorSeq: last, anchorLink: blob(row['link']) };
      moveEnds(this.#db, this.#key, ends, after);
      this.#db.prepare('delete from receipts where seq <= ?').run(last);
      return this.#kept(after);
    });
  }

  query({ agent, since, before, limit }: ReceiptQuery): ReceiptPage {
    const rows = this.#db
      .prepare(
        `select seq, body from receipts
         where (?1 is null or agent = ?1) and (?2 is null or at >= ?2) and (?3 is null or seq < ?3)
         order by seq desc limit ?4`,
      )
      .all(agent ?? null, since ?? null, before ?? null, limit + 1);
    const receipts = rows.slice(0, limit).map((row) => JSON.parse(String(row['body'])) as Receipt);
    const last = rows[limit - 1];
    return { receipts, next: rows.length > limit && last !== undefined ? Number(last['seq']) : null };
  }

  verify(): ChainReport {
    return checkChain(this.#db, this.#key);
  }

  /** Writes a decision, its receipt and the end of the hold in one transaction. */
  decide(decision: Decision, letsIn: readonly CardInForce[]): KeptReceipts {
    const { id, at, agent, digest, action, reason, by } = decision;
    return transact(this.#db, () => {
      this.#db
        .prepare(
          'insert into decisions (id, at, agent, digest, action, reason, authority) values (?, ?, ?, ?, ?, ?, ?)',
        )
        .run(id, at, agent, digest, action, reason, by);
      this.#db.prepare('delete from held where agent = ? and digest = ?').run(agent, digest);
      this.releaseExtended(agent, digest);
      for (const card of letsIn) insertInForce(this.#db, card);
      return this.#link([{ kind: 'review', ...decision } satisfies ReviewReceipt]);
    });
  }

  decisions(agent: AgentName): readonly Decision[] {
    return this.#db.prepare('select * from decisions where agent = ? order by seq').all(agent).map(decisionOf);
  }

  hold(card: HeldCard): void {
    insertHeld(this.#db, card);
  }

  held(agent: AgentName | null): readonly HeldCard[] {
    return this.#db
      .prepare('select * from held where ?1 is null or agent = ?1 order by agent, variant')
      .all(agent)
      .map(heldOf);
  }

  release(agent: AgentName, variant: CardVariant): void {
    this.#db.prepare('delete from held where agent = ? and variant = ?').run(agent, variant);
  }

  /** Puts a card in force and takes away the oldest beyond what is kept. */
  enforce(card: CardInForce): void {
    transact(this.#db, () => insertInForce(this.#db, card));
  }

  inForce(agent: AgentName): readonly CardInForce[] {
    return this.#db.prepare('select * from in_force where agent = ? order by seq').all(agent).map(inForceOf);
  }

  holdExtended(card: HeldExtended): void {
    insertHeldExtended(this.#db, card);
  }

  heldExtended(): readonly HeldExtended[] {
    return this.#db.prepare('select * from held_extended order by at').all().map(heldExtendedOf);
  }

  releaseExtended(agent: AgentName, digest: CardDigest): void {
    this.#db.prepare('delete from held_extended where agent = ? and digest = ?').run(agent, digest);
  }

  unnamed(): readonly AgentName[] {
    return this.#db
      .prepare(
        `select agent, max(at) as last from
           (select agent, at from in_force union all select agent, at from held union all select agent, at from decisions)
         where agent glob 'http*://*' group by agent order by last`,
      )
      .all()
      .map((row) => agentName(String(row['agent'])));
  }

  /** Takes out the cards of one agent; what people decided about them stays. */
  forget(agent: AgentName): void {
    transact(this.#db, () => {
      this.#db.prepare('delete from held where agent = ?').run(agent);
      this.#db.prepare('delete from in_force where agent = ?').run(agent);
    });
  }

  close(): void {
    this.#db.close();
  }

  #link(receipts: readonly Receipt[]): KeptReceipts {
    const before = readEnds(this.#db, this.#key);
    const insert = this.#db.prepare(
      'insert into receipts (seq, id, at, kind, agent, body, link) values (?, ?, ?, ?, ?, ?, ?)',
    );
    // Rows that somebody added keep their numbers: they are found by the check, and must not stop what is written after them.
    const last = this.#number('select max(seq) as n from receipts where seq > ?', before.headSeq);
    let ends: ChainEnds = { ...before, headSeq: Math.max(before.headSeq, last) };
    for (const receipt of receipts) {
      const { id, at, kind } = receipt;
      const row = { seq: ends.headSeq + 1, id, at, kind, agent: agentOf(receipt), body: receiptText(receipt) };
      const link = linkOf(this.#key, ends.headLink, linkedRow(row));
      insert.run(row.seq, id, at, kind, row.agent, row.body, link);
      ends = { ...ends, headSeq: row.seq, headLink: link };
    }
    moveEnds(this.#db, this.#key, before, ends);
    return this.#kept(ends);
  }

  #kept({ headSeq, anchorSeq }: ChainEnds): KeptReceipts {
    const oldest = this.#db.prepare('select min(at) as n from receipts').get()?.['n'];
    return { count: headSeq - anchorSeq, oldest: typeof oldest === 'number' ? oldest : null };
  }

  #number(sql: string, value: number): number {
    return Number(this.#db.prepare(sql).get(value)?.['n'] ?? 0);
  }
}

/** The one agent that a receipt is about, for those who ask by agent. */
function agentOf(receipt: Receipt): string | null {
  switch (receipt.kind) {
    case 'exchange':
    case 'verdict':
    case 'review':
    case 'registry':
    case 'refusal':
      return receipt.agent;
    case 'switch':
      return agentIn(receipt.scope);
    case 'change':
      return receipt.about.length === 1 ? agentIn(receipt.about[0] ?? '') : null;
  }
}

const agentIn = (scope: string): string | null => /^agent:(.+)$/.exec(scope)?.[1] ?? null;
