import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { stringify } from 'yaml';
import { effectiveYaml } from '../../src/config/effective-yaml.ts';
import { formatProblem } from '../../src/config/place.ts';
import { SCHEMA } from '../../src/config/schema.ts';
import type { Node } from '../../src/config/table.ts';
import { loadText } from '../support/config.ts';

/** Values that are right somewhere, and values that are wrong everywhere. */
const SCALARS = fc.oneof(
  fc.constantFrom<unknown>(
    '5m',
    '0s',
    '64KiB',
    '10MiB',
    'info',
    'any',
    'memory',
    './x',
    '127.0.0.1:1',
    '[::1]:0',
    '10.0.0.0/8',
    'file:/k',
    true,
    false,
    3,
    null,
  ),
  fc.constantFrom('https://a.example', 'https://a.example/c', 'http://b.example', 'https://*.example'),
  fc.string(),
  fc.integer(),
);

/** Values in the shape of the table, with slips. */
function arbitrary(node: Node): fc.Arbitrary<unknown> {
  switch (node.kind) {
    case 'scalar':
      return SCALARS;
    case 'short':
      return fc.oneof(SCALARS, arbitrary(node.section));
    case 'list':
      return fc.oneof(fc.array(arbitrary(node.item), { maxLength: 3 }), SCALARS);
    case 'named':
      return fc.oneof(
        fc.dictionary(fc.oneof(fc.constantFrom('a', 'b', 'ops'), fc.string()), arbitrary(node.value), { maxKeys: 3 }),
        SCALARS,
      );
    case 'choice':
      return fc.oneof(arbitrary(node.word), arbitrary(node.section));
    case 'section': {
      const rows = Object.entries(node.rows).map(([key, row]) => [key, arbitrary(row.node)] as const);
      const known = fc.record(Object.fromEntries(rows), { requiredKeys: [] });
      return fc.oneof(
        { weight: 9, arbitrary: known },
        { weight: 1, arbitrary: fc.dictionary(fc.string(), SCALARS, { maxKeys: 2 }) },
      );
    }
  }
}

/** Settings in which every member is right alone. */
const VALID = fc.record(
  {
    state: fc.constantFrom('memory', './s', '/var/s'),
    cache: fc.record(
      {
        maxTtl: fc.constantFrom('1h', '90m', '365d'),
        prefetch: fc.boolean(),
        maxBytes: fc.constantFrom('65536B', '1GiB'),
      },
      { requiredKeys: [] },
    ),
    limits: fc.record({ redirects: fc.integer({ min: 0, max: 10 }) }),
    agents: fc.dictionary(
      fc.stringMatching(/^[a-z0-9-]{1,63}$/),
      fc.record({
        origin: fc.constantFrom('https://a.example', 'https://a.example:8443/x'),
        maxStale: fc.constantFrom('0s', '1h'),
        unsafeAddresses: fc.subarray(['10.0.0.0/8', 'fd00::/8']),
        proxy: fc.constantFrom('http://proxy.example:3128', null),
      }),
      { maxKeys: 4 },
    ),
    egress: fc.record(
      {
        proxy: fc.constantFrom('http://proxy.example', null),
        dns: fc.oneof(fc.constant('system'), fc.subarray(['10.0.0.53', '[fd00::53]:5353'])),
        dnsTtl: fc.constantFrom('0s', '1h'),
      },
      { requiredKeys: [] },
    ),
    origins: fc.subarray([
      { match: 'https://a.example', content: 'any' },
      { match: 'https://*.agents.example.com', content: 'none', proxy: null },
      { match: 'https://b.example:8443', content: 'any', listen: '127.0.0.1:0', unsafeCleartext: true },
    ]),
  },
  { requiredKeys: [] },
);

test('no bytes make the loader throw', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'binary' })), async (content) => {
      const config = await loadText(content);
      assert.ok(config.ok || config.problems.length > 0);
    }),
  );
});

test('no YAML in the shape of the table makes the loader throw, and every problem has a place in the file', async () => {
  await fc.assert(
    fc.asyncProperty(arbitrary(SCHEMA), async (value) => {
      const config = await loadText(stringify(value));
      if (config.ok) return;
      assert.ok(config.problems.length > 0);
      for (const problem of config.problems)
        assert.match(formatProblem(problem), /^\/etc\/app\/c\.yaml:[1-9]\d*:[1-9]\d*[ :]/);
    }),
    { numRuns: 300 },
  );
});

test('what is printed as effective means the same settings', async () => {
  await fc.assert(
    fc.asyncProperty(VALID, async (value) => {
      const config = await loadText(stringify(value));
      assert.ok(config.ok, config.ok ? '' : config.problems.map(formatProblem).join('\n'));
      const again = await loadText(effectiveYaml(config.settings, config.sources));
      assert.ok(again.ok);
      assert.deepEqual(again.settings, config.settings);
      assert.equal(again.rules.digest, config.rules.digest);
    }),
  );
});
