import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashRounds } from './crash-rounds.ts';
import { temporaryFolder } from './ledger-world.ts';

test('killed between write and acknowledgement, 8 times: nothing acknowledged is lost, nothing is half there', async (t) => {
  assert.ok((await crashRounds(await temporaryFolder(t), 8)) > 0);
});
