import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ENVIRONMENT, FLAGS } from '../../bench/support/cardea.ts';
import { median, medianRatio, per100k, percentile, rounded } from '../../bench/support/figures.ts';
import { written } from '../../bench/support/floors.ts';
import { readH2load } from '../../bench/support/load.ts';
import { NEXT_NODE } from '../../bench/support/nodes.ts';
import { readOptions } from '../../bench/support/options.ts';
import { onCpuNanoseconds, pssOf } from '../../bench/support/process-tree.ts';

describe('figures', () => {
  test('the median of an odd number, an even number, one and none', () => {
    assert.deepEqual([median([3, 1, 2]), median([4, 1, 3, 2]), median([7]), median([])], [2, 2.5, 7, Number.NaN]);
  });

  test('a percentile is a value that was measured, and at least that share is not above it', () => {
    const hundred = Array.from({ length: 100 }, (_, at) => 100 - at);
    assert.deepEqual(
      [0, 0.01, 0.5, 0.99, 1].map((share) => percentile(hundred, share)),
      [1, 1, 50, 99, 100],
    );
    assert.equal(percentile([], 0.5), Number.NaN);
    fc.assert(
      fc.property(
        fc.array(fc.integer(), { minLength: 1 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, share) => {
          const found = percentile(values, share);
          assert.ok(values.includes(found));
          assert.ok(values.filter((value) => value <= found).length >= values.length * share);
        },
      ),
    );
  });

  test('a round in which the whole machine was slow changes no ratio', () => {
    assert.equal(medianRatio([2, 200, 2.2], [1, 100, 1]), 2);
    assert.equal(medianRatio([1], []), Number.NaN);
  });

  test('CPU seconds for 100,000 requests, to two digits', () => {
    assert.equal(rounded(per100k(0.256789, 20_000)), 1.28);
  });
});

describe('what the kernel writes', () => {
  test('time on a CPU is the first number of schedstat', () => {
    assert.deepEqual(['7066888 30437870 3\n', ''].map(onCpuNanoseconds), [7_066_888, 0]);
  });

  test('proportional memory is one line of smaps_rollup', () => {
    const rollup = '5581-7ffd ---p 00000000 00:00 0 [rollup]\nRss:  81232 kB\nPss:  74021 kB\nPss_Anon:  52000 kB\n';
    assert.deepEqual([rollup, ''].map(pssOf), [74_021 * 1024, 0]);
  });
});

describe('h2load', () => {
  const summary = (requests: string): string => `
finished in 1.58s, 2532.81 req/s, 8.53MB/s
requests: 4 total, 4 started, 4 done, ${requests}
status codes: 4 2xx, 0 3xx, 0 4xx, 0 5xx
`;
  const answered = summary('4 succeeded, 0 failed, 0 errored, 0 timeout');

  test('rate from the summary, percentiles from the log', () => {
    const log = '1700\t200\t90\n1800\t304\t110\n1900\t200\t100\n2000\t200\t5000\n';
    assert.deepEqual(readH2load(answered, log), { requests: 4, perSecond: 2532.81, p50: 100, p99: 5000, failed: 0 });
  });

  for (const [status, failed] of [
    [199, 1],
    [200, 0],
    [399, 0],
    [400, 1],
    [-1, 1],
  ] as const)
    test(`an answer with status ${status} ${failed === 1 ? 'has failed' : 'is one'}`, () => {
      assert.equal(readH2load(answered, `1\t${status}\t9\n`).failed, failed);
    });

  test('what got no answer has failed too', () => {
    assert.equal(readH2load(summary('1 succeeded, 3 failed, 3 errored, 0 timeout'), '1\t200\t9\n').failed, 3);
  });

  test('an output without a summary is no figure', () => {
    assert.throws(() => readH2load('h2load: no such option', ''), /reported nothing/);
  });
});

describe('what a bench is told', () => {
  const usual = { rounds: 5, requests: 100, nodes: ['24'] } as const;

  test('nothing, or everything', () => {
    const told = ['--node', '24,26', '--rounds', '3', '--requests', '10', '--only', '304', '--record'];
    assert.deepEqual(readOptions([], usual), {
      nodes: ['24'],
      length: { rounds: 5, requests: 100 },
      only: '',
      record: false,
    });
    assert.deepEqual(readOptions(told, usual), {
      nodes: ['24', '26'],
      length: { rounds: 3, requests: 10 },
      only: '304',
      record: true,
    });
  });

  for (const wrong of [
    ['--node', '22'],
    ['--rounds', '0'],
    ['--rounds', '1.5'],
    ['--requests', 'x'],
    ['--round', '1'],
  ])
    test(`${wrong.join(' ')} is refused`, () => {
      assert.throws(() => readOptions(wrong, usual));
    });
});

test('the floor is given every field but those that Node writes by itself, values that look like names too', () => {
  const fields = [
    'ETag',
    '"a"',
    'Date',
    'today',
    'Vary',
    'Date',
    'Connection',
    'keep-alive',
    'Keep-Alive',
    'timeout=5',
  ];
  assert.deepEqual(written({ fields }), ['ETag', '"a"', 'Vary', 'Date']);
});

test('the next Node is the one that CI runs the suite on', () => {
  const script = readFileSync(new URL('../../.ci/run', import.meta.url), 'utf8');
  assert.equal(/^NEXT_NODE=(.*)$/m.exec(script)?.[1], NEXT_NODE);
});

for (const launcher of ['bin/cardea', 'deploy/image/launch.mjs'])
  test(`what is measured is started with the flags of ${launcher}`, () => {
    const text = readFileSync(new URL(`../../${launcher}`, import.meta.url), 'utf8');
    assert.deepEqual(text.match(/--(?:max|no)-[a-z-]+(?:=\d+)?/g), FLAGS);
    const variables = text.matchAll(/(?<name>MALLOC_[A-Z_]+)(?:="\$\{\w+:-|: ')(?<value>\d+)/g);
    assert.deepEqual(
      Object.fromEntries([...variables].map(({ groups = {} }) => [groups['name'], groups['value']])),
      ENVIRONMENT,
    );
  });
