import { randomBytes } from 'node:crypto';
import { type ReceiptId, receiptId } from '../kernel/ids.ts';

/** Milliseconds in hex, then 80 bits of chance: ids sort by time and are never guessed. */
export const newReceiptId = (now: number): ReceiptId =>
  receiptId(`${now.toString(16).padStart(12, '0')}-${randomBytes(10).toString('hex')}`);
