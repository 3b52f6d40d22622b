import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { namedSettings } from '../../src/config/overrides.ts';
import { SCHEMA } from '../../src/config/schema.ts';
import type { Node, Row } from '../../src/config/table.ts';
import { problemsOf } from '../support/config.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

function* rows(node: Node, path: string): Generator<readonly [string, Row]> {
  switch (node.kind) {
    case 'section':
      for (const [key, row] of Object.entries(node.rows)) {
        yield [`${path}.${key}`, row];
        yield* rows(row.node, `${path}.${key}`);
      }
      return;
    case 'named':
      yield* rows(node.value, `${path}.*`);
      return;
    case 'list':
      yield* rows(node.item, `${path}[]`);
      return;
    case 'short':
    case 'choice':
      yield* rows(node.section, path);
      return;
    case 'scalar':
  }
}

describe('every row of the table', () => {
  for (const [path, { doc, fallback, node }] of rows(SCHEMA, '')) {
    test(`${path.slice(1)} has a line of documentation and a default of its own type`, () => {
      assert.match(doc, /^[A-Z`].*\.$/);
      assert.ok(!doc.includes('\n'));
      for (const text of typeof fallback === 'object' && fallback !== null ? Object.values(fallback) : [fallback]) {
        if (text === null) continue;
        const type =
          node.kind === 'short' ? node.section.rows[node.main]?.node : node.kind === 'choice' ? node.word : node;
        assert.ok(type?.kind === 'scalar');
        assert.ok(type.read(text, '/').ok || (text === 'null' && type.nothing !== undefined), text);
      }
    });
  }
});

test('no two settings have one flag', () => {
  const flags = namedSettings(SCHEMA).map(({ flag }) => flag);
  assert.equal(new Set(flags).size, flags.length);
  assert.ok(!flags.includes('--config'));
});

test('a setting has one name in three places', () => {
  const found = namedSettings(SCHEMA).find(({ path }) => path === 'cache.staleWhileRevalidate');
  assert.deepEqual(found, {
    path: 'cache.staleWhileRevalidate',
    flag: '--cache-stale-while-revalidate',
    variable: 'CARDEA_CACHE_STALE_WHILE_REVALIDATE',
    isSwitch: false,
  });
});

test('schema and documentation are those of the tables', () => {
  const ran = spawnSync(process.execPath, ['scripts/generate.ts', '--check'], { cwd: ROOT, encoding: 'utf8' });
  assert.equal(ran.stderr, '');
  assert.equal(ran.status, 0);
});

test('the example is valid as it stands', async () => {
  assert.deepEqual(await problemsOf(readFileSync(`${ROOT}config.example.yaml`)), []);
});

test('the example is valid with its comments taken off', async () => {
  const lines = readFileSync(`${ROOT}config.example.yaml`, 'utf8').split('\n');
  // A commented setting begins with two spaces and "# "; what explains it comes after another "#".
  const text = lines.map((line) => line.replace(/^ {2}# /, '  ')).join('\n');
  const pem = { '/etc/app/ca.pem': '', '/etc/app/client.pem': '', '/run/secrets/client.key': '' };
  const files = { ...pem, '/run/secrets/reader': 'token' };
  assert.notEqual(text, lines.join('\n'));
  assert.deepEqual(await problemsOf(text, { files }), []);
});
