import { randomUUID } from 'node:crypto';
import { type ReceiptId, receiptId } from '../kernel/ids.ts';

/**
 * Milliseconds in hex, then 80 bits of chance: ids sort by time and are never guessed. A UUID's first and last group are chance alone
 * (RFC 9562 §5.4), and Node draws many at once.
 */
export function newReceiptId(now: number): ReceiptId {
  const chance = randomUUID();
  return receiptId(`${now.toString(16).padStart(12, '0')}-${chance.slice(0, 8)}${chance.slice(24)}`);
}
