import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { agentName, cardDigest, policyDigest, receiptId, urlId } from '../../src/kernel/ids.ts';
import type { Outcome } from '../../src/kernel/refusal.ts';
import { epochMs } from '../../src/kernel/units.ts';
import type { Decision, HeldCard } from '../../src/ports.ts';
import { lockStateFolder } from '../../src/store/state-folder.ts';
import { exchange, openState, temporaryFolder } from './ledger-world.ts';

const value = <T>(outcome: Outcome<T>): T => {
  assert.ok(outcome.ok, outcome.ok ? '' : outcome.refusal.detail);
  return outcome.value;
};

const weather = agentName('weather');
const digest = cardDigest('cd'.repeat(32));

const decision: Decision = {
  id: receiptId('d-1'),
  at: epochMs(1_800_000_000_000),
  agent: weather,
  digest,
  action: 'approve',
  reason: 'looked at it',
  by: 'admin',
};

const waiting: HeldCard = {
  agent: weather,
  variant: '1.0',
  digest,
  url: urlId('https://weather.example.com/card'),
  body: new TextEncoder().encode('{}'),
  at: epochMs(1_800_000_000_000),
  policy: policyDigest('p'),
  contentType: 'application/json',
  since: epochMs(1),
  servable: true,
  changes: [{ class: 'endpoint', action: 'hold', pointer: '/supportedInterfaces/0/url' }],
};

describe('receipts', () => {
  test('are there after a restart, newest first, by agent and time, in pages', async (t) => {
    const folder = await temporaryFolder(t);
    const before = await openState(folder);
    for (let n = 1; n <= 5; n += 1) before.state.ledger.record(exchange(`r-${n}`, { at: epochMs(n) }));
    before.state.ledger.record(exchange('other', { agent: agentName('planner'), at: epochMs(3) }));
    await before.state.close();
    const { state } = await openState(folder);
    t.after(() => state.close());
    const page = value(await state.ledger.query({ agent: weather, since: epochMs(2), limit: 3 }));
    assert.deepEqual(
      page.receipts.map(({ id }) => id),
      ['r-5', 'r-4', 'r-3'],
    );
    const next = value(await state.ledger.query({ agent: weather, limit: 3, before: page.next ?? 0 }));
    assert.deepEqual(
      next.receipts.map(({ id }) => id),
      ['r-2', 'r-1'],
    );
    assert.equal(next.next, null);
    assert.deepEqual(page.receipts[0], exchange('r-5', { at: epochMs(5) }));
  });

  test('are written within a moment without anyone asking', async (t) => {
    const folder = await temporaryFolder(t);
    const { state, clock } = await openState(folder);
    t.after(() => state.close());
    state.ledger.record(exchange('r-1'));
    await clock.advance(100);
    await state.ledger.verify(); // answered after the batch, by the same thread
    const db = new DatabaseSync(path.join(folder, 'ledger.db'), { readOnly: true });
    assert.equal(db.prepare('select count(*) as n from receipts').get()?.['n'], 1);
    db.close();
  });

  test('hold no query and no userinfo of a URL, and are cut', async (t) => {
    const folder = await temporaryFolder(t);
    const { state } = await openState(folder);
    t.after(() => state.close());
    const { trail } = exchange('x');
    const secret = urlId('https://user:hunter2@cdn.example.com/card?sig=hunter2');
    const long = 'é'.repeat(5_000);
    await state.ledger.commit(
      exchange('r-1', {
        trail: { ...trail, requestedUrl: secret, finalUrl: secret, redirects: [secret] },
        interfaceUrl: secret,
        why: long,
        warnings: Array.from({ length: 500 }, () => long),
      }),
    );
    const text = JSON.stringify(value(await state.ledger.query({ limit: 1 })));
    assert.doesNotMatch(text, /hunter2/);
    assert.ok(text.length < 20_000, `${text.length}`);
    assert.match(text, /"id":"r-1"/);
  });

  test('of one refusal are one a minute, with a count', async (t) => {
    const folder = await temporaryFolder(t);
    const { state, clock } = await openState(folder);
    t.after(() => state.close());
    const note = { agent: weather, code: 'killed', principal: null, tenant: null } as const;
    const first = state.ledger.refused(note);
    assert.equal(state.ledger.refused(note), first);
    assert.notEqual(state.ledger.refused({ ...note, code: 'change-held' }), first);
    await clock.advance(59_999);
    assert.deepEqual(value(await state.ledger.query({ limit: 10 })).receipts, []);
    await clock.advance(1);
    const { receipts } = value(await state.ledger.query({ limit: 10 }));
    assert.deepEqual(
      receipts.map((receipt) => (receipt.kind === 'refusal' ? [receipt.code, receipt.count] : [])),
      [
        ['change-held', 1],
        ['killed', 2],
      ],
    );
    assert.notEqual(state.ledger.refused(note), first);
  });
});

