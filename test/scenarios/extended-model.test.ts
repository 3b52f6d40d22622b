import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTheatre } from './extended-history.ts';
import { CROWD } from './extended-people.ts';
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

const ASK = {
  does: 'ask',
  agent: 'ledger',
  operation: 'rest',
  proxy: null,
  tenant: '',
  extensions: '',
  noCache: false,
  guesses: false,
} as const;

test('what a key of the issuer vouched for ends with the key, also for whoever comes with the next one', async () => {
  const { play, totals } = await createTheatre();
  const [first, second] = [0, 1].map((shown) => ({ ...ASK, shown }));
  assert.ok(first && second);
  const together = [{ does: 'rotate', to: 1, seconds: 31 }, first, second] as const;
  await play({ cast: [0, 1, 0], steps: [...together] });
  assert.deepEqual(totals, { read: 2, kept: 1 }, 'one session, whichever key signed');
  await play({ cast: [0, 1, 0], steps: [...together, { does: 'rotate', to: 2, seconds: 301 }, second, first] });
  assert.deepEqual(totals, { read: 5, kept: 2 }, 'got anew, and by the first key no more');
});

test('a client with a certificate is revoked for good, on every connection', async () => {
  const { play, totals } = await createTheatre();
  const [reader, one, two] = [0, 1, 2].map((shown) => ({ ...ASK, agent: 'vault' as const, shown }));
  assert.ok(reader && one && two);
  const cast: [number, number, number] = [CROWD - 3, CROWD - 2, CROWD - 1];
  await play({ cast, steps: [reader, one, two] });
  assert.deepEqual(totals, { read: 3, kept: 1 }, 'two connections of one client share what it has');
  const revoke = { does: 'revoke', who: 1, all: 'its own' } as const;
  await play({ cast, steps: [reader, one, revoke, one, two, reader] });
  assert.deepEqual(totals, { read: 6, kept: 2 }, 'and the other one keeps its own');
});
