import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { admitCard } from '../../src/card/admit.ts';
import { urlId } from '../../src/kernel/ids.ts';
import { VERDICTS } from '../support/card-verdicts.ts';
import { sharedPath } from '../support/shared.ts';
import { NOW, RULE, words } from './support.ts';

const folder = sharedPath('cards');

describe('published cards', { skip: folder === undefined ? 'the cards are not on this machine' : false }, () => {
  const files = folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith('.json'));

  test('every one has a verdict', () => {
    assert.deepEqual(files.toSorted(), Object.keys(VERDICTS).toSorted());
  });

  for (const file of files) {
    const [verdict, named] = VERDICTS[file] ?? [];
    test(`${file}: ${verdict}`, async () => {
      const body = readFileSync(`${folder}/${file}`);
      const outcome = await admitCard(body, {
        url: urlId('https://agent.example.com/.well-known/agent-card.json'),
        contentType: 'application/json',
        rule: RULE,
        keys: [],
        now: NOW,
      });
      assert.equal(words(outcome), verdict);
      if (outcome.ok) assert.equal(outcome.value.body, body, 'served byte for byte');
      else assert.ok(named !== undefined && outcome.refusal.detail.includes(named), outcome.refusal.detail);
    });
  }

  for (const [file, code, named] of [
    ['36-worldmonitor-v03.json', 'accepted 0.3 unsigned', ''],
    ['01-spec-v1.0-geospatial.json', 'accepted 1.0 unverified no-keys', ''],
    ['48-dotnet-nulls.json', 'card-invalid', '/provider'],
    ['47-go-nil-slices.json', 'card-invalid', '/defaultInputModes'],
    ['45-js-server-case-shape.json', 'card-invalid', '/securitySchemes/k'],
    ['29-laisky-provider-name.json', 'card-invalid', '/provider/organization'],
    ['17-go-test-v1-array-scopes.json', 'card-invalid', '/securityRequirements/0'],
  ] as const) {
    test(`strict, ${file}: ${code}`, async () => {
      const outcome = await admitCard(readFileSync(`${folder}/${file}`), {
        url: urlId('https://agent.example.com/.well-known/agent-card.json'),
        contentType: 'application/json',
        rule: { ...RULE, schema: 'strict' },
        keys: [],
        now: NOW,
      });
      assert.equal(words(outcome), code);
      if (!outcome.ok) assert.ok(outcome.refusal.detail.includes(named), outcome.refusal.detail);
    });
  }
});
