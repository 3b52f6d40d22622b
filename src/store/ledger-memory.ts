import { randomBytes } from 'node:crypto';
import { type ReceiptId, receiptId } from '../kernel/ids.ts';
import type { Clock, Ledger, Observer } from '../ports.ts';

/** A ledger that keeps nothing: ids are given out and receipts become log lines. */
export function createMemoryLedger({
  clock,
  observer,
}: {
  readonly clock: Clock;
  readonly observer: Observer;
}): Ledger {
  return {
    issue: () => newReceiptId(clock.now()),
    record: (receipt) => observer.record({ kind: 'receipt', receipt }),
    close: () => Promise.resolve(),
  };
}

/** Milliseconds in hex, then 80 bits of chance: ids sort by time and are never guessed. */
export const newReceiptId = (now: number): ReceiptId =>
  receiptId(`${now.toString(16).padStart(12, '0')}-${randomBytes(10).toString('hex')}`);
