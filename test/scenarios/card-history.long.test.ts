import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Got, CARD, World, answers, breaks, fails } from '../support/world.ts';

/*
 * Random histories of origin, clock and callers, held to what a user relies on, by a model that knows nothing of the implementation:
 * which cards the origin has published, and when it last confirmed each.
 */

type Step =
  | { readonly does: 'publish'; readonly card: number; readonly maxAge: number }
  | { readonly does: 'spoil'; readonly how: 'html' | 'half' | 'empty' | '503' | '404' | '401' | 'broken' }
  | { readonly does: 'wait'; readonly seconds: number }
  | { readonly does: 'ask'; readonly noCache: boolean; readonly version: '' | '0.3' | '1.0' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('publish' as const),
      card: fc.nat(3),
      maxAge: fc.constantFrom(0, 1, 10, 60, 600),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('spoil' as const),
      how: fc.constantFrom('html', 'half', 'empty', '503', '404', '401', 'broken'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('wait' as const),
      seconds: fc.constantFrom(0.5, 1, 5, 29, 61, 300, 4000),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('ask' as const),
      noCache: fc.boolean(),
      version: fc.constantFrom('', '0.3', '1.0'),
    }),
  },
);

const cardNumber = (number: number): string => CARD.replace('Tells the weather.', `Card number ${number}.`);

const SPOILT = {
  html: answers('<html>', { 'Content-Type': 'text/html' }),
  half: answers(CARD.slice(0, 40)),
  empty: answers('{}'),
  '503': fails(503),
  '404': fails(404),
  '401': fails(401),
  broken: breaks,
} as const;

/** The defaults: an hour of stale-if-error beyond the longest lifetime that a history publishes. */
const LONGEST_SERVED = (600 + 3_600) * 1_000;

class Model {
  /** When each card was last what the origin would answer; the origin may be asked at any moment while it publishes. */
  readonly #confirmed = new Map<string, number>();
  #current: string | undefined;

  publishes(card: string | undefined, now: number): void {
    this.sees(now);
    this.#current = card;
    this.sees(now);
  }

  sees(now: number): void {
    if (this.#current !== undefined) this.#confirmed.set(this.#current, now);
  }

  check(got: Got, now: number): void {
    if (got.status !== 200) {
      assert.ok(got.status === 502 || got.status === 504, `status ${got.status}: ${got.body}`);
      assert.notEqual(got.code, 'internal');
      return;
    }
    const confirmed = this.#confirmed.get(got.body);
    assert.ok(confirmed !== undefined, `never published: ${got.body}`);
    assert.ok(now - confirmed <= LONGEST_SERVED, `served ${now - confirmed} ms after it was last published`);
    const age = Number(got.headers.age ?? 0);
    assert.ok(age * 1_000 <= LONGEST_SERVED);
    if (/detail=stale/.test(String(got.headers['cache-status'])))
      assert.equal(got.headers['cache-control'], 'no-cache');
  }
}

async function play(steps: readonly Step[]): Promise<void> {
  const world = await World.start({ origin: fails(503) });
  const model = new Model();
  try {
    for (const each of steps) {
      const now = world.clock.now();
      model.sees(now);
      switch (each.does) {
        case 'publish': {
          const card = cardNumber(each.card);
          model.publishes(card, now);
          world.says(answers(card, { 'Cache-Control': `max-age=${each.maxAge}` }));
          break;
        }
        case 'spoil':
          model.publishes(undefined, now);
          world.says(SPOILT[each.how]);
          break;
        case 'wait':
          await world.clock.advance(each.seconds * 1_000);
          await world.quiet();
          model.sees(world.clock.now());
          break;
        case 'ask': {
          const headers = {
            ...(each.noCache ? { 'Cache-Control': 'no-cache' } : {}),
            ...(each.version === '' ? {} : { 'A2A-Version': each.version }),
          };
          model.check(await world.card(headers), world.clock.now());
          await world.quiet();
          break;
        }
      }
    }
  } finally {
    await world.stop();
  }
}

test('no history serves what the origin never published, or what is older than every rule allows', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), play), { numRuns: 300 });
});
