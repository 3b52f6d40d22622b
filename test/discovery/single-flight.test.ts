import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { type Flight, type SingleFlight, createSingleFlight } from '../../src/discovery/single-flight.ts';
import { ms } from '../../src/kernel/units.ts';
import { FakeClock } from '../support/fake-clock.ts';

const PATIENCE = ms(10_000);

/** A piece of work that ends when a test says so. */
class Work {
  started = 0;
  readonly #ends: PromiseWithResolvers<string>[] = [];

  readonly run = (): Promise<string> => {
    this.started += 1;
    const end = Promise.withResolvers<string>();
    this.#ends.push(end);
    return end.promise;
  };

  succeed(value: string): void {
    this.#ends.shift()?.resolve(value);
  }

  fail(error: Error): void {
    this.#ends.shift()?.reject(error);
  }
}

const make = (): { clock: FakeClock; flights: SingleFlight<string>; work: Work } => {
  const clock = new FakeClock();
  return { clock, flights: createSingleFlight<string>(clock), work: new Work() };
};

/** What a promise has come to so far, without waiting for it. */
async function soFar<T>(promise: Promise<T>): Promise<T | 'waiting'> {
  await turn();
  return Promise.race([promise, Promise.resolve('waiting' as const)]);
}

describe('one piece of work per key', () => {
  test('the first leads, a thousand others get what it brings', async () => {
    const { flights, work, clock } = make();
    const all = Array.from({ length: 1_000 }, () => flights.join('card', work.run, PATIENCE));
    assert.equal(work.started, 1);
    assert.equal(flights.size(), 1);
    work.succeed('the card');
    const [leader, ...followers] = await Promise.all(all);
    assert.deepEqual(leader, { as: 'leader', value: 'the card' });
    for (const follower of followers) assert.deepEqual(follower, { as: 'follower', value: 'the card' });
    assert.equal(clock.waiting, 0, 'no follower leaves a timer behind');
  });

  test('another key is another flight', async () => {
    const { flights, work } = make();
    const one = flights.join('one', work.run, PATIENCE);
    const two = flights.join('two', work.run, PATIENCE);
    assert.equal(work.started, 2);
    assert.ok(flights.underway('one') && flights.underway('two') && !flights.underway('three'));
    work.succeed('1');
    work.succeed('2');
    assert.deepEqual(await Promise.all([one, two]), [
      { as: 'leader', value: '1' },
      { as: 'leader', value: '2' },
    ]);
  });

  test('what has ended is not followed: the next one leads anew', async () => {
    const { flights, work } = make();
    const first = flights.join('card', work.run, PATIENCE);
    work.succeed('old');
    await first;
    assert.equal(flights.underway('card'), false);
    const second = flights.join('card', work.run, PATIENCE);
    work.succeed('new');
    assert.deepEqual(await second, { as: 'leader', value: 'new' });
  });
});

describe('a leader that breaks', () => {
  test('gets its own error; its followers go alone and do not inherit it', async () => {
    const { flights, work, clock } = make();
    const leader = flights.join('card', work.run, PATIENCE);
    const followers = [flights.join('card', work.run, PATIENCE), flights.join('card', work.run, PATIENCE)];
    work.fail(new Error('broken'));
    await assert.rejects(leader, /^Error: broken$/);
    assert.deepEqual(await Promise.all(followers), [{ as: 'alone' }, { as: 'alone' }]);
    assert.equal(flights.size(), 0);
    assert.equal(clock.waiting, 0);
  });

  test('leaves the key free', async () => {
    const { flights, work } = make();
    const leader = flights.join('card', work.run, PATIENCE);
    work.fail(new Error('broken'));
    await assert.rejects(leader);
    const next = flights.join('card', work.run, PATIENCE);
    work.succeed('mended');
    assert.deepEqual(await next, { as: 'leader', value: 'mended' });
  });
});

