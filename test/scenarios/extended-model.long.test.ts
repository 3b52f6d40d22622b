import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTheatre } from './extended-history.ts';
import { histories } from './extended-steps.ts';

test('no answer holds a body that was obtained for another partition, in ten thousand histories', async () => {
  const { play, totals } = await createTheatre();
  await fc.assert(fc.asyncProperty(histories, play), { numRuns: 10_000 });
  assert.ok(totals.read > 10_000 && totals.kept > 1_000, JSON.stringify(totals));
});
