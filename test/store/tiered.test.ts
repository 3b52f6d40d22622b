import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { bytes } from '../../src/kernel/units.ts';
import type { Store } from '../../src/ports.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { createTieredStore } from '../../src/store/tiered.ts';
import { storeContract } from '../contracts/store.contract.ts';
import { RecordingObserver } from '../support/recording-observer.ts';
import { openState } from './ledger-world.ts';

// One disk for all cases: opening one takes longer than all that is done to it.
const folder = await mkdtemp(path.join(os.tmpdir(), 'cardea-tiered-'));
const { state } = await openState(folder);
const { archive } = state;

after(async () => {
  await state.close();
  await rm(folder, { recursive: true });
});

storeContract('memory before a disk', (clock): Promise<Store> => {
  assert.ok(archive);
  const observer = new RecordingObserver();
  const memory = createMemoryStore({ clock, observer, maxBytes: bytes(1_000_000), pinned: () => false });
  // To close a tiered store is to close its disk, which the next case needs.
  return Promise.resolve({ ...createTieredStore(memory, archive), close: () => memory.close() });
});
