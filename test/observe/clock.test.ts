import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, mock, test } from 'node:test';
import { ms } from '../../src/kernel/units.ts';
import { createSystemClock } from '../../src/observe/system-clock.ts';
import { clockContract } from '../contracts/clock.contract.ts';
import { FakeClock } from '../support/fake-clock.ts';

clockContract('the fake clock', () => {
  const clock = new FakeClock();
  return { clock, advance: (by) => clock.advance(by), end: () => {} };
});

/** Where setTimeout's 31 bits end, and the system clock starts another step. */
const STEP = 2 ** 31 - 1;

// Node's own mock moves the time that the system clock reads: nothing sleeps for 30 days.
clockContract('the system clock', () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 });
  let passed = 0;
  // A tick of the mock goes to its end before anything runs, so a tick may not pass over a moment at which a timer plans another.
  const advance = (by: number): Promise<void> => {
    for (let left = by; left > 0; ) {
      const tick = by < 100 ? 1 : Math.min(left, STEP - (passed % STEP));
      mock.timers.tick(tick);
      passed += tick;
      left -= tick;
    }
    return Promise.resolve();
  };
  return { clock: createSystemClock(), advance, end: () => mock.timers.reset() };
});

describe('the system clock', () => {
  test('is the time of the machine', () => {
    const before = Date.now();
    const now = createSystemClock().now();
    assert.ok(before <= now && now <= Date.now());
  });

  test('a timer does not keep the process alive', () => {
    const url = new URL('../../src/observe/system-clock.ts', import.meta.url).href;
    const program = `const { createSystemClock } = await import(${JSON.stringify(url)});
      createSystemClock().after(3_600_000, () => {});
      createSystemClock().after(2 ** 40, () => {});`;
    const ran = spawnSync(process.execPath, ['--input-type=module', '-e', program], { timeout: 60_000 });
    assert.equal(ran.status, 0);
  });
});

describe('the fake clock', () => {
  test('stands still until it is told, and starts where it is told', () => {
    const clock = new FakeClock(5);
    assert.equal(clock.now(), 5);
    assert.equal(clock.now(), 5);
  });

  test('says how many timers wait, and throws the dice as told', async () => {
    const clock = new FakeClock();
    const cancel = clock.after(ms(2), () => {});
    clock.after(ms(1), () => {});
    assert.equal(clock.waiting, 2);
    await clock.advance(1);
    assert.equal(clock.waiting, 1);
    cancel();
    assert.equal(clock.waiting, 0);
    clock.chance = 0.25;
    assert.equal(clock.random(), 0.25);
  });
});
