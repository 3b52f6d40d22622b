import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseExposition, toOpenMetrics } from '../../src/observe/exposition.ts';

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,*/*;q=0.1';

describe('chooseExposition', () => {
  const cases: readonly (readonly [accept: string | undefined, chosen: string])[] = [
    [undefined, 'text'],
    ['', 'text'],
    ['*/*', 'text'],
    ['text/html', 'text'],
    [PROMETHEUS_2, 'openmetrics'],
    [PROMETHEUS_3, 'openmetrics'],
    ['application/openmetrics-text', 'openmetrics'],
    ['Application/OpenMetrics-Text; Version="1.0.0"', 'openmetrics'],
    ['application/openmetrics-text;version=0.0.1', 'text'],
    ['application/openmetrics-text;q=0', 'text'],
    ['application/openmetrics-text;q=0.5,text/plain;q=0.5', 'openmetrics'],
    ['application/openmetrics-text;q=0.4,text/plain;q=0.5', 'text'],
    ['application/openmetrics-text;q=2', 'text'],
    ['application/openmetrics-text;q=x', 'text'],
    ['application/openmetrics-textual', 'text'],
    [',;,;q=,', 'text'],
  ];
  for (const [accept, chosen] of cases)
    test(`${accept}: ${chosen}`, () => assert.equal(chooseExposition(accept), chosen));
});

describe('toOpenMetrics', () => {
  test('names counters without their ending, samples with it, marks the end, leaves no line blank', () => {
    const text = [
      '# HELP a_total Counted.',
      '# TYPE a_total counter',
      'a_total{b="# TYPE c_total counter"} 1',
      '',
      '# HELP handles_total A gauge of that name.',
      '# TYPE handles_total gauge',
      'handles_total 2',
      '',
    ].join('\n');
    assert.deepEqual(toOpenMetrics(text).split('\n'), [
      '# HELP a Counted.',
      '# TYPE a counter',
      'a_total{b="# TYPE c_total counter"} 1',
      '# HELP handles_total A gauge of that name.',
      '# TYPE handles_total gauge',
      'handles_total 2',
      '# EOF',
      '',
    ]);
  });

  test('of nothing is the end alone', () => assert.equal(toOpenMetrics('\n'), '\n# EOF\n'));
});
