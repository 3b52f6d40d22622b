import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killsCrashRounds } from './kills-crash.ts';
import { temporaryFolder } from './ledger-world.ts';

test('killed between write and acknowledgement, 8 times: no stop that was acknowledged is lost, none that was lifted is back', async (t) => {
  assert.ok((await killsCrashRounds(await temporaryFolder(t), 8)) > 0);
});
