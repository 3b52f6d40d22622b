import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PendingView } from '../../src/admin/ports.ts';
import { showChange } from '../../src/admin/reads.ts';
import { agentName, cardDigest, urlId } from '../../src/kernel/ids.ts';
import { type Outcome, accepted, refuse, refused } from '../../src/kernel/refusal.ts';
import type { Verdict } from '../../src/kernel/entry.ts';
import { AdminWorld, askOf } from './admin-world.ts';

/** One card that waits, and what it is worth by today's rules and keys. */
async function shown(judged: Outcome<Verdict>): Promise<Readonly<Record<string, unknown>>> {
  const world = new AdminWorld();
  const at = world.clock.now();
  const waits: PendingView = {
    variant: 'any',
    digest: cardDigest('cd'.repeat(32)),
    url: urlId('https://weather.example.com/card'),
    why: 'held',
    at,
    since: at,
    until: at,
    inForce: null,
    changes: [],
    card: { name: 'Weather' },
  };
  const review = world.ports.reviews.of(agentName('weather'));
  assert.ok(review);
  const of = () => ({ ...review, pending: [waits] });
  const ports = { ...world.ports, reviews: { ...world.ports.reviews, of, judge: async () => judged } };
  const { body } = await showChange({ ports, ask: askOf('/', {}), named: 'weather', session: null });
  assert.ok(body instanceof Uint8Array);
  const { pending } = JSON.parse(new TextDecoder().decode(body)) as { readonly pending: readonly [object] };
  return { ...pending[0] };
}

describe('a card that waits', () => {
  test('has the verdict that it would get now', async () => {
    const verdict: Verdict = { signature: 'verified', kid: 'key-1', alg: 'ES256', keys: 'example', form: 'jcs' };
    const { verdict: told, refusal, card } = await shown(accepted(verdict));
    assert.deepEqual([told, refusal, card], [verdict, null, { name: 'Weather' }]);
  });
  test('has the refusal, where its key was revoked while it waited', async () => {
    const { verdict, refusal } = await shown(refused(refuse('key-revoked', 'key-1 is revoked by keys.example.')));
    assert.deepEqual([verdict, refusal], [null, { code: 'key-revoked', detail: 'key-1 is revoked by keys.example.' }]);
  });
});
