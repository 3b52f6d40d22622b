import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { type GateBounds, createGate } from '../../src/egress/gate.ts';
import { origin } from '../../src/kernel/ids.ts';
import { RefusalError, refuse } from '../../src/kernel/refusal.ts';

const SIGNAL = new AbortController().signal;
const SLOW = origin('https://slow.example');
const QUICK = origin('https://quick.example');
const OTHER = origin('https://other.example');
const BOUNDS = { width: 4, each: 3, queue: 8 };

const boundsOf = (bounds: typeof BOUNDS): GateBounds => ({
  width: () => bounds.width,
  each: () => bounds.each,
  queue: () => bounds.queue,
  setting: 'limits.concurrency',
});

/** A gate whose comings are written down. */
function watched(bounds: Partial<typeof BOUNDS> = {}) {
  const changing = { ...BOUNDS, ...bounds };
  const gate = createGate(boundsOf(changing));
  const inside: string[] = [];
  const refused: string[] = [];
  const ways: (() => void)[] = [];
  const enter = async (name: string, at = SLOW, signal = SIGNAL): Promise<void> => {
    const entry = await gate.enter(at, signal);
    if ('refusal' in entry) return void refused.push(`${name}: ${entry.refusal.detail}`);
    inside.push(name);
    ways.push(entry.leave);
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { changing, enter, inside, refused, ways, turn };
}

describe('a gate', () => {
  test('leaves room beside an origin that hangs', async () => {
    const { enter, inside, turn } = watched();
    for (const name of ['s1', 's2', 's3', 's4']) void enter(name);
    void enter('q1', QUICK);
    await turn();
    assert.deepEqual(inside, ['s1', 's2', 's3', 'q1']);
  });

  test('lets origins take turns, and first come first served within each', async () => {
    const { enter, inside, ways, turn } = watched({ width: 1, each: 1 });
    for (const name of ['s1', 's2', 's3']) void enter(name);
    for (const name of ['q1', 'q2']) void enter(name, QUICK);
    void enter('o1', OTHER);
    for (let left = 0; left < 6; left += 1) {
      await turn();
      ways[left]?.();
    }
    assert.deepEqual(inside, ['s1', 's2', 'q1', 'o1', 's3', 'q2']);
  });

  test('refuses what would wait beyond the queue, one origin before the others', async () => {
    const { enter, refused, turn } = watched();
    for (let n = 1; n <= 3 + 6 + 1; n += 1) void enter(`s${n}`);
    await turn();
    assert.equal(refused.length, 1);
    assert.match(
      refused[0] ?? '',
      /^s10: limits\.concurrency is 4 \(at most 3 with one origin\), all of them run and 6 more wait/,
    );
    for (let n = 1; n <= 1 + 2; n += 1) void enter(`q${n}`, QUICK);
    await turn();
    assert.equal(refused.length, 1);
    void enter('o1', OTHER);
    await turn();
    assert.match(refused[1] ?? '', /^o1: .*8 more wait/);
  });

  test('forgets who leaves the queue; who stays comes in', async () => {
    const { enter, inside, ways, turn } = watched({ width: 1, each: 1 });
    const leaver = new AbortController();
    void enter('s1');
    const gone = enter('s2', SLOW, leaver.signal);
    void enter('s3');
    leaver.abort();
    await assert.rejects(gone);
    ways[0]?.();
    await turn();
    assert.deepEqual(inside, ['s1', 's3']);
  });

  test('tells who waited for its whole time that it was the queue', async () => {
    const { enter, refused } = watched({ width: 1, each: 1 });
    const deadline = new AbortController();
    await enter('s1');
    const late = enter('s2', SLOW, deadline.signal);
    deadline.abort(new RefusalError(refuse('origin-timeout', 'too late')));
    await late;
    assert.match(refused[0] ?? '', /^s2: limits\.concurrency is 1, all/);
  });

  test('a way out that is taken twice makes room once', async () => {
    const { enter, inside, ways, turn } = watched({ width: 1, each: 1 });
    for (const name of ['s1', 's2', 's3']) void enter(name);
    await turn();
    ways[0]?.();
    ways[0]?.();
    await turn();
    assert.deepEqual(inside, ['s1', 's2']);
  });

  test('that is made wider lets in as many as there is room for', async () => {
    const { changing, enter, inside, ways, turn } = watched({ width: 1, each: 1 });
    for (const name of ['s1', 's2', 's3', 's4']) void enter(name);
    await turn();
    Object.assign(changing, { width: 3, each: 3 });
    ways[0]?.();
    await turn();
    assert.deepEqual(inside, ['s1', 's2', 's3', 's4']);
  });

  test('never holds more than its width, nor more of one origin than its share, and loses nobody', async () => {
    const step = fc.oneof(
      fc.record({ at: fc.constantFrom(SLOW, QUICK, OTHER) }),
      fc.record({ leave: fc.nat({ max: 40 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const gate = createGate(boundsOf({ ...BOUNDS, queue: 1_000 }));
        const inside: { readonly at: string; readonly leave: () => void }[] = [];
        let asked = 0;
        let done = 0;
        const come = async (at: typeof SLOW): Promise<void> => {
          const entry = await gate.enter(at, SIGNAL);
          if ('leave' in entry) inside.push({ at, leave: entry.leave });
        };
        const settle = async (): Promise<void> => {
          for (let n = 0; n < 5; n += 1) await Promise.resolve();
          assert.ok(inside.length <= BOUNDS.width);
          for (const at of [SLOW, QUICK, OTHER]) assert.ok(inside.filter((one) => one.at === at).length <= BOUNDS.each);
        };
        const leave = (n: number): void => {
          const [one] = inside.splice(n % inside.length, 1);
          one?.leave();
          done += 1;
        };
        for (const one of steps) {
          if ('at' in one) {
            asked += 1;
            void come(one.at);
          } else if (inside.length > 0) leave(one.leave);
          await settle();
        }
        while (inside.length > 0) {
          leave(0);
          await settle();
        }
        assert.equal(done, asked);
      }),
    );
  });
});
