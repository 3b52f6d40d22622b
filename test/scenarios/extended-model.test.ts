import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTheatre } from './extended-history.ts';
import { histories } from './extended-steps.ts';

test('no answer holds a body that was obtained for another partition', async () => {
  const { play, totals } = await createTheatre();
  await fc.assert(fc.asyncProperty(histories, play), { numRuns: 300 });
  // A history in which nothing is read shows nothing.
  assert.ok(totals.read > 300 && totals.kept > 10, JSON.stringify(totals));
});

test('a card that its origin lets nobody keep is no answer either once the session is over', async () => {
  const { play, totals } = await createTheatre();
  const manner = { says: 200, fields: ['Cache-Control', 'no-store'], slow: true } as const;
  const more = { tenant: '', extensions: '', noCache: false, guesses: false } as const;
  const asked = { does: 'ask', agent: 'ledger', operation: 'rest', shown: 0, proxy: null, ...more } as const;
  const steps = [
    { does: 'behave', agent: 'ledger', manner },
    asked,
    { does: 'logout', who: 0 },
    { does: 'release', which: 0 },
  ] as const;
  await play({ cast: [0, 0, 0], steps: [...steps] });
  assert.equal(totals.read, 0);
});
