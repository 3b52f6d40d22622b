import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Ms, ms } from '../../src/kernel/units.ts';
import type { Clock } from '../../src/ports.ts';

/** A clock with a way to let its time pass. */
export interface ClockUnderTest {
  readonly clock: Clock;
  advance(by: number): Promise<void>;
  end(): void;
}

const DAY: Ms = ms(86_400_000);

/** What every Clock does: the fake one that tests trust must do what the real one does. */
export function clockContract(name: string, make: () => ClockUnderTest): void {
  const holds = (what: string, run: (under: ClockUnderTest) => Promise<void>): void => {
    test(what, async () => {
      const under = make();
      try {
        await run(under);
      } finally {
        under.end();
      }
    });
  };

  describe(`${name} as a Clock`, () => {
    holds('time moves by what passes', async ({ clock, advance }) => {
      const start = clock.now();
      await advance(1_500);
      assert.equal(clock.now() - start, 1_500);
    });

    for (const delay of [1, 1_000, DAY]) {
      holds(`runs once after ${delay} ms, not before`, async ({ clock, advance }) => {
        let ran = 0;
        clock.after(ms(delay), () => void (ran += 1));
        await advance(delay - 1);
        assert.equal(ran, 0);
        await advance(1);
        assert.equal(ran, 1);
        await advance(delay * 2);
        assert.equal(ran, 1);
      });
    }

    // setTimeout takes 31 bits: a card that is fresh for 30 days must not be fetched without a pause.
    for (const delay of [2 ** 31 - 1, 2 ** 31, 30 * DAY, 100 * DAY]) {
      holds(`a delay of ${delay} ms is as long as it says`, async ({ clock, advance }) => {
        let ran = 0;
        clock.after(ms(delay), () => void (ran += 1));
        for (let left = delay - 1; left > 0; left -= DAY) await advance(Math.min(left, DAY));
        assert.equal(ran, 0);
        await advance(1);
        assert.equal(ran, 1);
      });
    }

    for (const delay of [0, -1, -DAY]) {
      holds(`a delay of ${delay} ms runs soon, but never within the call`, async ({ clock, advance }) => {
        let ran = 0;
        clock.after(ms(delay), () => void (ran += 1));
        assert.equal(ran, 0);
        await advance(1);
        assert.equal(ran, 1);
      });
    }

    holds('what is cancelled never runs, however often', async ({ clock, advance }) => {
      let ran = 0;
      const cancel = clock.after(ms(10), () => void (ran += 1));
      const cancelLong = clock.after(ms(30 * DAY), () => void (ran += 1));
      for (let day = 0; day < 29; day += 1) await advance(day === 0 ? 9 : DAY);
      cancel();
      cancel();
      cancelLong();
      for (let day = 0; day < 3; day += 1) await advance(DAY);
      assert.equal(ran, 1, 'the short one fell due before it was cancelled, the long one never ran');
    });

    holds('cancelling one leaves the others', async ({ clock, advance }) => {
      const ran: string[] = [];
      clock.after(ms(10), () => void ran.push('one'));
      const cancel = clock.after(ms(10), () => void ran.push('two'));
      clock.after(ms(10), () => void ran.push('three'));
      cancel();
      await advance(10);
      assert.deepEqual(ran, ['one', 'three']);
    });

    holds('runs in the order of what is due, equal ones as planned', async ({ clock, advance }) => {
      const ran: string[] = [];
      clock.after(ms(30), () => void ran.push('30'));
      clock.after(ms(10), () => void ran.push('10'));
      clock.after(ms(20), () => void ran.push('20'));
      clock.after(ms(10), () => void ran.push('10 again'));
      await advance(100);
      assert.deepEqual(ran, ['10', '10 again', '20', '30']);
    });

    holds('shows the due time to what falls due, and takes timers that it plans', async ({ clock, advance }) => {
      const start = clock.now();
      const seen: number[] = [];
      clock.after(ms(10), () => {
        seen.push(clock.now() - start);
        clock.after(ms(10), () => void seen.push(clock.now() - start));
      });
      await advance(15);
      assert.deepEqual(seen, [10]);
      await advance(5);
      assert.deepEqual(seen, [10, 20]);
    });

    holds('chance is at least 0 and below 1', async ({ clock }) => {
      for (let draw = 0; draw < 1_000; draw += 1) {
        const chance = clock.random();
        assert.ok(chance >= 0 && chance < 1, String(chance));
      }
    });
  });
}
