import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { parseArgs } from '../../src/cli/args.ts';

const USAGE = {
  flags: { reason: { takes: 'R', doc: '' }, soft: { takes: null, doc: '' } },
  settings: true,
  operands: { least: 0, most: 2 },
} as const;

const NOTHING = { ok: true, flags: { reason: null, soft: false }, operands: [], settings: [] };

describe('a command line', () => {
  const cases: readonly (readonly [string, readonly string[], object])[] = [
    ['of nothing', [], {}],
    ['with a value behind a space', ['--reason', 'because'], { flags: { reason: 'because', soft: false } }],
    ['with a value behind =', ['--reason=a=b'], { flags: { reason: 'a=b', soft: false } }],
    ['with an empty value', ['--reason='], { flags: { reason: '', soft: false } }],
    ['with a value that begins with one dash', ['--reason', '-1'], { flags: { reason: '-1', soft: false } }],
    ['with a value of two lines', ['--reason=a\nb'], { flags: { reason: 'a\nb', soft: false } }],
    ['where the last of two goes', ['--reason', 'a', '--reason', 'b'], { flags: { reason: 'b', soft: false } }],
    ['with a switch', ['--soft', 'tag'], { flags: { reason: null, soft: true }, operands: ['tag'] }],
    ['with operands between', ['a', '--soft', 'b'], { flags: { reason: null, soft: true }, operands: ['a', 'b'] }],
    ['with operands that look like flags', ['--', '--soft', '-x'], { operands: ['--soft', '-x'] }],
    ['with - for standard input', ['-'], { operands: ['-'] }],
    [
      'with settings',
      ['--cache-max-stale', '1h', '--log-hits', '--cache-prefetch=false'],
      {
        settings: [
          { flag: '--cache-max-stale', value: '1h' },
          { flag: '--log-hits', value: 'true' },
          { flag: '--cache-prefetch', value: 'false' },
        ],
      },
    ],
  ];
  for (const [name, argv, read] of cases) {
    test(name, () => assert.deepEqual(parseArgs(argv, USAGE), { ...NOTHING, ...read }));
  }

  const wrong: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['with an unknown flag', ['--raeson', 'x'], ['unknown flag --raeson; did you mean --reason?']],
    [
      'with a setting in another spelling',
      ['--cacheMaxStale=1h'],
      ['unknown flag --cacheMaxStale; did you mean --cache-max-stale?'],
    ],
    ['with a flag that needs a value and ends', ['--reason'], ['--reason needs a value']],
    ['with a flag for a value', ['--reason', '--soft'], ['--reason needs a value']],
    ['with a value for a switch', ['--soft=yes'], ['--soft takes no value']],
    ['with a word too many', ['a', 'b', 'c', 'd'], ['unexpected "c"', 'unexpected "d"']],
    ['with one dash', ['-soft'], ['unknown flag -soft; did you mean --soft?']],
  ];
  for (const [name, argv, problems] of wrong) {
    test(name, () => assert.deepEqual(parseArgs(argv, USAGE), { ok: false, problems }));
  }

  test('without what must be there', () => {
    const usage = { ...USAGE, operands: { least: 1, most: 1 } };
    assert.deepEqual(parseArgs(['--soft'], usage), { ok: false, problems: ['what it is about is missing'] });
    const needy = { ...USAGE, flags: { why: { takes: 'REASON', doc: '', isNeeded: true } } };
    assert.deepEqual(parseArgs([], needy), { ok: false, problems: ['--why REASON is missing'] });
    assert.equal(parseArgs(['--why', 'x'], needy).ok, true);
  });
  test('of a command that takes no settings', () => {
    const read = parseArgs(['--log-hits'], { ...USAGE, settings: false });
    assert.deepEqual(read, { ok: false, problems: ['unknown flag --log-hits'] });
  });
  test('never throws', () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom('--', '-', '--reason', '--soft', '--=', '=', '--log-hits', '--__proto__'),
    );
    fc.assert(fc.property(fc.array(word), (argv) => assert.equal(typeof parseArgs(argv, USAGE).ok, 'boolean')));
  });
});