describe('callers in evidence', () => {
  test('are hashes, whoever writes the receipt', async (t) => {
    const { state, events } = await openState(await temporaryFolder(t));
    t.after(() => state.close());
    const base = { at: epochMs(1), reason: 'x', by: 'admin' } as const;
    const id = (name: string) => ({ id: receiptId(name) });
    state.ledger.record({
      kind: 'switch',
      ...id('1'),
      action: 'kill',
      kill: 'k',
      scope: 'principal:https://idp#alice',
      ...base,
    });
    state.ledger.record({ kind: 'switch', ...id('2'), action: 'kill', kill: 'k', scope: 'kid:key-1', ...base });
    await state.ledger.commit({ kind: 'change', ...id('3'), action: 'purge', about: ['all', 'tenant:acme'], ...base });
    const text = JSON.stringify([value(await state.ledger.query({ limit: 9 })), events]);
    assert.doesNotMatch(text, /alice|acme/);
    const hash = state.ledger.keyedHash('principal', 'https://idp#alice');
    for (const scope of [`"principal:${hash}"`, '"kid:key-1"', `"all","tenant:h_`])
      assert.ok(text.includes(scope), scope);
  });
});

describe('the chain', () => {
  const edits: readonly (readonly [name: string, sql: string, found: RegExp])[] = [
    ['an edited body', `update receipts set body = replace(body, '200', '201') where seq = 3`, /receipt 3 was changed/],
    ['an edited column', `update receipts set agent = 'planner' where seq = 2`, /receipt 2 was changed/],
    ['a row out of the middle', `delete from receipts where seq = 3`, /receipts 3 to 3 are missing/],
    ['a cut end', `delete from receipts where seq > 4`, /receipts 5 to 6 are missing at the end/],
    ['a cut end with its head', CUT_HEAD(), /ends of the chain were changed/],
    ['a cut beginning', `delete from receipts where seq < 3`, /receipts 1 to 2 are missing/],
    ['a row that was added', ADDED(), /after 6 were added/],
    ['no ends at all', `delete from chain`, /ends of the chain were changed/],
    [
      "two rows in each other's place",
      `update receipts set seq = 99 where seq = 2; update receipts set seq = 2 where seq = 3; update receipts set seq = 3 where seq = 99`,
      /receipt 2 was changed/,
    ],
  ];
  for (const [name, sql, found] of edits) {
    test(`shows ${name}, and goes on showing it`, async (t) => {
      const folder = await temporaryFolder(t);
      const before = await openState(folder);
      for (let n = 1; n <= 6; n += 1) before.state.ledger.record(exchange(`r-${n}`));
      assert.deepEqual(value(await before.state.ledger.verify()).breaks, []);
      await before.state.close();
      const db = new DatabaseSync(path.join(folder, 'ledger.db'));
      db.exec(sql);
      db.close();
      const { state } = await openState(folder);
      t.after(() => state.close());
      const report = value(await state.ledger.verify());
      assert.equal(report.whole, false);
      assert.match(report.breaks.join('\n'), found);
      assert.equal(await state.ledger.commit(exchange('later')), true);
      assert.equal(value(await state.ledger.verify()).whole, false);
    });
  }

  test('can still be checked after pruning by count and by age', async (t) => {
    const folder = await temporaryFolder(t);
    const { state, clock } = await openState(folder, { keep: 100_000, max: 4 });
    t.after(() => state.close());
    for (let n = 1; n <= 6; n += 1) state.ledger.record(exchange(`r-${n}`, { at: clock.now() }));
    await clock.advance(60_000);
    const byCount = value(await state.ledger.verify());
    assert.deepEqual([byCount.whole, byCount.checked, byCount.pruned], [true, 4, 2]);
    state.ledger.record(exchange('young', { at: clock.now() }));
    await clock.advance(60_000);
    const byAge = value(await state.ledger.verify());
    assert.deepEqual([byAge.whole, byAge.checked, byAge.pruned], [true, 1, 6]);
    await state.ledger.commit(exchange('next'));
    assert.equal(value(await state.ledger.verify()).whole, true);
  });

  test('of nothing is whole', async (t) => {
    const { state } = await openState(await temporaryFolder(t));
    t.after(() => state.close());
    const { whole, checked } = value(await state.ledger.verify());
    assert.deepEqual([whole, checked], [true, 0]);
  });
});

