import assert from 'node:assert/strict';
import { type TestContext, describe, test } from 'node:test';
import { agentName, cardDigest, receiptId, urlId } from '../../src/kernel/ids.ts';
import { epochMs } from '../../src/kernel/units.ts';
import type { CardInForce, Decision, Evidence } from '../../src/ports.ts';
import { createKeyedHash } from '../../src/store/keyed-hash.ts';
import { createRecentLedger } from '../../src/store/ledger-recent.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { openState, temporaryFolder } from './ledger-world.ts';

const weather = agentName('weather');

const card = (n: number, more: Partial<CardInForce> = {}): CardInForce => ({
  agent: weather,
  variant: 'any',
  digest: cardDigest(String(n)),
  url: urlId('https://weather.example.com/card'),
  body: new Uint8Array([n]),
  contentType: 'application/json',
  verdict: { signature: 'verified', kid: 'k', keys: 'own', dropped: ['/x'] },
  review: 'approved',
  by: 'person',
  receipt: receiptId(`r-${n}`),
  at: epochMs(n),
  servable: n % 2 === 0,
  ...more,
});

const decision = (id: string): Decision => ({
  id: receiptId(id),
  at: epochMs(1),
  agent: weather,
  digest: cardDigest('1'),
  action: 'approve',
  reason: 'seen',
  by: 'admin',
});

async function inForce(ledger: Evidence): Promise<readonly CardInForce[]> {
  const found = await ledger.inForce(weather);
  assert.ok(found.ok);
  return found.value;
}

/** What every ledger does with cards that are in force. */
const contract = (open: (t: TestContext) => Promise<Evidence>): void => {
  test('come back as they were, oldest first', async (t) => {
    const ledger = await open(t);
    await ledger.enforce(card(1));
    await ledger.enforce(card(2, { variant: '0.3' }));
    await ledger.enforce(card(3, { agent: agentName('planner') }));
    assert.deepEqual(await inForce(ledger), [card(1), card(2, { variant: '0.3' })]);
  });
  test('sixteen of each variant are kept', async (t) => {
    const ledger = await open(t);
    await ledger.enforce(card(0, { variant: '1.0' }));
    for (let n = 1; n <= 17; n += 1) await ledger.enforce(card(n));
    const kept = await inForce(ledger);
    assert.deepEqual(
      kept.map(({ at }) => Number(at)),
      [0, ...Array.from({ length: 16 }, (_, n) => n + 2)],
    );
  });
  test('a decision puts in force what it lets in', async (t) => {
    const ledger = await open(t);
    const decided = await ledger.decide(decision('d-1'), [card(1), card(1, { variant: '0.3' })]);
    assert.ok(decided.ok);
    assert.equal((await inForce(ledger)).length, 2);
  });
};

describe('cards in force, on the disk', () => {
  contract(async (t) => {
    const { state } = await openState(await temporaryFolder(t));
    t.after(() => state.close());
    return state.ledger;
  });
});

describe('cards in force, in memory', () => {
  contract(async () =>
    createRecentLedger({
      clock: new FakeClock(),
      observer: { record: () => undefined },
      keyedHash: createKeyedHash(new Uint8Array(32)),
    }),
  );
});

describe('cards in force', () => {
  test('outlive a restart, and a decision that fails lets nothing in', async (t) => {
    const folder = await temporaryFolder(t);
    const before = await openState(folder);
    assert.ok((await before.state.ledger.decide(decision('d-1'), [card(1)])).ok);
    assert.equal((await before.state.ledger.decide(decision('d-1'), [card(2)])).ok, false, 'the id is taken');
    await before.state.close();
    const { state } = await openState(folder);
    t.after(() => state.close());
    assert.deepEqual(await inForce(state.ledger), [card(1)]);
  });
});
