import type { ReceiptId } from '../kernel/ids.ts';
import type { RefusalNote, RefusalReceipt } from '../kernel/receipt.ts';
import { type EpochMs, ms } from '../kernel/units.ts';
import type { Clock } from '../ports.ts';

/** Counts refusals, so that whoever asks in a loop leaves one receipt a minute and not a disk full of them. */
export interface RefusalTally {
  /** Names the receipt that this refusal is counted in. */
  note(note: RefusalNote): ReceiptId;
  /** Writes down what has been counted so far. */
  flush(): void;
}

interface Parts {
  readonly clock: Clock;
  readonly issue: () => ReceiptId;
  readonly record: (receipt: RefusalReceipt) => void;
}

interface Count extends RefusalNote {
  readonly id: ReceiptId;
  readonly at: EpochMs;
  count: number;
  readonly cancel: () => void;
}

const MINUTE = ms(60_000);
/** More agents, codes and callers than this in one minute, and the oldest count is written early. */
const MOST_COUNTS = 4_096;

export function createRefusalTally({ clock, issue, record }: Parts): RefusalTally {
  const counts = new Map<string, Count>();
  const write = (key: string, { cancel, ...counted }: Count): void => {
    cancel();
    counts.delete(key);
    record({ kind: 'refusal', ...counted });
  };
  const start = (key: string, note: RefusalNote): Count => {
    for (const [oldest, count] of counts) {
      if (counts.size < MOST_COUNTS) break;
      write(oldest, count);
    }
    const cancel = clock.after(MINUTE, () => write(key, count));
    const count: Count = { ...note, id: issue(), at: clock.now(), count: 0, cancel };
    counts.set(key, count);
    return count;
  };
  return {
    note(note) {
      const { agent, code, principal, tenant } = note;
      const key = JSON.stringify([agent, code, principal, tenant]);
      const count = counts.get(key) ?? start(key, { agent, code, principal, tenant });
      count.count += 1;
      return count.id;
    },
    flush() {
      for (const [key, count] of counts) write(key, count);
    },
  };
}
