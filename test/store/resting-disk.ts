import assert from 'node:assert/strict';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { createDisk, type Disk } from '../../src/store/disk.ts';
import { type StartThread, type ThreadEvents, startThread } from '../../src/store/disk-thread.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { temporaryFolder } from './ledger-world.ts';

/** The real thread, counted. */
interface Threads {
  readonly start: StartThread;
  started(): number;
  /** Resolves when no thread runs. */
  allGone(): Promise<void>;
  /** Whether a thread that has ended is known to have. */
  heldBack(): () => void;
}

function threads(): Threads {
  const lives: Promise<void>[] = [];
  let gate = Promise.resolve();
  return {
    start(options, events) {
      const life = Promise.withResolvers<void>();
      lives.push(life.promise);
      const ended: ThreadEvents['ended'] = (failure) =>
        void gate.then(() => events.ended(failure)).then(life.resolve, life.reject);
      return startThread(options, { ...events, ended });
    },
    started: () => lives.length,
    allGone: async () => void (await Promise.all(lives)),
    heldBack() {
      const held = Promise.withResolvers<void>();
      gate = held.promise;
      return held.resolve;
    },
  };
}

export interface OpenedDisk extends Threads {
  readonly disk: Disk;
  readonly clock: FakeClock;
  readonly ledgerFile: string;
  readonly cardsFile: string;
  rest(): Promise<void>;
}

/** A disk with real threads and files; the test closes it. */
export async function openDisk(t: TestContext, folder?: string): Promise<OpenedDisk> {
  const kept = folder ?? (await temporaryFolder(t));
  const clock = new FakeClock();
  const made = threads();
  const files = { ledgerFile: path.join(kept, 'ledger.db'), cardsFile: path.join(kept, 'cards.db') };
  const disk = createDisk({ ...files, chainKey: new Uint8Array(32) }, clock, made.start);
  t.after(() => disk.close());
  await disk.call('open');
  const rest = async (): Promise<void> => {
    await clock.advance(5_000);
    await made.allGone();
  };
  return { ...made, disk, clock, ...files, rest };
}

/** Of all receipts, in their order. */
export async function ids(disk: Disk): Promise<readonly string[]> {
  const found = await disk.call('query', { limit: 100 });
  assert.ok(found.ok, JSON.stringify(found));
  return found.value.receipts.map(({ id }) => id).toReversed();
}
