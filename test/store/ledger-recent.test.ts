import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Event } from '../../src/kernel/event.ts';
import { agentName, cardDigest, policyDigest, receiptId, urlId } from '../../src/kernel/ids.ts';
import { epochMs } from '../../src/kernel/units.ts';
import type { Decision, Evidence, HeldCard, ReceiptQuery } from '../../src/ports.ts';
import { openMemoryState } from '../../src/store/open-state.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { exchange } from './ledger-world.ts';

/** The ledger of `state: memory`. */

const open = (events: Event[] = []): Evidence =>
  openMemoryState({
    clock: new FakeClock(),
    observer: { record: (event) => void events.push(event) },
  }).ledger;

async function idsOf(ledger: Evidence, query: Partial<ReceiptQuery>): Promise<readonly string[]> {
  const page = await ledger.query({ limit: 10_000, ...query });
  assert.ok(page.ok);
  return page.value.receipts.map(({ id }) => id);
}

const weather = agentName('weather');
const digest = cardDigest('ab');
const held: HeldCard = {
  agent: weather,
  variant: '1.0',
  digest,
  url: urlId('https://weather.example.com/card'),
  body: new Uint8Array(2),
  at: epochMs(1),
  policy: policyDigest('p'),
  contentType: 'application/json',
  since: epochMs(1),
  servable: true,
  changes: [{ class: 'endpoint', action: 'hold', pointer: '/supportedInterfaces/0/url' }],
};
const decision: Decision = {
  id: receiptId('d'),
  at: epochMs(2),
  agent: weather,
  digest,
  action: 'reject',
  reason: 'x',
  by: 'socket',
};

describe('the latest receipts', () => {
  test('newest first, by agent and time, in pages', async () => {
    const ledger = open();
    for (let n = 1; n <= 4; n += 1) ledger.record(exchange(`r-${n}`, { at: epochMs(n) }));
    ledger.record(exchange('p', { agent: agentName('planner'), at: epochMs(9) }));
    assert.deepEqual(await idsOf(ledger, { agent: weather, since: epochMs(2) }), ['r-4', 'r-3', 'r-2']);
    const page = await ledger.query({ agent: weather, limit: 3 });
    assert.ok(page.ok && page.value.next !== null);
    assert.deepEqual(await idsOf(ledger, { agent: weather, before: page.value.next }), ['r-1']);
  });
  test('a long text and a long list are cut, one that just fits is as it was', async () => {
    const ledger = open();
    const [fits, long] = ['x'.repeat(1_024), 'x'.repeat(1_025)];
    const few = Array.from({ length: 32 }, (_, at) => `w-${at}`);
    ledger.record(exchange('fits', { why: fits, warnings: few }));
    ledger.record(exchange('text', { why: long, warnings: few }));
    ledger.record(exchange('list', { why: fits, warnings: [...few, 'w-32'] }));
    ledger.record(exchange('deep', { why: fits, warnings: [long] }));
    const page = await ledger.query({ limit: 10 });
    assert.ok(page.ok);
    const kept = page.value.receipts.map((receipt) => receipt.kind === 'exchange' && [receipt.why, receipt.warnings]);
    assert.deepEqual(kept.toReversed(), [
      [fits, few],
      [`${fits}…`, few],
      [fits, few],
      [fits, [`${fits}…`]],
    ]);
  });
  test('a thousand of them, and the oldest go', async () => {
    const ledger = open();
    for (let n = 1; n <= 1_001; n += 1) ledger.record(exchange(`r-${n}`));
    const ids = await idsOf(ledger, {});
    assert.deepEqual([ids.length, ids[0], ids.at(-1)], [1_000, 'r-1001', 'r-2']);
  });
  test('without what URLs may carry in secret', async () => {
    const ledger = open();
    const url = urlId('https://a:hunter2@weather.example.com/?k=hunter2');
    ledger.record(exchange('r', { trail: { ...exchange('r').trail, requestedUrl: url } }));
    const page = await ledger.query({ limit: 1 });
    assert.doesNotMatch(JSON.stringify(page), /hunter2/);
  });
});

describe('decisions', () => {
  test('end their hold and leave a receipt', async () => {
    const ledger = open();
    await ledger.hold(held);
    await ledger.hold({ ...held, variant: '0.3', digest: cardDigest('cd') });
    await ledger.decide(decision, []);
    assert.deepEqual(await ledger.decisions(weather), { ok: true, value: [decision] });
    const left = await ledger.held(null);
    assert.ok(left.ok);
    assert.deepEqual(
      left.value.map(({ variant }) => variant),
      ['0.3'],
    );
    assert.deepEqual(await idsOf(ledger, {}), ['d']);
    await ledger.release(weather, '0.3');
    assert.deepEqual(await ledger.held(weather), { ok: true, value: [] });
  });
});

test('a refusal that was counted is written at the end', async () => {
  const events: Event[] = [];
  const ledger = open(events);
  ledger.refused({ agent: weather, code: 'killed', principal: null, tenant: null });
  assert.equal(events.length, 0);
  await ledger.close();
  assert.deepEqual(
    events.map((event) => (event.kind === 'receipt' ? event.receipt.kind : event.kind)),
    ['refusal'],
  );
});
