import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { digestCard } from '../../src/card/digest.ts';
import type { Offer } from '../../src/discovery/offer.ts';
import { createReviews, type Reviews } from '../../src/discovery/reviews.ts';
import { type AgentName, agentName, policyDigest, receiptId, urlId } from '../../src/kernel/ids.ts';
import type { FirstUse } from '../../src/kernel/review.ts';
import { epochMs } from '../../src/kernel/units.ts';
import type { AgentRule } from '../../src/policy/rules.ts';
import type { Evidence } from '../../src/ports.ts';
import { createRecentLedger } from '../../src/store/ledger-recent.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { REVIEW, exampleAgent, exampleRules } from '../support/rules.ts';

const [BY] = exampleRules().origins;
const NOBODY = { record: () => undefined };

const ledgerOf = (): Evidence =>
  createRecentLedger({ clock: new FakeClock(), observer: NOBODY, keyedHash: (_kind, name) => name });

const unnamed = (url: string, firstUse: FirstUse): AgentRule => ({
  ...exampleAgent('x'),
  name: agentName(url),
  by: BY ?? null,
  cards: [urlId(url)],
  review: { ...REVIEW, firstUse },
});

/** @param bytes how large the body is. */
function offer(agent: AgentRule, name: string, bytes = 100): Offer {
  const card = { name, skills: [] };
  const body = new Uint8Array(bytes);
  const verdict = { signature: 'unsigned' } as const;
  return {
    agent,
    variant: 'any',
    version: '1.0',
    card: { body, digest: digestCard(card), verdict },
    view: () => card,
    contentType: 'application/json',
    servable: true,
  };
}

const OCCASION = { receipt: receiptId('r'), policy: policyDigest('p'), at: epochMs(1) };

interface Books {
  readonly reviews: Reviews;
  readonly ledger: Evidence;
  see(url: string, firstUse: FirstUse, bytes?: number): Promise<AgentRule>;
}

function books(): Books {
  const ledger = ledgerOf();
  const reviews = createReviews({ ledger, observer: NOBODY });
  const see = async (url: string, firstUse: FirstUse, bytes?: number): Promise<AgentRule> => {
    const agent = unnamed(url, firstUse);
    assert.ok((await reviews.offer(offer(agent, 'A', bytes), OCCASION)).ok);
    return agent;
  };
  return { reviews, ledger, see };
}

const heldIn = async (ledger: Evidence, agent: AgentName): Promise<number> => {
  const held = await ledger.held(agent);
  return held.ok ? held.value.length : -1;
};

describe('cards without a name that wait', () => {
  test('are 256 at most, in memory and in the ledger: the oldest goes', async () => {
    const { reviews, ledger, see } = books();
    for (let each = 0; each < 256; each += 1) await see(`https://h${each}.example/c`, 'hold');
    assert.equal(reviews.unnamed().length, 256);
    await see('https://next.example/c', 'hold');
    assert.equal(reviews.unnamed().length, 256);
    assert.ok(!reviews.unnamed().includes(agentName('https://h0.example/c')));
    assert.equal(await heldIn(ledger, agentName('https://h0.example/c')), 0);
    assert.equal(await heldIn(ledger, agentName('https://h1.example/c')), 1);
  });
  test('of an origin with many make none of an origin with few forgotten', async () => {
    const { reviews, see } = books();
    await see('https://few.example/c', 'hold');
    for (let each = 0; each < 300; each += 1) await see(`https://many.example/${each}`, 'hold');
    assert.equal(reviews.unnamed().length, 256);
    assert.ok(reviews.unnamed().includes(agentName('https://few.example/c')));
    assert.ok(reviews.unnamed().includes(agentName('https://many.example/299')));
  });
  test('are so many bytes at most, save the newest', async () => {
    const { reviews, see } = books();
    await see('https://a.example/c', 'hold');
    await see('https://b.example/c', 'hold', 3 * 1_048_576);
    assert.deepEqual(reviews.unnamed(), [agentName('https://b.example/c')]);
    await see('https://c.example/c', 'hold');
    assert.deepEqual(reviews.unnamed(), [agentName('https://c.example/c')]);
  });
  test('push out nothing that was decided, and nothing that the rule took', async () => {
    const { reviews, ledger, see } = books();
    const [taken, approved] = [await see('https://t.example/c', 'allow'), await see('https://d.example/c', 'hold')];
    const [one] = reviews.pending(approved);
    assert.ok(one);
    const { digest } = one.card;
    const decision = { id: receiptId('d'), at: epochMs(2), agent: approved.name, digest, action: 'reject' as const };
    assert.ok((await reviews.decide({ ...decision, reason: 'r', by: 'admin' }, [])).ok);
    for (let each = 0; each < 300; each += 1) await see(`https://h${each}.example/c`, 'hold');
    assert.equal(reviews.decisions(approved).length, 1);
    assert.equal(reviews.history(taken).length, 1);
    const again = createReviews({ ledger, observer: NOBODY });
    assert.ok(await again.load([]));
    assert.equal(again.unnamed().length, 256);
    assert.equal(again.decisions(approved).length, 1);
    assert.equal(again.history(taken).length, 1);
  });
});

test('cards that a rule took by itself are 1024 at most, to compare the next ones with', async () => {
  const { reviews, see } = books();
  const first = await see('https://few.example/c', 'allow');
  for (let each = 0; each < 1_024; each += 1) await see(`https://many.example/${each}`, 'allow');
  assert.equal(reviews.history(first).length, 1);
  assert.equal(reviews.history(unnamed('https://many.example/0', 'allow')).length, 0);
  assert.equal(reviews.history(unnamed('https://many.example/1', 'allow')).length, 1);
});

test('a ledger that cannot be read takes nothing new of them, and is asked again', async () => {
  let broken = true;
  const ledger = ledgerOf();
  const unread = async (): ReturnType<Evidence['unnamed']> =>
    broken ? { ok: false, refusal: { code: 'overloaded', detail: 'no disk' } as never } : ledger.unnamed();
  const reviews = createReviews({ ledger: { ...ledger, unnamed: unread }, observer: NOBODY });
  const agent = unnamed('https://a.example/c', 'hold');
  assert.equal((await reviews.offer(offer(agent, 'A'), OCCASION)).ok, false);
  broken = false;
  assert.equal((await reviews.offer(offer(agent, 'A'), OCCASION)).ok, true);
  assert.equal(reviews.unnamed().length, 1);
});
