import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadText } from '../support/config.ts';

const FILE = new URL('../fixtures/config/every-setting.yaml', import.meta.url);
const PEM = { '/etc/app/ca.pem': '', '/etc/app/client.pem': '', '/run/secrets/client.key': '', '/etc/app/crl.pem': '' };

/** What the table does not have yet. Whoever adds a part takes its settings out of this list, which must end up empty. */
const NOT_BUILT: readonly string[] = [
  'listen.cors',
  'admin',
  ...[
    'hosts',
    'credentials',
    'signature',
    'signatures',
    'keys',
    'jku',
    'uncovered',
    'versions',
    'schema',
    'interfaces',
  ].map((key) => `agents.planner.${key}`),
  ...['extensions', 'review', 'risk', 'visibleTo', 'route', 'extended'].map((key) => `agents.planner.${key}`),
  'agents.pay',
  'agents.pay.registry',
  'agents.pay.id',
  'origins[0].match',
  'origins[0].content',
  'origins[2].content',
  'keys',
  'principals',
  'registries',
  'cache.keysMaxStale',
  'limits.clientRate',
  'egress.proxy',
  'egress.dns',
  'receipts',
  'kill',
];

test('of every setting that is planned, exactly those are refused whose part is not built', async () => {
  const config = await loadText(readFileSync(FILE), { files: PEM });
  assert.deepEqual(config.ok ? [] : config.problems.map(({ path }) => path), NOT_BUILT);
});
