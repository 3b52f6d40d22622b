import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AdmittedCard } from '../../src/card/admit.ts';
import { digestCard } from '../../src/card/digest.ts';
import type { Offer } from '../../src/discovery/offer.ts';
import { agentCardKey } from '../../src/discovery/key.ts';
import { createReviewDesk } from '../../src/discovery/review-desk.ts';
import { createReviews } from '../../src/discovery/reviews.ts';
import { policyDigest, receiptId, tag } from '../../src/kernel/ids.ts';
import { accepted } from '../../src/kernel/refusal.ts';
import { bytes, epochMs } from '../../src/kernel/units.ts';
import { createRecentLedger } from '../../src/store/ledger-recent.ts';
import { createMemoryStore } from '../../src/store/memory.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { REVIEW, exampleAgent } from '../support/rules.ts';

const NOBODY = { record: () => undefined };
const agent = exampleAgent('weather', { review: { ...REVIEW, firstUse: 'hold' } });
const OCCASION = { receipt: receiptId('r'), policy: policyDigest('p'), at: epochMs(1) };

function offer(name: string): Offer {
  const card = { name, skills: [] };
  const verdict = { signature: 'unsigned' } as const;
  return {
    agent,
    variant: 'any',
    version: '1.0',
    card: { body: new TextEncoder().encode(JSON.stringify(card)), digest: digestCard(card), verdict },
    view: () => card,
    contentType: 'application/json',
    servable: true,
  };
}

/** @param judging what happens while a card that is to be approved is judged again. */
function desk(judging: () => Promise<void> = async () => undefined) {
  const clock = new FakeClock();
  const ledger = createRecentLedger({ clock, observer: NOBODY, keyedHash: (_kind, name) => name });
  const reviews = createReviews({ ledger, observer: NOBODY });
  const rules = { inForce: true };
  const store = createMemoryStore({ clock, observer: NOBODY, maxBytes: bytes(1_000_000), pinned: () => false });
  return {
    reviews,
    rules,
    store,
    ...createReviewDesk({
      clock,
      ledger,
      reviews,
      store,
      extendedReviews: { pending: () => [], decided: () => undefined },
      forgive: () => undefined,
      book: { forgive: () => undefined, updateBehind: async () => undefined },
      codings: { keep: (entry) => entry },
      isInForce: () => rules.inForce,
      judge: async ({ body }) => {
        await judging();
        const card = JSON.parse(new TextDecoder().decode(body)) as { name: string };
        const facts = { name: card.name, version: '1', protocolVersion: '1.0', extended: false };
        const admitted = {
          body,
          digest: digestCard({ ...card }),
          verdict: { signature: 'unsigned' },
          facts,
          warnings: [],
        };
        return { outcome: accepted(admitted as unknown as AdmittedCard), policy: policyDigest('p') };
      },
    }),
  };
}

const order = (name: string) => ({ agent, digest: offer(name).card.digest, reason: 'seen', by: 'admin' as const });

describe('decisions that meet', () => {
  test('of two approvals the second finds it in force', async () => {
    const { reviews, approve } = desk();
    await reviews.offer(offer('A'), OCCASION);
    const [first, second] = await Promise.all([approve(order('A')), approve(order('A'))]);
    assert.equal(first.ok, true);
    assert.ok(!second.ok && second.refusal.code === 'conflict' && /in force already/.test(second.refusal.detail));
    assert.deepEqual([reviews.decisions(agent).length, reviews.history(agent).length], [1, 1]);
  });
  test('of an approval and a rejection the first counts', async () => {
    const { reviews, approve, reject } = desk();
    await reviews.offer(offer('A'), OCCASION);
    const [first, second] = await Promise.all([approve(order('A')), reject(order('A'))]);
    assert.deepEqual([first.ok, second.ok], [true, false]);
    assert.equal(reviews.decisions(agent).at(-1)?.action, 'approve');
  });
  test('a third version that arrives while the second is approved: a conflict, and the third waits', async () => {
    const at = desk(async () => void (await at.reviews.offer(offer('third'), OCCASION)));
    await at.reviews.offer(offer('second'), OCCASION);
    const got = await at.approve(order('second'));
    assert.ok(!got.ok && got.refusal.code === 'conflict' && /does not offer/.test(got.refusal.detail));
    assert.deepEqual([at.reviews.decisions(agent), at.reviews.history(agent)], [[], []]);
    assert.deepEqual(
      at.reviews.pending(agent).map(({ card }) => card.digest),
      [offer('third').card.digest],
    );
  });
  test('rules that are replaced while a card is approved: a conflict, and nothing is decided', async () => {
    const at = desk(async () => void (at.rules.inForce = false));
    await at.reviews.offer(offer('A'), OCCASION);
    const got = await at.approve(order('A'));
    assert.ok(!got.ok && got.refusal.code === 'conflict' && /configuration changed/.test(got.refusal.detail));
    assert.deepEqual(at.reviews.decisions(agent), []);
    assert.equal(at.reviews.pending(agent).length, 1);
  });
  for (const [what, scope, kept] of [
    ['a kill', 'agent:weather', 0],
    ['a kill of another agent', 'agent:other', 1],
  ] as const)
    test(`an approval and ${what} meanwhile: ${kept} cards are stored`, async () => {
      const at = desk(async () => void (await at.store.purge([tag(scope)], false)));
      await at.reviews.offer(offer('A'), OCCASION);
      assert.equal((await at.approve(order('A'))).ok, true);
      assert.equal(at.store.peek(agentCardKey(agent)).length, kept);
    });
  test('one that fails lets the next one go on', async () => {
    let fails = true;
    const { reviews, approve } = desk(async () => {
      if (!fails) return;
      fails = false;
      throw new Error('broken');
    });
    await reviews.offer(offer('A'), OCCASION);
    const [first, second] = await Promise.allSettled([approve(order('A')), approve(order('A'))]);
    assert.equal(first.status, 'rejected');
    assert.ok(second.status === 'fulfilled' && second.value.ok);
  });
});