describe('a leader that hangs', () => {
  test('a follower waits as long as its patience and not a moment longer', async () => {
    const { flights, work, clock } = make();
    void flights.join('card', work.run, PATIENCE);
    const follower = flights.join('card', work.run, PATIENCE);
    await clock.advance(PATIENCE - 1);
    assert.equal(await soFar(follower), 'waiting');
    await clock.advance(1);
    assert.deepEqual(await soFar(follower), { as: 'alone' });
    assert.equal(work.started, 1, 'to go alone is the caller’s work: nothing is started for it here');
  });

  test('patience counts from when each one came', async () => {
    const { flights, work, clock } = make();
    void flights.join('card', work.run, PATIENCE);
    const early = flights.join('card', work.run, PATIENCE);
    await clock.advance(4_000);
    const late = flights.join('card', work.run, PATIENCE);
    await clock.advance(6_000);
    assert.deepEqual(await soFar(early), { as: 'alone' });
    assert.equal(await soFar(late), 'waiting');
    work.succeed('at last');
    assert.deepEqual(await late, { as: 'follower', value: 'at last' });
  });

  test('its late result goes to itself; whoever went alone stays alone, once', async () => {
    const { flights, work, clock } = make();
    const leader = flights.join('card', work.run, PATIENCE);
    const outcomes: Flight<string>[] = [];
    void flights.join('card', work.run, PATIENCE).then((outcome) => outcomes.push(outcome));
    await clock.advance(PATIENCE);
    work.succeed('late');
    assert.deepEqual(await leader, { as: 'leader', value: 'late' });
    await turn();
    assert.deepEqual(outcomes, [{ as: 'alone' }]);
  });

  test('a follower without patience goes alone at the next turn of the clock', async () => {
    const { flights, work, clock } = make();
    void flights.join('card', work.run, PATIENCE);
    const follower = flights.join('card', work.run, ms(0));
    await clock.advance(0);
    assert.deepEqual(await soFar(follower), { as: 'alone' });
  });
});

describe('settled', () => {
  test('is so at once where nothing flies', async () => {
    assert.equal(await soFar(make().flights.settled()), undefined);
  });

  test('waits for what flies, for what starts meanwhile, and does not mind what breaks', async () => {
    const { flights, work } = make();
    const first = flights.join('one', work.run, PATIENCE);
    const settled = flights.settled();
    const second = flights.join('two', work.run, PATIENCE);
    work.fail(new Error('broken'));
    await assert.rejects(first);
    assert.equal(await soFar(settled), 'waiting');
    work.succeed('done');
    await second;
    assert.equal(await soFar(settled), undefined);
  });
});

test('every caller ends, once, and nothing is left: any order of callers, successes, failures and time', async () => {
  const step = fc.oneof(
    fc.record({ does: fc.constant('join' as const), key: fc.constantFrom('a', 'b') }),
    fc.record({ does: fc.constant('pass' as const), by: fc.integer({ min: 1, max: 12_000 }) }),
    fc.record({ does: fc.constantFrom('succeed' as const, 'fail' as const), key: fc.constantFrom('a', 'b') }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const clock = new FakeClock();
      const flights = createSingleFlight<string>(clock);
      const works = { a: new Work(), b: new Work() };
      const callers: Promise<unknown>[] = [];
      for (const each of steps) {
        if (each.does === 'pass') await clock.advance(each.by);
        else if (each.does === 'succeed') works[each.key].succeed('value');
        else if (each.does === 'fail') works[each.key].fail(new Error('broken'));
        else {
          const leads = !flights.underway(each.key);
          const before = works[each.key].started;
          callers.push(flights.join(each.key, works[each.key].run, PATIENCE));
          assert.equal(works[each.key].started - before, leads ? 1 : 0);
        }
        void Promise.allSettled(callers); // a leader's own error is its caller's, who comes last here
        await turn();
      }
      works.a.succeed('end');
      works.b.succeed('end');
      await Promise.allSettled(callers);
      assert.equal(flights.size(), 0);
      assert.equal(clock.waiting, 0);
    }),
    { numRuns: 100 },
  );
});