function CUT_HEAD(): string {
  return `delete from receipts where seq > 4;
    update chain set head_seq = 4, head_link = (select link from receipts where seq = 4)`;
}
function ADDED(): string {
  return `insert into receipts select 7, 'r-7', at, kind, agent, body, link from receipts where seq = 6`;
}

describe('decisions', () => {
  test('are written with their receipt and end the hold, and outlive a restart', async (t) => {
    const folder = await temporaryFolder(t);
    const before = await openState(folder);
    value(await before.state.ledger.hold(waiting));
    value(await before.state.ledger.hold({ ...waiting, variant: '0.3', digest: cardDigest('00') }));
    value(await before.state.ledger.decide(decision, []));
    await before.state.close();
    const { state } = await openState(folder);
    t.after(() => state.close());
    assert.deepEqual(value(await state.ledger.decisions(weather)), [decision]);
    assert.deepEqual(value(await state.ledger.decisions(agentName('planner'))), []);
    const held = value(await state.ledger.held(null));
    assert.deepEqual(
      held.map(({ variant }) => variant),
      ['0.3'],
    );
    const { receipts } = value(await state.ledger.query({ limit: 10 }));
    assert.deepEqual(receipts, [{ kind: 'review', ...decision }]);
    value(await state.ledger.release(weather, '0.3'));
    assert.deepEqual(value(await state.ledger.held(weather)), []);
  });

  test('that cannot be written whole leave nothing', async (t) => {
    const { state } = await openState(await temporaryFolder(t));
    t.after(() => state.close());
    value(await state.ledger.hold(waiting));
    value(await state.ledger.decide({ ...decision, digest: cardDigest('11') }, []));
    const again = await state.ledger.decide(decision, []); // the id is taken
    assert.equal(again.ok, false);
    assert.deepEqual(value(await state.ledger.held(weather)), [waiting]);
    assert.equal(value(await state.ledger.query({ limit: 10 })).receipts.length, 1);
  });
});

describe('one folder, one daemon', () => {
  test('a second one is told so, and may have it when the first has ended', async (t) => {
    const folder = await temporaryFolder(t);
    const { state } = await openState(folder);
    assert.throws(() => lockStateFolder(folder), /another Cardea uses the folder/);
    await state.close();
    lockStateFolder(folder)?.release();
  });
  test('what lies at the lock and is none is not run over', async (t) => {
    const folder = await temporaryFolder(t);
    await writeFile(path.join(folder, 'lock'), 'x'.repeat(5_000));
    assert.throws(() => lockStateFolder(folder), /is no lock/);
  });
});

describe('keyed hashes', () => {
  test('are the same after a restart, and elsewhere others', async (t) => {
    const folder = await temporaryFolder(t);
    const one = await openState(folder);
    const hash = one.state.ledger.keyedHash('principal', 'https://idp.example.com#alice');
    assert.match(hash, /^h_[0-9a-f]{32}$/);
    assert.equal(one.state.ledger.keyedHash('principal', hash), hash);
    assert.notEqual(one.state.ledger.keyedHash('tenant', 'https://idp.example.com#alice'), hash);
    await one.state.close();
    const two = await openState(folder);
    assert.equal(two.state.ledger.keyedHash('principal', 'https://idp.example.com#alice'), hash);
    await two.state.close();
    const other = await openState(await temporaryFolder(t));
    assert.notEqual(other.state.ledger.keyedHash('principal', 'https://idp.example.com#alice'), hash);
    await other.state.close();
  });
});
