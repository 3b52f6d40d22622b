import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Ask, MAX_ANSWERS, createResolver, systemAsk } from '../../src/egress/resolve.ts';
import { RefusalError } from '../../src/kernel/refusal.ts';
import { ms } from '../../src/kernel/units.ts';
import { manualClock } from './harness.ts';

const SIGNAL = new AbortController().signal;
const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'resolved',
    (error: unknown) => (error instanceof RefusalError ? error.refusal.code : 'other'),
  );

function counted(answers: readonly string[], ttl = 10_000) {
  let count = 0;
  const ask: Ask = async () => {
    count += 1;
    return { addresses: answers, ttl: ms(ttl) };
  };
  return { ask, count: () => count };
}

describe('a resolver with memory', () => {
  test('an answer is kept for its time, to the millisecond', async () => {
    const clock = manualClock();
    const { ask, count } = counted(['127.0.0.1']);
    const resolver = createResolver(ask, clock);
    await resolver.resolve('a.test', SIGNAL);
    clock.advance(9_999);
    await resolver.resolve('a.test', SIGNAL);
    assert.equal(count(), 1);
    clock.advance(1);
    await resolver.resolve('a.test', SIGNAL);
    assert.equal(count(), 2);
  });
  test('SSRF-DNS-18 fifty who ask at once are one question', async () => {
    const { ask, count } = counted(['127.0.0.1']);
    const resolver = createResolver(ask, manualClock());
    await Promise.all(Array.from({ length: 50 }, () => resolver.resolve('a.test', SIGNAL)));
    assert.equal(count(), 1);
  });
  test('SSRF-DNS-8 without a time to live each connection asks once, and no more', async () => {
    const { ask, count } = counted(['127.0.0.1'], 0);
    const resolver = createResolver(ask, manualClock());
    for (let turn = 1; turn <= 3; turn += 1) {
      await resolver.resolve('a.test', SIGNAL);
      assert.equal(count(), turn);
    }
  });
  test('what is forgotten is asked again; failures are not kept', async () => {
    const { ask, count } = counted(['127.0.0.1']);
    const resolver = createResolver(ask, manualClock());
    await resolver.resolve('a.test', SIGNAL);
    resolver.forget('a.test');
    await resolver.resolve('a.test', SIGNAL);
    assert.equal(count(), 2);
    let failures = 0;
    const failing = createResolver(
      () => Promise.reject(Object.assign(new Error(), { code: `E${(failures += 1)}` })),
      manualClock(),
    );
    assert.equal(await codeOf(failing.resolve('a.test', SIGNAL)), 'dns-failed');
    assert.equal(await codeOf(failing.resolve('a.test', SIGNAL)), 'dns-failed');
    assert.equal(failures, 2);
  });
  for (const [size, expected] of [
    [MAX_ANSWERS, 'resolved'],
    [MAX_ANSWERS + 1, 'dns-failed'],
    [5_000, 'dns-failed'],
    [0, 'dns-failed'],
  ] as const) {
    test(`SSRF-DNS-2 ${size} addresses: ${expected}`, async () => {
      const { ask } = counted(Array.from({ length: size }, () => '93.184.215.14'));
      assert.equal(await codeOf(createResolver(ask, manualClock()).resolve('a.test', SIGNAL)), expected);
    });
  }
  test('names that nobody asks for again do not pile up', async () => {
    const { ask, count } = counted(['127.0.0.1']);
    const resolver = createResolver(ask, manualClock());
    for (let at = 0; at < 1_100; at += 1) await resolver.resolve(`n${at}.test`, SIGNAL);
    await resolver.resolve('n0.test', SIGNAL);
    assert.equal(count(), 1_101);
  });
  test('who leaves stops waiting; who stays gets the answer', async () => {
    const gate = Promise.withResolvers<void>();
    const resolver = createResolver(
      () => gate.promise.then(() => ({ addresses: ['127.0.0.1'], ttl: ms(0) })),
      manualClock(),
    );
    const controller = new AbortController();
    const leaver = resolver.resolve('a.test', controller.signal);
    const stayer = resolver.resolve('a.test', SIGNAL);
    controller.abort();
    await assert.rejects(leaver);
    gate.resolve();
    assert.deepEqual(await stayer, ['127.0.0.1']);
  });
  test("SSRF-DNS-4 a second answer to one question is nobody's", async () => {
    const ask: Ask = () =>
      new Promise((resolve) => {
        resolve({ addresses: ['127.0.0.1'], ttl: ms(0) });
        // oxlint-disable-next-line promise/no-multiple-resolved -- that is the attack
        resolve({ addresses: ['10.0.0.1'], ttl: ms(0) });
      });
    assert.deepEqual(await createResolver(ask, manualClock()).resolve('a.test', SIGNAL), ['127.0.0.1']);
  });
});

describe("the system's resolution", () => {
  test('every address that the machine knows, in its order, kept for egress.dnsTtl', async () => {
    const asked: unknown[] = [];
    const lookup = (
      name: string,
      options: unknown,
      done: (error: null, found: readonly { address: string; family: number }[]) => void,
    ) => {
      asked.push([name, options]);
      done(null, [
        { address: '2001:db8::1', family: 6 },
        { address: '192.0.2.1', family: 4 },
      ]);
    };
    const answers = await systemAsk(ms(10_000), lookup as unknown as Parameters<typeof systemAsk>[1])('a.test');
    assert.deepEqual(answers, { addresses: ['2001:db8::1', '192.0.2.1'], ttl: 10_000 });
    assert.deepEqual(asked, [['a.test', { all: true, order: 'verbatim' }]]);
  });
  test('a name of the hosts file is found; one that cannot exist is not', async () => {
    const resolver = createResolver(systemAsk(ms(0)), manualClock());
    const found = await resolver.resolve('localhost', SIGNAL);
    assert.ok(found.some((address) => address === '127.0.0.1' || address === '::1'));
    assert.equal(await codeOf(resolver.resolve('a..b', SIGNAL)), 'dns-failed');
  });
});
